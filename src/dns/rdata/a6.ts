// A6: an IPv6 address in parts: the last bits of it, and the name that has the others (RFC 2874 3.1; historic).

import { encodeNameText, formatName, nameLength, nameProblem } from '../name.ts'
import { ExpectedError, type Tokens } from '../tokens.ts'
import type { Field, RdataBuffer, RdataType } from './field.ts'
import { formatIpv6, readIpv6 } from './fields/address.ts'
import { readDecimal } from './fields/number.ts'

/** The parts depend on the first of them: no address for 128 bits of prefix, no name for none. */
const chain: Field = {
  size: -1,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    const lengthIndex = tokens.takeWord('a prefix length')
    const bits = readDecimal(tokens.bytes, tokens.starts[lengthIndex], tokens.ends[lengthIndex], 128)
    if (bits < 0) throw new ExpectedError(lengthIndex, 'expected a prefix length, 0 to 128')
    out.bytes[out.length++] = bits
    if (bits < 128) {
      const index = tokens.takeWord('an address suffix')
      const address = new Uint8Array(16)
      if (!readIpv6(tokens.bytes, tokens.starts[index], tokens.ends[index], address, 0)) {
        throw new ExpectedError(index, 'expected an address suffix, written as an IPv6 address')
      }
      address[bits >> 3] &= 0xff >> (bits & 7)
      for (const byte of address.subarray(bits >> 3)) out.bytes[out.length++] = byte
    }
    if (bits > 0) {
      const index = tokens.takeWord('a prefix name')
      const { starts, ends, origin, bytes } = tokens
      const length = encodeNameText(bytes, starts[index], ends[index], origin, out.bytes, out.length)
      if (length < 0) throw new ExpectedError(index, `expected a prefix name: ${nameProblem(length)}`)
      out.length += length
    }
  },
  measure(rdata: Uint8Array, at: number, end: number): number {
    const bits = rdata[at]
    if (at >= end || bits > 128) return -1
    const nameAt = at + 1 + suffixLength(bits)
    if (nameAt > end || (bits < 128 && rdata[at + 1] & ~(0xff >> (bits & 7)))) return -1
    if (bits === 0) return nameAt
    const length = nameLength(rdata, nameAt, end)
    return length < 0 ? -1 : nameAt + length
  },
  format(rdata: Uint8Array, at: number, next: number): string {
    const bits = rdata[at]
    const nameAt = at + 1 + suffixLength(bits)
    const address = new Uint8Array(16)
    address.set(rdata.subarray(at + 1, nameAt), 16 - suffixLength(bits))
    const parts = [String(bits), bits < 128 ? formatIpv6(address, 0) : '', bits > 0 ? formatName(rdata, nameAt) : '']
    return next > at ? parts.filter((part) => part !== '').join(' ') : ''
  },
}

function suffixLength(bits: number): number {
  return 16 - (bits >> 3)
}

export const a6: RdataType = { fields: [chain] }
