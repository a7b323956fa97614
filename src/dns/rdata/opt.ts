// OPT: the pseudo-record of EDNS (RFC 6891 6.1.2). It lives in messages only: a list of options, each a code, a
// length and a value. Zone files refuse it before any text is read.

import { ExpectedError, type Tokens } from '../tokens.ts'
import { type Field, type RdataType, readU16 } from './field.ts'

const options: Field = {
  size: -1,
  name: undefined,
  parse(tokens: Tokens): void {
    throw new ExpectedError(tokens.next, 'expected \\# (RFC 3597): OPT has no text form')
  },
  measure(rdata: Uint8Array, at: number, end: number): number {
    let next = at
    while (next + 4 <= end) next += 4 + readU16(rdata, next + 2)
    return next === end ? next : -1
  },
  format(): string {
    return ''
  },
}

export const opt: RdataType = { fields: [options] }
