// Reading a query: header, question, the authority section of IXFR, additional records.

import { OPCODE, RCODE, TYPE } from '../dns/types.ts'
import { readAdditional } from './edns.ts'
import { HEADER_BYTES } from './layout.ts'
import type { Query } from './query.ts'
import { skipName } from './read-name.ts'

/** Type, class, TTL and length. */
const RECORD_HEADER_BYTES = 10
const SOA_NUMBERS_BYTES = 20

/** Returns the rcode of a query that cannot be answered. */
export function readQuery(q: Query): number {
  const { packet, base } = q
  const opcode = (packet[base + 2] >> 3) & 0x0f
  if (opcode !== OPCODE.QUERY) return RCODE.NOTIMP
  const questions = (packet[base + 4] << 8) | packet[base + 5]
  const answers = (packet[base + 6] << 8) | packet[base + 7]
  const authorities = (packet[base + 8] << 8) | packet[base + 9]
  const additionals = (packet[base + 10] << 8) | packet[base + 11]
  if (questions > 1 || answers !== 0) return RCODE.FORMERR
  if (questions === 1) {
    if (!q.setName(packet, base + HEADER_BYTES, base + q.length)) return RCODE.FORMERR
    const at = HEADER_BYTES + q.nameLength
    if (at + 4 > q.length) return RCODE.FORMERR
    q.type = (packet[base + at] << 8) | packet[base + at + 1]
    q.klass = (packet[base + at + 2] << 8) | packet[base + at + 3]
    q.questionEnd = at + 4
    q.at = at + 4
  }
  let end = q.questionEnd
  if (authorities !== 0 || q.type === TYPE.IXFR) {
    end = q.type === TYPE.IXFR && authorities === 1 ? skipSoa(q, end) : -1
    if (end < 0) return RCODE.FORMERR
  }
  if (additionals === 0) return end === q.length && questions === 1 ? RCODE.NOERROR : RCODE.FORMERR
  const problem = readAdditional(q, end, additionals)
  // RFC 7873 section 5.4: without a question, a query may still ask for a cookie.
  if (problem === RCODE.NOERROR && questions === 0 && q.cookieLength === 0) return RCODE.FORMERR
  return problem
}

/** The version that a client of IXFR has, as its authority section names it (RFC 1995 section 3). */
function skipSoa(q: Query, start: number): number {
  const { packetView, base, length } = q
  const at = skipName(q, start)
  if (at < 0 || at + RECORD_HEADER_BYTES > length) return -1
  const end = at + RECORD_HEADER_BYTES + packetView.getUint16(base + at + 8)
  if (end > length || packetView.getUint16(base + at) !== TYPE.SOA) return -1
  const mailbox = skipName(q, at + RECORD_HEADER_BYTES)
  const numbers = mailbox < 0 ? -1 : skipName(q, mailbox)
  return numbers >= 0 && numbers + SOA_NUMBERS_BYTES === end ? end : -1
}
