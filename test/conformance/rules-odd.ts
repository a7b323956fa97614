// Rules for the oddities of queries.ts: questions outside of ordinary use, most of them malformed or not implemented,
// on which RFCs say little and servers differ. Each names the queries it is about and the outcomes that are acceptable
// on either side; any other outcome stays a difference.

import { rcodeName } from '../../src/dns/types.ts'
import { isMessage, type Part, type Rule } from './compare.ts'
import type { Response } from './response.ts'

interface OddRule extends Omit<Rule, 'covers'> {
  readonly queries: RegExp
  readonly outcomes: readonly string[]
  /** Which parts may differ, when not all. */
  readonly fields?: readonly Part['field'][]
}

const TABLE: readonly OddRule[] = [
  {
    name: 'question left out of an error',
    rfc: 'RFC 1035 4.1.1',
    reason: 'a server that could not or would not read the question need not repeat it; the ID is enough to match',
    kind: 'optional',
    queries: /./,
    outcomes: ['FORMERR', 'NOTIMP', 'REFUSED', 'NOTAUTH', 'NXDOMAIN'],
    fields: ['question'],
  },
  {
    name: 'no OPT in an error',
    rfc: 'RFC 6891 6.1.1 and 7',
    reason:
      'an OPT record in the query wants one in the answer, which a server that stopped at the header has not seen',
    kind: 'choice',
    queries: /./,
    outcomes: ['FORMERR', 'NOTIMP', 'NOTAUTH', 'REFUSED', 'NXDOMAIN'],
    fields: ['edns'],
  },
  {
    name: 'DO in BADVERS',
    rfc: 'RFC 3225 3, RFC 6891 6.1.3',
    reason: 'DO is copied into the answer; of a version one does not know, one need not know its flags',
    kind: 'choice',
    queries: /^EDNS version/,
    outcomes: ['BADVERS'],
    fields: ['edns'],
  },
  {
    name: 'server information',
    rfc: 'RFC 4892 3',
    reason: 'which names of class CH a server has, with what content and whether as an authority, is a local matter',
    kind: 'optional',
    queries: /^CH (version|hostname|id)\.(bind|server)\.( with EDNS)?$/,
    outcomes: ['NOERROR', 'REFUSED'],
    fields: ['aa', 'answers', 'authorities', 'rcode', 'option'],
  },
  {
    name: 'class CH otherwise',
    rfc: 'RFC 4892 3',
    reason:
      'a server that has nothing else in class CH refuses; BIND limits the rate of answers there and may say nothing',
    kind: 'choice',
    queries: /^(CH |class 3$)/,
    outcomes: ['NOERROR', 'REFUSED', 'silence'],
  },
  {
    name: 'unknown class',
    rfc: 'RFC 1035 4.1.1',
    reason: 'a class without zones: refused, not implemented or, for 0 and NONE, no legal question',
    kind: 'choice',
    queries: /^class (0|2|4|254|1000)$/,
    outcomes: ['REFUSED', 'NOTIMP', 'FORMERR'],
  },
  {
    name: 'class ANY',
    rfc: 'RFC 1035 3.2.5 and 6.2',
    reason:
      'class * matches any class, with an answer that can never be authoritative; most queries for it are mistakes',
    kind: 'choice',
    queries: /^class (255|ANY)/,
    outcomes: ['NOERROR', 'NXDOMAIN', 'FORMERR', 'REFUSED', 'NOTIMP'],
  },
  {
    name: 'NOTIFY to a primary',
    rfc: 'RFC 1996 3.10 and 3.11',
    reason: 'not a secondary of the zone: refused, not authoritative, not implemented, or acknowledged and ignored',
    kind: 'choice',
    queries: /^opcode 4/,
    outcomes: ['NOTAUTH', 'REFUSED', 'NOTIMP', 'FORMERR', 'NOERROR', 'NXDOMAIN'],
  },
  {
    name: 'UPDATE not offered',
    rfc: 'RFC 2136 3.1 and 3.3',
    reason: 'updates are not implemented, refused by policy, or the zone section is found wrong first',
    kind: 'choice',
    queries: /^opcode 5/,
    outcomes: ['NOTIMP', 'REFUSED', 'NOTAUTH', 'FORMERR'],
  },
  {
    name: 'flags in NOTIMP',
    rfc: 'RFC 1035 4.1.1',
    reason: 'RD is copied from a query; for another opcode neither it nor any other flag has a meaning to copy',
    kind: 'optional',
    queries: /^opcode/,
    outcomes: ['NOTIMP', 'NOTAUTH', 'REFUSED', 'FORMERR', 'NXDOMAIN'],
    fields: ['rd', 'cd', 'aa', 'ra', 'z', 'ad', 'tc'],
  },
  {
    name: 'TSIG of an error',
    rfc: 'RFC 8945 5.3.2',
    reason: 'the error is the same; the time is that of the server, which may also repeat the MAC or the fudge',
    kind: 'optional',
    queries: /^TSIG (of an unknown key|with a compressed|behind)/,
    outcomes: ['NOTAUTH'],
    fields: ['additionals'],
  },
  {
    name: 'TSIG looked at loosely',
    rfc: 'RFC 8945 5.1 and 5.2',
    reason: 'a class, bytes behind the record or other records may be found wrong before the key, or not at all',
    kind: 'choice',
    queries: /^TSIG (of class IN|with bytes behind it|behind another record)/,
    outcomes: ['NOTAUTH', 'FORMERR'],
  },
  {
    name: 'transfer not offered',
    rfc: 'RFC 5936 2.2.1 and 4.2, RFC 1995 4',
    reason: 'a transfer that is not allowed, not over this transport or not of this name: three codes are in use',
    kind: 'choice',
    queries: /^[AI]XFR/,
    outcomes: ['NOTIMP', 'REFUSED', 'NOTAUTH', 'FORMERR'],
  },
  {
    name: 'question for a meta-type',
    rfc: 'RFC 6895 3.1, RFC 1035 3.2.3',
    reason: 'types no zone can hold: no data, not implemented, or no legal question',
    kind: 'choice',
    queries: /^(MAILA|MAILB|TKEY|TSIG|OPT|TYPE0) /,
    outcomes: ['NOERROR', 'NOTIMP', 'FORMERR', 'REFUSED'],
  },
  {
    name: 'malformed, answered or not',
    rfc: 'RFC 1035 4.1.1, RFC 8906',
    reason: 'FORMERR helps an honest client; silence denies a spoofed one',
    kind: 'choice',
    queries: /^(no question|two questions|ends in|one byte|a name |a label )/,
    outcomes: ['FORMERR', 'REFUSED', 'silence'],
  },
  {
    name: 'EDNS without a question',
    rfc: 'RFC 7873 5.4',
    reason:
      'a query without question asks for a server cookie, which a server without cookies finds malformed or empty',
    kind: 'choice',
    queries: /^no question, EDNS/,
    outcomes: ['NOERROR', 'FORMERR', 'REFUSED'],
  },
  {
    name: 'bytes or records nobody asked for',
    rfc: 'RFC 1035 4.1.1, RFC 6891 6.1.1',
    reason: 'ignored by the liberal, an error to the strict',
    kind: 'choice',
    queries: /^(trailing bytes|rcode in|an? (answer|authority|additional) |OPT )/,
    outcomes: ['NOERROR', 'FORMERR'],
  },
  {
    name: 'malformed option',
    rfc: 'RFC 7873 5.2.2, RFC 7871 6',
    reason: 'a server that implements the option answers FORMERR to a malformed one; others do not look inside',
    kind: 'choice',
    queries: /^(a cookie of|client cookie and a short|client subnet, bad|keepalive)/,
    outcomes: ['NOERROR', 'FORMERR'],
  },
  {
    name: 'option not offered',
    rfc: 'RFC 6891 6.1.2, RFC 7871 7.2.1, RFC 7828 3.3.2, RFC 7830 4',
    reason: 'an option a server does not know or has turned off is ignored',
    kind: 'optional',
    queries: /^(client subnet|keepalive|padding|NSID|client cookie)/,
    outcomes: ['NOERROR'],
    fields: ['option'],
  },
]

export const ODD_RULES: readonly Rule[] = TABLE.map(({ queries, outcomes, fields, ...rule }) => ({
  ...rule,
  covers: (part, { query, a, b }) =>
    query.odd &&
    queries.test(query.label) &&
    (fields === undefined || fields.includes(part.field)) &&
    outcomes.includes(outcome(a)) &&
    outcomes.includes(outcome(b)),
}))

export function outcome(response: Response): string {
  if (isMessage(response)) return rcodeName(response.rcode)
  return response === 'silence' ? 'silence' : 'malformed'
}
