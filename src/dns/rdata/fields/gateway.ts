// A gateway or relay whose form an earlier byte says: none, an IPv4 address, an IPv6 address or a name (RFC 4025 2.5,
// RFC 8777 4.2.3).

import { encodeNameText, formatName, nameLength, nameProblem } from '../../name.ts'
import { ExpectedError, type Tokens } from '../../tokens.ts'
import type { Field, RdataBuffer } from '../field.ts'
import { formatIpv4, formatIpv6, readIpv4, readIpv6 } from './address.ts'

/** Its form is in the lowest 7 bits of byte `formAt`. */
export function gateway(formAt: number, noun: string, forms: readonly [string, string, string, string]): Field {
  return {
    size: -1,
    name: undefined,
    parse(tokens: Tokens, out: RdataBuffer): void {
      const form = out.bytes[formAt] & 0x7f
      const index = tokens.takeWord(noun)
      const length = form > 3 ? -1 : append(form, tokens, index, out)
      if (length < 0) throw new ExpectedError(index, `expected ${forms[form] ?? 'a type from 0 to 3 before it'}`)
      out.length += length
    },
    measure(rdata: Uint8Array, at: number, end: number): number {
      const form = rdata[formAt] & 0x7f
      if (at > end || form > 3) return -1
      const length = form === 3 ? nameLength(rdata, at, end) : [0, 4, 16][form]
      return length < 0 || at + length > end ? -1 : at + length
    },
    format(rdata: Uint8Array, at: number): string {
      const form = rdata[formAt] & 0x7f
      if (form === 0) return '.'
      return form === 1 ? formatIpv4(rdata, at) : form === 2 ? formatIpv6(rdata, at) : formatName(rdata, at)
    },
  }
}

/** The number of bytes, or -1. */
function append(form: number, tokens: Tokens, index: number, out: RdataBuffer): number {
  const { bytes, starts, ends, origin } = tokens
  const [start, end] = [starts[index], ends[index]]
  if (form === 0) return end - start === 1 && bytes[start] === 0x2e ? 0 : -1
  if (form === 1) return readIpv4(bytes, start, end, out.bytes, out.length) ? 4 : -1
  if (form === 2) return readIpv6(bytes, start, end, out.bytes, out.length) ? 16 : -1
  const length = encodeNameText(bytes, start, end, origin, out.bytes, out.length)
  if (length < 0) throw new ExpectedError(index, `expected a name: ${nameProblem(length)}`)
  return length
}
