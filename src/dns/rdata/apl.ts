// APL: a list of address prefixes, each perhaps negated (RFC 3123). Trailing zero bytes of an address are left out.

import { ExpectedError, type Tokens } from '../tokens.ts'
import { type Field, type RdataBuffer, type RdataType, readU16 } from './field.ts'
import { formatIpv4, formatIpv6, readIpv4, readIpv6 } from './fields/address.ts'
import { readDecimal } from './fields/number.ts'

const ADDRESS_SIZE: Readonly<Record<number, number>> = { 1: 4, 2: 16 }

const prefixes: Field = {
  size: -1,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    for (; tokens.next < tokens.count; tokens.next++) {
      if (!appendPrefix(tokens.bytes, tokens.starts[tokens.next], tokens.ends[tokens.next], out)) {
        throw new ExpectedError(tokens.next, 'expected a prefix such as 1:192.0.2.0/24 or !2:2001:db8::/32')
      }
    }
  },
  measure(rdata: Uint8Array, at: number, end: number): number {
    let next = at
    while (next < end) {
      const size = ADDRESS_SIZE[readU16(rdata, next)]
      const length = rdata[next + 3] & 0x7f
      if (next + 4 > end || size === undefined || rdata[next + 2] > size * 8) return -1
      if (length > size || next + 4 + length > end || (length > 0 && rdata[next + 3 + length] === 0)) return -1
      next += 4 + length
    }
    return next
  },
  format(rdata: Uint8Array, at: number, next: number): string {
    const items: string[] = []
    for (let i = at; i < next; i += 4 + (rdata[i + 3] & 0x7f)) {
      const family = readU16(rdata, i)
      const address = new Uint8Array(16)
      address.set(rdata.subarray(i + 4, i + 4 + (rdata[i + 3] & 0x7f)))
      const text = family === 1 ? formatIpv4(address, 0) : formatIpv6(address, 0)
      items.push(`${rdata[i + 3] & 0x80 ? '!' : ''}${family}:${text}/${rdata[i + 2]}`)
    }
    return items.join(' ')
  },
}

function appendPrefix(bytes: Uint8Array, start: number, end: number, out: RdataBuffer): boolean {
  const negated = bytes[start] === 0x21
  const familyAt = negated ? start + 1 : start
  const family = bytes[familyAt] - 0x30
  const size = ADDRESS_SIZE[family]
  const slash = bytes.indexOf(0x2f, familyAt)
  if (size === undefined || bytes[familyAt + 1] !== 0x3a || slash < 0 || slash >= end) return false
  const bits = readDecimal(bytes, slash + 1, end, size * 8)
  const address = new Uint8Array(16)
  const read = family === 1 ? readIpv4 : readIpv6
  if (bits < 0 || !read(bytes, familyAt + 2, slash, address, 0)) return false
  const length = address.findLastIndex((byte) => byte !== 0) + 1
  for (const byte of [0, family, bits, length | (negated ? 0x80 : 0), ...address.subarray(0, length)]) {
    out.bytes[out.length++] = byte
  }
  return true
}

export const apl: RdataType = { fields: [prefixes] }
