// A domain name inside rdata, uncompressed.

import { encodeNameText, formatName, nameLength, nameProblem } from '../../name.ts'
import { ExpectedError, type Tokens } from '../../tokens.ts'
import type { Field, NameUse, RdataBuffer } from '../field.ts'

/** Of the RFC 1035 types: may be compressed, and has a canonical form in lower case. */
const CLASSIC: NameUse = { compress: true, lower: true }
/** Of the types RFC 4034 6.2 lists, newer than compression. */
const LOWERED: NameUse = { compress: false, lower: true }
const OPAQUE: NameUse = { compress: false, lower: false }

function nameField(noun: string, use: NameUse): Field {
  return {
    size: -1,
    name: use,
    parse(tokens: Tokens, out: RdataBuffer): void {
      const index = tokens.takeWord(noun)
      const start = tokens.starts[index]
      const length = encodeNameText(tokens.bytes, start, tokens.ends[index], tokens.origin, out.bytes, out.length)
      if (length < 0) throw new ExpectedError(index, `expected ${noun}: ${nameProblem(length)}`)
      out.length += length
    },
    measure(rdata: Uint8Array, at: number, end: number): number {
      const length = nameLength(rdata, at, end)
      return length < 0 ? -1 : at + length
    },
    format: formatName,
  }
}

export function name(noun: string): Field {
  return nameField(noun, CLASSIC)
}

export function uncompressedName(noun: string): Field {
  return nameField(noun, LOWERED)
}

export function opaqueName(noun: string): Field {
  return nameField(noun, OPAQUE)
}
