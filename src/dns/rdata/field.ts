// What a record type is made of: a list of fields, each of which can be read from zone-file text, measured on the
// wire, and printed. One driver (rdata.ts) does everything else for every type.

import type { Tokens } from '../tokens.ts'

export const MAX_RDATA_LENGTH = 65535

/**
 * Rdata under construction. Bytes past the end of the buffer are dropped, as typed arrays do, and `length` goes on
 * counting: the driver checks it once, at the end.
 */
export interface RdataBuffer {
  readonly bytes: Uint8Array
  length: number
}

/** How a domain name inside rdata may be treated. */
export interface NameUse {
  /** May be compressed in messages: only the types of RFC 1035 (RFC 3597 4). */
  readonly compress: boolean
  /** Is lower-cased in the canonical form (RFC 4034 6.2, RFC 6840 5.1). */
  readonly lower: boolean
}

export interface Field {
  /** Bytes on the wire, or -1 when it varies. */
  readonly size: number
  readonly name: NameUse | undefined
  /** Takes its tokens and appends its wire form; throws ExpectedError. */
  parse(tokens: Tokens, out: RdataBuffer): void
  /** Offset after the field that starts at `at`, or -1 when it is malformed or passes `end`. */
  measure(rdata: Uint8Array, at: number, end: number): number
  /** Text of the well-formed field at `at`..`next`; an empty string is left out. */
  format(rdata: Uint8Array, at: number, next: number): string
}

export interface RdataType {
  readonly fields: readonly Field[]
  /** What no single field can see; returns what is wrong. The fields are well-formed when it is called. */
  readonly check?: (rdata: Uint8Array, end: number) => string | undefined
}

export function readU16(rdata: Uint8Array, at: number): number {
  return (rdata[at] << 8) | rdata[at + 1]
}

export function readU32(rdata: Uint8Array, at: number): number {
  return ((rdata[at] << 24) | (rdata[at + 1] << 16) | (rdata[at + 2] << 8) | rdata[at + 3]) >>> 0
}

/** Appends `size` bytes of `value`, most significant first. */
export function appendNumber(out: RdataBuffer, value: number, size: number): void {
  for (let shift = (size - 1) * 8; shift >= 0; shift -= 8) out.bytes[out.length++] = value >>> shift
}
