// The end of every response: header and OPT.

import { RCODE } from '../dns/types.ts'
import { emitOpt } from './edns.ts'
import type { EdnsContext } from './edns.ts'
import { HEADER_BYTES } from './layout.ts'
import type { Query, View } from './query.ts'
import { emitTsig } from './tsig.ts'

/** Returns the length of the response. */
export function finish(q: Query, view: View, context: EdnsContext): number {
  const { packet, base } = q
  if (q.rcode === RCODE.FORMERR || q.rcode === RCODE.NOTIMP) {
    // The question may be what is wrong, so it is not repeated.
    q.questionEnd = HEADER_BYTES
    q.clearSections()
  }
  if (q.edns && q.rcode !== RCODE.NOTIMP) emitOpt(q, view, context)
  if (q.rcode === RCODE.NOTAUTH) emitTsig(q, context)
  // QR, the opcode, AA, TC; RD and CD as asked (RFC 1035 section 4.1.1, RFC 4035 section 3), which mean nothing for
  // another opcode; RA, Z and AD are zero.
  const isQuery = (packet[base + 2] & 0x78) === 0
  packet[base + 2] =
    0x80 | (packet[base + 2] & (isQuery ? 0x01 : 0x78)) | (q.authoritative ? 0x04 : 0) | (q.truncated ? 0x02 : 0)
  packet[base + 3] = (isQuery ? packet[base + 3] & 0x10 : 0) | (q.rcode & 0x0f)
  packet[base + 4] = 0
  packet[base + 5] = q.questionEnd === HEADER_BYTES ? 0 : 1
  packet[base + 6] = q.answers >> 8
  packet[base + 7] = q.answers
  packet[base + 8] = q.authorities >> 8
  packet[base + 9] = q.authorities
  packet[base + 10] = q.additionals >> 8
  packet[base + 11] = q.additionals
  return q.at
}
