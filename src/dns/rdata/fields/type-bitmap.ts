// The list of types in NSEC, NSEC3 and CSYNC: windows of 256 types, each a bitmap without trailing zero bytes
// (RFC 4034 4.1.2).

import { ExpectedError, type Tokens } from '../../tokens.ts'
import { typeFromBytes, typeName } from '../../types.ts'
import type { Field, RdataBuffer } from '../field.ts'

/** The types to the end of the rdata, at least `minimum` of them. */
export function typeBitmap(minimum: 0 | 1): Field {
  return {
    size: -1,
    name: undefined,
    parse(tokens: Tokens, out: RdataBuffer): void {
      if (minimum > 0 && tokens.next === tokens.count) tokens.take('the types at this name')
      const types: number[] = []
      for (; tokens.next < tokens.count; tokens.next++) {
        const index = tokens.next
        const type = typeFromBytes(tokens.bytes, tokens.starts[index], tokens.ends[index])
        if (type < 0) throw new ExpectedError(index, 'expected a record type, such as A or TYPE123')
        types.push(type)
      }
      appendBitmap(types, out)
    },
    measure(rdata: Uint8Array, at: number, end: number): number {
      if (end - at < minimum) return -1
      let last = -1
      let next = at
      while (next < end) {
        const length = rdata[next + 1]
        if (next + 2 > end || rdata[next] <= last || length < 1 || length > 32 || next + 2 + length > end) return -1
        if (rdata[next + 1 + length] === 0) return -1
        last = rdata[next]
        next += 2 + length
      }
      return next
    },
    format(rdata: Uint8Array, at: number, next: number): string {
      return bitmapTypes(rdata, at, next).map(typeName).join(' ')
    },
  }
}

function appendBitmap(types: readonly number[], out: RdataBuffer): void {
  const sorted = types.toSorted((a, b) => a - b)
  let window = -1
  let windowAt = 0
  for (const type of sorted) {
    if (type >> 8 !== window) {
      window = type >> 8
      windowAt = out.length
      out.bytes[windowAt] = window
      out.bytes[windowAt + 1] = 0
      out.length += 2
    }
    const byteAt = windowAt + 2 + ((type & 0xff) >> 3)
    while (out.length <= byteAt) out.bytes[out.length++] = 0
    out.bytes[byteAt] |= 0x80 >> (type & 7)
    out.bytes[windowAt + 1] = out.length - windowAt - 2
  }
}

/** The types of a well-formed bitmap, ascending. */
function bitmapTypes(rdata: Uint8Array, at: number, end: number): number[] {
  const types: number[] = []
  for (let window = at; window < end; window += 2 + rdata[window + 1]) {
    for (let bit = 0; bit < rdata[window + 1] * 8; bit++) {
      if (rdata[window + 2 + (bit >> 3)] & (0x80 >> (bit & 7))) types.push((rdata[window] << 8) | bit)
    }
  }
  return types
}
