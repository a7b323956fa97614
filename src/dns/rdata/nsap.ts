// NSAP: an OSI network address, written 0x and hexadecimal digits with dots anywhere between them (RFC 1706).

import { ExpectedError, type Tokens } from '../tokens.ts'
import type { Field, RdataBuffer, RdataType } from './field.ts'
import { hexDigit } from './fields/address.ts'
import { formatHex } from './fields/encoded.ts'

const WANTS = 'expected 0x and an even number of hexadecimal digits, dots between them allowed'

const address: Field = {
  size: -1,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    const index = tokens.takeWord('an NSAP address')
    const text = tokens.text(index)
    if (!/^0x(?:\.*[0-9a-f]){2,}\.*$/iu.test(text)) throw new ExpectedError(index, WANTS)
    const digits = text.slice(2).replaceAll('.', '')
    if (digits.length % 2 !== 0) throw new ExpectedError(index, WANTS)
    for (let i = 0; i < digits.length; i += 2) {
      out.bytes[out.length++] = (hexDigit(digits.charCodeAt(i)) << 4) | hexDigit(digits.charCodeAt(i + 1))
    }
  },
  measure: (_rdata, at, end) => (at < end ? end : -1),
  format: (rdata, at, next) => `0x${formatHex(rdata, at, next).toLowerCase()}`,
}

export const nsap: RdataType = { fields: [address] }
