// Reading a query: header, question, additional records.

import { OPCODE, RCODE } from '../dns/types.ts'
import { readAdditional } from './edns.ts'
import { HEADER_BYTES } from './layout.ts'
import type { Query } from './query.ts'

/** Returns the rcode of a query that cannot be answered. */
export function readQuery(q: Query): number {
  const { packet, base } = q
  const opcode = (packet[base + 2] >> 3) & 0x0f
  if (opcode !== OPCODE.QUERY) return RCODE.NOTIMP
  const questions = (packet[base + 4] << 8) | packet[base + 5]
  const answers = (packet[base + 6] << 8) | packet[base + 7]
  const authorities = (packet[base + 8] << 8) | packet[base + 9]
  const additionals = (packet[base + 10] << 8) | packet[base + 11]
  if (questions > 1 || answers !== 0 || authorities !== 0) return RCODE.FORMERR
  if (questions === 1) {
    if (!q.setName(packet, base + HEADER_BYTES, base + q.length)) return RCODE.FORMERR
    const at = HEADER_BYTES + q.nameLength
    if (at + 4 > q.length) return RCODE.FORMERR
    q.type = (packet[base + at] << 8) | packet[base + at + 1]
    q.klass = (packet[base + at + 2] << 8) | packet[base + at + 3]
    q.questionEnd = at + 4
    q.at = at + 4
  }
  if (additionals === 0) return q.questionEnd === q.length && questions === 1 ? RCODE.NOERROR : RCODE.FORMERR
  const problem = readAdditional(q, additionals)
  // RFC 7873 section 5.4: without a question, a query may still ask for a cookie.
  if (problem === RCODE.NOERROR && questions === 0 && q.cookieLength === 0) return RCODE.FORMERR
  return problem
}
