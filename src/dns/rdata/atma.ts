// ATMA: an ATM address, either hexadecimal digits with dots between them, or + and an E.164 number (ATM Name System 5).

import { ExpectedError, type Tokens } from '../tokens.ts'
import { digitsProblem } from './digits.ts'
import type { Field, RdataBuffer, RdataType } from './field.ts'
import { hexDigit } from './fields/address.ts'
import { formatHex } from './fields/encoded.ts'

const AESA = 0
const E164 = 1

const address: Field = {
  size: -1,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    const index = tokens.takeWord('an ATM address')
    const text = tokens.text(index)
    const isNumber = /^\+(?:[0-9]\.?)+$/u.test(text)
    if (!isNumber && !/^(?:[0-9a-f]{2}\.?)+$/iu.test(text)) {
      throw new ExpectedError(index, 'expected an ATM address: hexadecimal digits, or + and decimal digits')
    }
    const digits = text.replaceAll(/[.+]/gu, '')
    out.bytes[out.length++] = isNumber ? E164 : AESA
    if (isNumber) for (const digit of digits) out.bytes[out.length++] = digit.charCodeAt(0)
    else
      for (let i = 0; i < digits.length; i += 2) {
        out.bytes[out.length++] = (hexDigit(digits.charCodeAt(i)) << 4) | hexDigit(digits.charCodeAt(i + 1))
      }
  },
  measure: (_rdata, at, end) => (at + 1 < end ? end : -1),
  format(rdata: Uint8Array, at: number, next: number): string {
    if (rdata[at] === AESA) return formatHex(rdata, at + 1, next).toLowerCase()
    return `+${String.fromCharCode(...rdata.subarray(at + 1, next))}`
  },
}

export const atma: RdataType = {
  fields: [address],
  check(rdata, end) {
    if (rdata[0] === AESA) return undefined
    return rdata[0] === E164 ? digitsProblem(rdata, 1, end, 1, 'an E.164 number') : 'expected address format 0 or 1'
  },
}
