// An upstream's answer, kept as wire bytes without its OPT record and with the places of its TTLs, so that the answer
// for one more client is a copy and a few patches.

import { decodeMessage, encodeMessage } from '../../dns/message.ts'
import { equalNames } from '../../dns/name.ts'
import { RCODE, TYPE } from '../../dns/types.ts'
import { type Query, wantsAuthenticated } from './query.ts'
import { relevantMessage } from './relevance.ts'
import {
  AD,
  CD,
  HEADER_BYTES,
  MAX_MESSAGE_BYTES,
  OPCODE_BITS,
  OPT_BYTES,
  QR,
  questionEnd,
  RD,
  read16,
  read32,
  readOpt,
  TC,
  visitRecords,
  write16,
  write32,
  writeOpt,
} from './wire.ts'

export interface Reply {
  readonly wire: Uint8Array
  /** The extended rcode, 12 bits. */
  readonly rcode: number
  readonly truncated: boolean
  readonly kind: ReplyKind
  /** How long it may be kept, before limits: the lowest TTL, and for denials the SOA minimum too (RFC 2308). */
  readonly ttlSeconds: number
  readonly ttlAts: readonly number[]
}

/** `failure` is SERVFAIL or NOTIMP; `other` is never kept. */
export type ReplyKind = 'success' | 'denial' | 'failure' | 'other'

/** For answers that name no time of their own: referrals and answers without records. As CoreDNS. */
const DEFAULT_TTL_SECONDS = 5

/** True when `message` answers `sent`: same id, same question. Whatever else arrives is not meant for us. */
export function isAnswerTo(message: Uint8Array, sent: Uint8Array): boolean {
  const end = questionEnd(sent)
  if (end === undefined || questionEnd(message) !== end) return false
  if (read16(message, 0) !== read16(sent, 0) || (message[2] & (QR | OPCODE_BITS)) !== QR) return false
  const sameName = equalNames(message.subarray(HEADER_BYTES, end - 4), sent.subarray(HEADER_BYTES, end - 4))
  return sameName && read32(message, end - 4) === read32(sent, end - 4)
}

/** Undefined when the message is malformed. A truncated one may be cut anywhere: its records are dropped. */
export function readReply(message: Uint8Array): Reply | undefined {
  const question = questionEnd(message)
  if (question === undefined) return undefined
  // Names inside are passed on as they are, so they must be sound: no loops, no pointers ahead.
  const decoded = (message[2] & TC) === 0 ? decodeMessage(message) : undefined
  if (typeof decoded === 'string') return undefined
  const relevant = decoded && relevantMessage(decoded)
  if (relevant !== undefined && relevant !== decoded) return readReply(encodeMessage(relevant))
  const headerRcode = message[3] & 0x0f
  if ((message[2] & TC) !== 0) {
    const wire = new Uint8Array(message.subarray(0, question))
    wire.fill(0, 6, HEADER_BYTES)
    return { wire, rcode: headerRcode, truncated: true, kind: 'other', ttlSeconds: 0, ttlAts: [] }
  }

  const queryType = read16(message, question - 4)
  const ttlAts: number[] = []
  let end = message.length
  let additionals = read16(message, 10)
  let rcode = headerRcode
  let lowest = Number.POSITIVE_INFINITY
  let answered = false
  let hasSoa = false
  let hasNs = false
  let lastEnd = question
  const valid = visitRecords(message, question, (section, index, start, type, ttlAt, rdataAt, rdataEnd) => {
    lastEnd = rdataEnd
    if (section === 'additional' && type === TYPE.OPT) {
      rcode = (readOpt(message, ttlAt).extendedRcode << 4) | headerRcode
      // OPT comes last in practice. Records after it go too: they may point past it and cannot be moved.
      if (start < end) {
        end = start
        additionals = index
      }
    }
    if (start >= end) return
    ttlAts.push(ttlAt)
    // A TTL with the top bit set counts as zero (RFC 2181 section 8).
    const ttl = read32(message, ttlAt)
    lowest = Math.min(lowest, ttl > 0x7fffffff ? 0 : ttl)
    if (section === 'answer') answered ||= type === queryType || queryType === TYPE.ANY
    if (section === 'authority' && type === TYPE.NS) hasNs = true
    if (section === 'authority' && type === TYPE.SOA && rdataEnd - rdataAt >= 22) {
      hasSoa = true
      lowest = Math.min(lowest, read32(message, rdataEnd - 4))
    }
  })
  if (!valid) return undefined

  const wire = new Uint8Array(message.subarray(0, Math.min(end, lastEnd)))
  write16(wire, 10, additionals)
  const kind = kindOf(rcode, read16(message, 6) > 0, answered, hasSoa)
  const untimed = ttlAts.length === 0 || (kind === 'success' && !answered && hasNs)
  return { wire, rcode, truncated: false, kind, ttlSeconds: untimed ? DEFAULT_TTL_SECONDS : lowest, ttlAts }
}

function kindOf(rcode: number, hasAnswers: boolean, answered: boolean, hasSoa: boolean): ReplyKind {
  if (rcode === RCODE.SERVFAIL || rcode === RCODE.NOTIMP) return 'failure'
  // Without a SOA nothing says how long a denial holds (RFC 2308 section 5).
  if (rcode === RCODE.NXDOMAIN) return hasSoa ? 'denial' : 'other'
  if (rcode !== RCODE.NOERROR) return 'other'
  if (answered) return 'success'
  if (hasSoa) return 'denial'
  // An alias whose target was not resolved is no answer; keeping it would repeat the gap.
  return hasAnswers ? 'other' : 'success'
}

/** The answer for one client. `ttlSeconds`, when given, becomes the TTL of every record. May exceed the client's UDP limit. */
export function encodeReply(reply: Reply, query: Query, udpBytes: number, ttlSeconds?: number): Uint8Array {
  const length = reply.wire.length
  const withOpt = query.opt !== undefined && length + OPT_BYTES <= MAX_MESSAGE_BYTES
  const out = new Uint8Array(length + (withOpt ? OPT_BYTES : 0))
  out.set(reply.wire)
  // Id and the question in the client's own letter case; it has the same length.
  out.set(query.message.subarray(0, 2))
  out.set(query.message.subarray(HEADER_BYTES, query.questionEnd), HEADER_BYTES)
  out[2] = (out[2] & ~RD) | (query.message[2] & RD)
  const kept = wantsAuthenticated(query) ? 0x80 | AD : 0x80
  out[3] = (out[3] & kept) | (query.message[3] & CD) | (reply.rcode & 0x0f)
  if (ttlSeconds !== undefined) for (const at of reply.ttlAts) write32(out, at, ttlSeconds)
  if (withOpt && query.opt !== undefined) {
    write16(out, 10, read16(out, 10) + 1)
    writeOpt(out, length, udpBytes, { extendedRcode: reply.rcode >> 4, dnssecOk: query.opt.dnssecOk })
  }
  return out
}
