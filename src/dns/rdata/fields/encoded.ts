// Binary data written in hexadecimal, base64 or base32hex (RFC 4648). What runs to the end of the rdata may be
// split over several tokens at any digit.

import { ExpectedError, type Tokens } from '../../tokens.ts'
import type { Field, RdataBuffer } from '../field.ts'
import { hexDigit } from './address.ts'

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const BASE32HEX = '0123456789ABCDEFGHIJKLMNOPQRSTUV'

/** Digit values by byte; 255 is no digit. */
function digitTable(digits: string): Uint8Array {
  const table = new Uint8Array(256).fill(255)
  for (let i = 0; i < digits.length; i++) table[digits.charCodeAt(i)] = i
  return table
}
const BASE64_VALUES = digitTable(BASE64)

/** Reads hexadecimal from the remaining tokens; returns the number of bytes. */
export function appendHex(tokens: Tokens, out: RdataBuffer, noun: string): number {
  const before = out.length
  let high = -1
  for (; tokens.next < tokens.count; tokens.next++) {
    for (let i = tokens.starts[tokens.next]; i < tokens.ends[tokens.next]; i++) {
      const digit = hexDigit(tokens.bytes[i])
      if (digit < 0) throw new ExpectedError(tokens.next, `expected ${noun} in hexadecimal`)
      if (high < 0) high = digit
      else {
        out.bytes[out.length++] = (high << 4) | digit
        high = -1
      }
    }
  }
  if (high >= 0) throw new ExpectedError(tokens.count - 1, `expected ${noun} in an even number of hexadecimal digits`)
  return out.length - before
}

export function formatHex(rdata: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let i = from; i < to; i++) text += HEX_PAIRS[rdata[i]]
  return text
}

const HEX_PAIRS: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0').toUpperCase(),
)

/** Decodes base64 from tokens `first`..`last`, padding required (RFC 4648 3.2, 3.5). */
export function appendBase64(tokens: Tokens, first: number, last: number, out: RdataBuffer, noun: string): void {
  let group = 0
  let digits = 0
  let padding = 0
  for (let index = first; index <= last; index++) {
    for (let i = tokens.starts[index]; i < tokens.ends[index]; i++) {
      const c = tokens.bytes[i]
      const value = BASE64_VALUES[c]
      if (c === 0x3d) padding++
      if (padding > 2 || (padding > 0 ? c !== 0x3d : value === 255)) throw notBase64(index, noun)
      group = (group << 6) | (padding > 0 ? 0 : value)
      if (++digits % 4 !== 0) continue
      if (group & ((1 << (8 * padding)) - 1)) throw notBase64(index, noun)
      for (let shift = 16; shift >= 8 * padding; shift -= 8) out.bytes[out.length++] = group >> shift
      group = 0
    }
  }
  if (digits % 4 !== 0) throw notBase64(last, noun)
}

function notBase64(index: number, noun: string): ExpectedError {
  return new ExpectedError(index, `expected ${noun} in base64`)
}

export function formatBase64(rdata: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let i = from; i < to; i += 3) {
    const group = (rdata[i] << 16) | ((i + 1 < to ? rdata[i + 1] : 0) << 8) | (i + 2 < to ? rdata[i + 2] : 0)
    text += BASE64[group >> 18] + BASE64[(group >> 12) & 63]
    text += i + 1 < to ? BASE64[(group >> 6) & 63] : '='
    text += i + 2 < to ? BASE64[group & 63] : '='
  }
  return text
}

function toEnd(
  parse: (tokens: Tokens, out: RdataBuffer) => void,
  format: (rdata: Uint8Array, from: number, to: number) => string,
): Field {
  return {
    size: -1,
    name: undefined,
    parse,
    measure(_rdata: Uint8Array, at: number, end: number): number {
      return at < end ? end : -1
    },
    format,
  }
}

/** At least one byte of hexadecimal, to the end. */
export function hexToEnd(noun: string): Field {
  return toEnd((tokens, out) => {
    if (appendHex(tokens, out, noun) === 0) tokens.take(`${noun} in hexadecimal`)
  }, formatHex)
}

/** At least one byte of base64, to the end. */
export function base64ToEnd(noun: string): Field {
  return toEnd((tokens, out) => {
    const first = tokens.take(`${noun} in base64`)
    const before = out.length
    appendBase64(tokens, first, tokens.count - 1, out, noun)
    if (out.length === before) throw notBase64(first, noun)
    tokens.next = tokens.count
  }, formatBase64)
}

