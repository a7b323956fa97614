// IPv4 and IPv6 addresses, read from bytes and printed the way inet_ntop does (RFC 5952, with the dotted tail for
// IPv4-mapped and IPv4-compatible addresses).

import { ExpectedError, type Tokens } from '../../tokens.ts'
import { type Field, type RdataBuffer, readU16 } from '../field.ts'

/** Reads a dotted quad without leading zeros into 4 bytes of `out`; false when it is none. */
export function readIpv4(bytes: Uint8Array, start: number, end: number, out: Uint8Array, at: number): boolean {
  let octets = 0
  let value = -1
  for (let i = start; i < end; i++) {
    const c = bytes[i]
    if (c === 0x2e) {
      if (value < 0 || octets === 3) return false
      out[at + octets++] = value
      value = -1
      continue
    }
    const digit = c - 0x30
    if (digit < 0 || digit > 9 || value === 0) return false
    value = value < 0 ? digit : value * 10 + digit
    if (value > 255) return false
  }
  if (octets !== 3 || value < 0) return false
  out[at + 3] = value
  return true
}

/** Reads an IPv6 address into 16 bytes of `out`; false when it is none. */
export function readIpv6(bytes: Uint8Array, start: number, end: number, out: Uint8Array, at: number): boolean {
  let filled = 0
  let gap = -1
  let i = start
  if (end - start >= 2 && bytes[start] === 0x3a) {
    if (bytes[start + 1] !== 0x3a) return false
    gap = 0
    i += 2
  }
  while (i < end) {
    if (filled === 16) return false
    let value = 0
    let digits = 0
    const groupAt = i
    for (; i < end && bytes[i] !== 0x3a && bytes[i] !== 0x2e; i++, digits++) {
      const digit = hexDigit(bytes[i])
      if (digit < 0 || digits === 4) return false
      value = (value << 4) | digit
    }
    if (i < end && bytes[i] === 0x2e) {
      if (filled > 12 || !readIpv4(bytes, groupAt, end, out, at + filled)) return false
      filled += 4
      break
    }
    if (digits === 0) return false
    out[at + filled] = value >> 8
    out[at + filled + 1] = value
    filled += 2
    if (i === end) break
    if (++i === end) return false
    if (bytes[i] === 0x3a) {
      if (gap >= 0) return false
      gap = filled
      i++
    }
  }
  if (gap < 0) return filled === 16
  if (filled > 14) return false
  out.copyWithin(at + 16 - (filled - gap), at + gap, at + filled)
  out.fill(0, at + gap, at + 16 - (filled - gap))
  return true
}

/** Value of a hexadecimal digit, or -1. */
export function hexDigit(c: number): number {
  if (c >= 0x30 && c <= 0x39) return c - 0x30
  const letter = c & 0xdf
  return letter >= 0x41 && letter <= 0x46 ? letter - 0x37 : -1
}

export function formatIpv4(rdata: Uint8Array, at: number): string {
  return `${rdata[at]}.${rdata[at + 1]}.${rdata[at + 2]}.${rdata[at + 3]}`
}

export function formatIpv6(rdata: Uint8Array, at: number): string {
  const groups = Array.from({ length: 8 }, (_, i) => readU16(rdata, at + 2 * i))
  const { from, length } = longestZeroRun(groups)
  const dotted = from === 0 && (length === 6 || (length === 7 && groups[7] !== 1) || isMapped(groups, length))
  const tail = dotted ? [formatIpv4(rdata, at + 12)] : groups.slice(from + length).map(hexGroup)
  if (length === 0) return tail.join(':')
  if (dotted) return length === 5 ? `::ffff:${tail}` : `::${tail}`
  return `${groups.slice(0, from).map(hexGroup).join(':')}::${tail.join(':')}`
}

function isMapped(groups: readonly number[], zeros: number): boolean {
  return zeros === 5 && groups[5] === 0xffff
}

function hexGroup(group: number): string {
  return group.toString(16)
}

/** The first of the longest runs of two or more zero groups; length 0 when there is none. */
function longestZeroRun(groups: readonly number[]): { from: number; length: number } {
  let best = { from: 0, length: 1 }
  for (let from = 0; from < groups.length; from++) {
    let length = 0
    while (groups[from + length] === 0) length++
    if (length > best.length) best = { from, length }
    from += length
  }
  return best.length > 1 ? best : { from: 0, length: 0 }
}

function addressField(
  size: number,
  noun: string,
  read: typeof readIpv4,
  format: (rdata: Uint8Array, at: number) => string,
): Field {
  return {
    size,
    name: undefined,
    parse(tokens: Tokens, out: RdataBuffer): void {
      const index = tokens.takeWord(noun)
      if (!read(tokens.bytes, tokens.starts[index], tokens.ends[index], out.bytes, out.length)) {
        throw new ExpectedError(index, `expected ${noun}`)
      }
      out.length += size
    },
    measure(_rdata: Uint8Array, at: number, end: number): number {
      return at + size <= end ? at + size : -1
    },
    format,
  }
}

export function ipv4(noun: string): Field {
  return addressField(4, noun, readIpv4, formatIpv4)
}

export function ipv6(noun: string): Field {
  return addressField(16, noun, readIpv6, formatIpv6)
}

/** Four groups of hexadecimal digits, none left out (RFC 6742 2.1.2). */
export function halfIpv6(noun: string): Field {
  return addressField(8, noun, readGroups, (rdata, at) =>
    Array.from({ length: 4 }, (_, i) => hexGroup(readU16(rdata, at + 2 * i))).join(':'),
  )
}

function readGroups(bytes: Uint8Array, start: number, end: number, out: Uint8Array, at: number): boolean {
  let group = 0
  let digits = 0
  let value = 0
  for (let i = start; i <= end; i++) {
    if (i < end && bytes[i] !== 0x3a) {
      const digit = hexDigit(bytes[i])
      if (digit < 0 || ++digits > 4) return false
      value = (value << 4) | digit
      continue
    }
    if (digits === 0 || group === 4) return false
    out[at + 2 * group] = value >> 8
    out[at + 2 * group++ + 1] = value
    value = digits = 0
  }
  return group === 4
}
