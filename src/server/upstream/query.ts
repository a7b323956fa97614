// A client's question as the resolver sees it, what is sent upstream for it, and answers made up without one.
// EDNS is hop by hop (RFC 6891 section 6): upstream gets an OPT of ours when the client sent one, with its DO bit and
// no options, so that one answer serves every client that asks the same.

import { lowerName } from '../../dns/name.ts'
import { OPCODE, RCODE, TYPE } from '../../dns/types.ts'
import {
  AD,
  CD,
  HEADER_BYTES,
  OPCODE_BITS,
  OPT_BYTES,
  type OptRecord,
  QR,
  questionEnd,
  RD,
  read16,
  readOpt,
  visitRecords,
  write16,
  writeOpt,
} from './wire.ts'

/** Large answers come by TCP rather than in fragments, which are open to forgery; the DNS flag day 2020 value. */
const UPSTREAM_UDP_BYTES = 1232

export interface Query {
  readonly message: Uint8Array
  /** Lower case, wire form. */
  readonly name: Uint8Array
  readonly type: number
  readonly questionEnd: number
  readonly opt: OptRecord | undefined
  /** Equal for questions one answer serves: name, type, class, and the RD, CD and DO bits. */
  readonly key: string
}

/** The query, or the rcode it deserves. */
export function readQuery(message: Uint8Array): Query | number {
  const end = questionEnd(message)
  if (end === undefined) return RCODE.FORMERR
  if ((message[2] & QR) !== 0) return RCODE.FORMERR
  if ((message[2] & OPCODE_BITS) >> 3 !== OPCODE.QUERY) return RCODE.NOTIMP
  const type = read16(message, end - 4)
  // One exchange carries one message: transfers cannot be forwarded.
  if (type === TYPE.AXFR || type === TYPE.IXFR) return RCODE.REFUSED
  let opt: OptRecord | undefined
  const valid = visitRecords(message, end, (section, _index, _start, recordType, ttlAt) => {
    if (section === 'additional' && recordType === TYPE.OPT) opt = readOpt(message, ttlAt)
  })
  if (!valid) return RCODE.FORMERR
  const name = lowerName(message.subarray(HEADER_BYTES, end - 4))
  const bits = (message[2] & RD) | (message[3] & CD) | (dnssecOk(opt) ? 2 : 0)
  const key = Buffer.from(name).toString('latin1') + String.fromCharCode(type, read16(message, end - 2), bits)
  return { message, name, type, questionEnd: end, opt, key }
}

function dnssecOk(opt: OptRecord | undefined): boolean {
  return opt?.dnssecOk === true
}

/** The client wants to know whether data was authenticated (RFC 6840 section 5.7). */
export function wantsAuthenticated(query: Query): boolean {
  return dnssecOk(query.opt) || (query.message[3] & AD) !== 0
}

/** The message to send upstream, with id 0. It always asks for the AD bit, which is withheld from clients that did not. */
export function upstreamQuery(query: Query): Uint8Array {
  const out = new Uint8Array(query.questionEnd + (query.opt === undefined ? 0 : OPT_BYTES))
  out.set(query.message.subarray(HEADER_BYTES, query.questionEnd), HEADER_BYTES)
  out[2] = query.message[2] & RD
  out[3] = (query.message[3] & CD) | AD
  write16(out, 4, 1)
  if (query.opt === undefined) return out
  write16(out, 10, 1)
  writeOpt(out, query.questionEnd, UPSTREAM_UDP_BYTES, { extendedRcode: 0, dnssecOk: query.opt.dnssecOk })
  return out
}

/** A query of our own: health checks and loop probes. */
export function encodeQuery(name: Uint8Array, type: number, klass: number, recursionDesired: boolean): Uint8Array {
  const out = new Uint8Array(HEADER_BYTES + name.length + 4)
  out[2] = recursionDesired ? RD : 0
  write16(out, 4, 1)
  out.set(name, HEADER_BYTES)
  write16(out, HEADER_BYTES + name.length, type)
  write16(out, HEADER_BYTES + name.length + 2, klass)
  return out
}

/** An answer without records. Works for any bytes, whether they are a query or not. */
export function emptyAnswer(message: Uint8Array, rcode: number, udpBytes: number): Uint8Array {
  const query = readQuery(message)
  const opt = typeof query === 'number' ? undefined : query.opt
  const question = questionEnd(message)
  const end = question ?? HEADER_BYTES
  const out = new Uint8Array(end + (opt === undefined ? 0 : OPT_BYTES))
  out.set(message.subarray(0, end))
  out[2] = QR | (out[2] & (OPCODE_BITS | RD))
  out[3] = (out[3] & CD) | rcode
  out.fill(0, 4, HEADER_BYTES)
  if (question !== undefined) write16(out, 4, 1)
  if (opt === undefined) return out
  write16(out, 10, 1)
  writeOpt(out, end, udpBytes, { extendedRcode: 0, dnssecOk: opt.dnssecOk })
  return out
}