/** Base64 to the end, or `-` for no bytes. */
export function base64OrDash(noun: string): Field {
  const field = base64ToEnd(noun)
  return {
    ...field,
    parse(tokens: Tokens, out: RdataBuffer): void {
      const at = tokens.starts[tokens.next]
      const isDash =
        tokens.next === tokens.count - 1 && tokens.ends[tokens.next] === at + 1 && tokens.bytes[at] === 0x2d
      if (isDash) tokens.next++
      else field.parse(tokens, out)
    },
    measure: (_rdata, at, end) => (at <= end ? end : -1),
    format: (rdata, from, to) => (from === to ? '-' : formatBase64(rdata, from, to)),
  }
}

function prefixed(
  parse: (tokens: Tokens, out: RdataBuffer) => number,
  minimum: number,
  format: (rdata: Uint8Array, from: number, to: number) => string,
): Field {
  return {
    size: -1,
    name: undefined,
    parse(tokens: Tokens, out: RdataBuffer): void {
      const lengthAt = out.length++
      const length = parse(tokens, out)
      if (length > 255) throw new ExpectedError(tokens.next - 1, 'expected at most 255 bytes')
      out.bytes[lengthAt] = length
    },
    measure(rdata: Uint8Array, at: number, end: number): number {
      const next = at + 1 + rdata[at]
      return at < end && rdata[at] >= minimum && next <= end ? next : -1
    },
    format(rdata: Uint8Array, at: number, next: number): string {
      return format(rdata, at + 1, next)
    },
  }
}

/** An NSEC3 salt: one token of hexadecimal, `-` when empty (RFC 5155 3.3). */
export function hexOrDash(noun: string): Field {
  return prefixed(
    (tokens, out) => {
      const index = tokens.takeWord(noun)
      const start = tokens.starts[index]
      const end = tokens.ends[index]
      if (end - start === 1 && tokens.bytes[start] === 0x2d) return 0
      if (start === end || (end - start) % 2 !== 0) throw new ExpectedError(index, `expected ${noun}`)
      for (let i = start; i < end; i += 2) {
        const high = hexDigit(tokens.bytes[i])
        const low = hexDigit(tokens.bytes[i + 1])
        if (high < 0 || low < 0) throw new ExpectedError(index, `expected ${noun}`)
        out.bytes[out.length++] = (high << 4) | low
      }
      return (end - start) / 2
    },
    0,
    (rdata, from, to) => (from === to ? '-' : formatHex(rdata, from, to)),
  )
}

/** A hash in base32hex without padding, one token (RFC 5155 3.3). */
export function base32hex(noun: string): Field {
  return prefixed(
    (tokens, out) => {
      const index = tokens.takeWord(noun)
      const before = out.length
      let bits = 0
      let held = 0
      for (let i = tokens.starts[index]; i < tokens.ends[index]; i++) {
        const c = tokens.bytes[i]
        const digit = BASE32HEX.indexOf(String.fromCharCode(c >= 0x61 && c <= 0x7a ? c & 0xdf : c))
        if (digit < 0) throw new ExpectedError(index, `expected ${noun}`)
        held = ((held << 5) | digit) & 0xfff
        bits += 5
        if (bits < 8) continue
        bits -= 8
        out.bytes[out.length++] = held >> bits
      }
      const spare = held & ((1 << bits) - 1)
      if (bits > 4 || spare !== 0 || out.length === before) throw new ExpectedError(index, `expected ${noun}`)
      return out.length - before
    },
    1,
    formatBase32hex,
  )
}

function formatBase32hex(rdata: Uint8Array, from: number, to: number): string {
  let text = ''
  let bits = 0
  let held = 0
  for (let i = from; i < to; i++) {
    held = ((held << 8) | rdata[i]) & 0xffff
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32HEX[(held >> (bits - 5)) & 31]
  }
  return bits > 0 ? text + BASE32HEX[(held << (5 - bits)) & 31] : text
}

/** Bytes written as pairs of hexadecimal digits joined by `-` (RFC 7043). */
export function dashedHex(size: number, noun: string): Field {
  return {
    size,
    name: undefined,
    parse(tokens: Tokens, out: RdataBuffer): void {
      const index = tokens.takeWord(noun)
      const start = tokens.starts[index]
      if (tokens.ends[index] - start !== size * 3 - 1) throw new ExpectedError(index, `expected ${noun}`)
      for (let i = 0; i < size; i++) {
        const high = hexDigit(tokens.bytes[start + 3 * i])
        const low = hexDigit(tokens.bytes[start + 3 * i + 1])
        const joined = i === size - 1 || tokens.bytes[start + 3 * i + 2] === 0x2d
        if (high < 0 || low < 0 || !joined) throw new ExpectedError(index, `expected ${noun}`)
        out.bytes[out.length++] = (high << 4) | low
      }
    },
    measure(_rdata: Uint8Array, at: number, end: number): number {
      return at + size <= end ? at + size : -1
    },
    format(rdata: Uint8Array, at: number, next: number): string {
      return Array.from(rdata.subarray(at, next), (byte) => HEX_PAIRS[byte].toLowerCase()).join('-')
    },
  }
}
