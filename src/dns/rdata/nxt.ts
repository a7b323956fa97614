// NXT: the ancestor of NSEC, with one bitmap of the types below 128 (RFC 2535 5; obsolete).

import { ExpectedError, type Tokens } from '../tokens.ts'
import { typeFromBytes, typeName } from '../types.ts'
import type { Field, RdataBuffer, RdataType } from './field.ts'
import { uncompressedName } from './fields/name.ts'

const TYPES = 128

const bitmap: Field = {
  size: -1,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    const bits = new Uint8Array(TYPES / 8)
    if (tokens.next === tokens.count) tokens.take('the types at this name')
    for (; tokens.next < tokens.count; tokens.next++) {
      const type = typeFromBytes(tokens.bytes, tokens.starts[tokens.next], tokens.ends[tokens.next])
      if (type < 1 || type >= TYPES) throw new ExpectedError(tokens.next, 'expected a type from 1 to 127, such as A')
      bits[type >> 3] |= 0x80 >> (type & 7)
    }
    const length = bits.findLastIndex((byte) => byte !== 0) + 1
    for (let i = 0; i < length; i++) out.bytes[out.length++] = bits[i]
  },
  measure(rdata: Uint8Array, at: number, end: number): number {
    // The first bit would be type 0, or a bitmap of another form.
    const isBitmap = at < end && end - at <= TYPES / 8 && rdata[end - 1] !== 0 && rdata[at] < 0x80
    return isBitmap ? end : -1
  },
  format(rdata: Uint8Array, at: number, next: number): string {
    const types: string[] = []
    for (let type = 0; type < (next - at) * 8; type++) {
      if (rdata[at + (type >> 3)] & (0x80 >> (type & 7))) types.push(typeName(type))
    }
    return types.join(' ')
  },
}

export const nxt: RdataType = { fields: [uncompressedName('the next name'), bitmap] }
