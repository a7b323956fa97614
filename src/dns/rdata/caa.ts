// CAA: which certification authorities may issue for this name (RFC 8659 4.1).

import { ExpectedError, type Tokens } from '../tokens.ts'
import type { Field, RdataBuffer, RdataType } from './field.ts'
import { u8 } from './fields/number.ts'
import { textToEnd } from './fields/string.ts'

/** One or more ASCII letters and digits behind a length byte, never in quotes. */
const tag: Field = {
  size: -1,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    const index = tokens.takeWord('a property tag, such as issue')
    const start = tokens.starts[index]
    const length = tokens.ends[index] - start
    out.bytes[out.length] = length
    for (let i = 0; i < length; i++) out.bytes[out.length + 1 + i] = tokens.bytes[start + i]
    if (length > 255 || !isTag(tokens.bytes, start, start + length)) {
      throw new ExpectedError(index, 'expected a property tag of 1 to 255 letters and digits, such as issue')
    }
    out.length += 1 + length
  },
  measure(rdata: Uint8Array, at: number, end: number): number {
    const next = at + 1 + rdata[at]
    return at < end && next <= end && isTag(rdata, at + 1, next) ? next : -1
  },
  format(rdata: Uint8Array, at: number, next: number): string {
    return String.fromCharCode(...rdata.subarray(at + 1, next))
  },
}

function isTag(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const letter = bytes[i] & 0xdf
    if (!(bytes[i] >= 0x30 && bytes[i] <= 0x39) && !(letter >= 0x41 && letter <= 0x5a)) return false
  }
  return to > from
}

export const caa: RdataType = { fields: [u8('flags'), tag, textToEnd('a value', { mustQuote: false })] }
