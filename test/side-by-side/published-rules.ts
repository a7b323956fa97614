// How our answers from zones differ from those of CoreDNS's `file` and `auto`, beyond what the rules for all servers
// (test/conformance/rules.ts) allow. A rule's name is its id in docs/reference/deviations.md.

import { TYPE } from '../../src/dns/types.ts'
import { isMessage, type Rule } from '../conformance/compare.ts'
import { recordLine } from '../conformance/response.ts'
import { rulesFor } from '../conformance/rules.ts'

export const AUTO_RULES: readonly Rule[] = [
  {
    name: 'negative-ttl',
    rfc: 'RFC 2308 3',
    reason: 'the TTL of a denial is the least of those of the SOA and its minimum',
    kind: 'choice',
    covers: (part, { a, b }) =>
      part.field === 'authorities' &&
      part.record.type === TYPE.SOA &&
      isMessage(a) &&
      isMessage(b) &&
      [a, b].every(({ authorities }) =>
        authorities.some(
          (record) => recordLine({ ...record, ttlSeconds: 0 }) === recordLine({ ...part.record, ttlSeconds: 0 }),
        ),
      ),
  },
  {
    name: 'denial-behind-alias',
    rfc: 'RFC 2308 2.2',
    reason:
      'where an alias ends without data in our zones, the SOA says so; where it ends elsewhere, nothing is to be said',
    kind: 'choice',
    covers: (part, { a, b }) =>
      part.field === 'authorities' &&
      isMessage(a) &&
      isMessage(b) &&
      a.answers.length > 0 &&
      a.answers.every(({ type }) => type === TYPE.CNAME) &&
      (a.authorities.includes(part.record) ? part.record.type === TYPE.SOA : part.record.type === TYPE.NS),
  },
]

export function publishedRules(origins: readonly Uint8Array[]): readonly Rule[] {
  return [...rulesFor(origins), ...AUTO_RULES]
}
