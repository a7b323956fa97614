// Direct reading of messages: the question and the places of the records, without building objects for them.
// A forwarded answer is mostly passed on as it is; only header, question, TTLs and OPT are touched.
// Bytes come from the network: nothing here throws, and every read is checked against the end.

import { nameLength } from '../../dns/name.ts'
import { TYPE } from '../../dns/types.ts'

export const HEADER_BYTES = 12
export const OPT_BYTES = 11
export const MAX_MESSAGE_BYTES = 65_535
/** Flags in byte 2 and byte 3 of the header. */
export const QR = 0x80
export const OPCODE_BITS = 0x78
export const TC = 0x02
export const RD = 0x01
export const AD = 0x20
export const CD = 0x10
/** The DO flag, in the upper byte of the flags of an OPT record. */
export const DO = 0x80

export function read16(bytes: Uint8Array, at: number): number {
  return (bytes[at] << 8) | bytes[at + 1]
}

export function read32(bytes: Uint8Array, at: number): number {
  return ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0
}

export function write16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8
  bytes[at + 1] = value
}

export function write32(bytes: Uint8Array, at: number, value: number): void {
  write16(bytes, at, value >>> 16)
  write16(bytes, at + 2, value)
}

/** End of the one question of a message; undefined when it has none, several, or a malformed one. */
export function questionEnd(message: Uint8Array): number | undefined {
  if (message.length < HEADER_BYTES || read16(message, 4) !== 1) return undefined
  const length = nameLength(message, HEADER_BYTES)
  const end = HEADER_BYTES + length + 4
  return length < 0 || end > message.length ? undefined : end
}

export type Section = 'answer' | 'authority' | 'additional'

/** Called for each record: section, number within it, start, type, place of the TTL, start and end of the rdata. */
export type RecordVisitor = (
  section: Section,
  index: number,
  start: number,
  type: number,
  ttlAt: number,
  rdataAt: number,
  rdataEnd: number,
) => void

const SECTIONS: readonly Section[] = ['answer', 'authority', 'additional']

/** Visits every record from `at` (the end of the question); false when the message is malformed. */
export function visitRecords(message: Uint8Array, at: number, visit: RecordVisitor): boolean {
  for (const [s, section] of SECTIONS.entries()) {
    const count = read16(message, 6 + 2 * s)
    for (let index = 0; index < count; index++) {
      const fixed = skipName(message, at)
      if (fixed < 0 || fixed + 10 > message.length) return false
      const rdataAt = fixed + 10
      const rdataEnd = rdataAt + read16(message, fixed + 8)
      if (rdataEnd > message.length) return false
      visit(section, index, at, read16(message, fixed), fixed + 4, rdataAt, rdataEnd)
      at = rdataEnd
    }
  }
  return true
}

/** End of a possibly compressed name, or -1. Pointers are not followed: whoever reads the name does that. */
function skipName(message: Uint8Array, at: number): number {
  while (at < message.length) {
    const length = message[at]
    if (length === 0) return at + 1
    if (length >= 0xc0) return at + 2
    if (length > 63) return -1
    at += length + 1
  }
  return -1
}

export interface OptRecord {
  readonly extendedRcode: number
  readonly dnssecOk: boolean
}

export function readOpt(message: Uint8Array, ttlAt: number): OptRecord {
  return { extendedRcode: message[ttlAt], dnssecOk: (message[ttlAt + 2] & DO) !== 0 }
}

/** Writes an OPT record without options, of OPT_BYTES bytes (RFC 6891 section 6.1.2). */
export function writeOpt(message: Uint8Array, at: number, udpBytes: number, opt: OptRecord): void {
  message[at] = 0
  write16(message, at + 1, TYPE.OPT)
  write16(message, at + 3, udpBytes)
  message[at + 5] = opt.extendedRcode
  message[at + 6] = 0
  message[at + 7] = opt.dnssecOk ? DO : 0
  message.fill(0, at + 8, at + OPT_BYTES)
}

/** The message with options in the OPT record it ends in; as it is where it has none, or one with options already. */
export function withOptions(message: Uint8Array, options: Uint8Array): Uint8Array {
  const opt = message.length - OPT_BYTES
  const bare = read16(message, 10) > 0 && read16(message, opt + 1) === TYPE.OPT && read16(message, opt + 9) === 0
  if (!bare || message[opt] !== 0 || message.length + options.length > MAX_MESSAGE_BYTES) return message
  const out = new Uint8Array(message.length + options.length)
  out.set(message)
  out.set(options, message.length)
  write16(out, opt + 9, options.length)
  return out
}
