// Class CHAOS: version.bind, version.server, hostname.bind and id.server as TXT (RFC 4892).

import { RCODE, TYPE } from '../dns/types.ts'
import { QUESTION_NAME } from './layout.ts'
import type { Query, View } from './query.ts'

const wire = (...labels: string[]): Uint8Array =>
  Uint8Array.from([...labels.flatMap((label) => [label.length, ...new TextEncoder().encode(label)]), 0])
const VERSION_NAMES: readonly Uint8Array[] = [wire('version', 'bind'), wire('version', 'server')]
const HOST_NAMES: readonly Uint8Array[] = [wire('hostname', 'bind'), wire('id', 'server')]

/** Owner, type TXT, class CHAOS, TTL 0, then the two lengths. */
const RECORD = Uint8Array.of(0xc0, QUESTION_NAME, 0, TYPE.TXT, 0, 3, 0, 0, 0, 0, 0, 0, 0)

export function answerChaos(q: Query, view: View): void {
  const text = asksFor(q, VERSION_NAMES) ? view.version : asksFor(q, HOST_NAMES) ? view.hostname : undefined
  if (text === undefined) {
    q.rcode = RCODE.REFUSED
    return
  }
  q.authoritative = true
  if (q.type !== TYPE.TXT && q.type !== TYPE.ANY) return
  const { packet } = q
  const start = q.base + q.at
  packet.set(RECORD, start)
  packet[start + 11] = text.length + 1
  packet[start + 12] = text.length
  packet.set(text, start + RECORD.length)
  q.at += RECORD.length + text.length
  q.answers = 1
}

function asksFor(q: Query, names: readonly Uint8Array[]): boolean {
  for (const name of names) {
    let i = q.nameLength === name.length ? name.length - 1 : -2
    while (i >= 0 && q.name[i] === name[i]) i--
    if (i === -1) return true
  }
  return false
}
