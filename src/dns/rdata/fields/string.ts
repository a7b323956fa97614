// Character strings (a length byte and up to 255 bytes) and text that runs to the end of the rdata.

import { readEscape } from '../../name.ts'
import { ExpectedError, type Tokens } from '../../tokens.ts'
import type { Field, RdataBuffer } from '../field.ts'

/** Appends the bytes of token `index` with its escapes resolved, and returns how many. */
export function appendText(tokens: Tokens, index: number, out: RdataBuffer): number {
  const bytes = tokens.bytes
  const end = tokens.ends[index]
  const into = out.bytes
  let to = out.length
  for (let i = tokens.starts[index]; i < end; i++) {
    let c = bytes[i]
    if (c === 0x5c) {
      const escape = readEscape(bytes, i, end)
      if (escape < 0) throw new ExpectedError(index, 'expected an escape \\DDD (000 to 255) or \\ and one character')
      c = escape & 0xff
      i += escape >> 8
    }
    into[to++] = c
  }
  const length = to - out.length
  out.length = to
  return length
}

/** The bytes between quotes, as BIND prints them. */
export function quote(rdata: Uint8Array, from: number, to: number): string {
  let text = '"'
  for (let i = from; i < to; i++) text += QUOTED_CHARACTERS[rdata[i]]
  return `${text}"`
}

const QUOTED_CHARACTERS: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
  return byte < 0x20 || byte > 0x7e ? `\\${String(byte).padStart(3, '0')}` : String.fromCharCode(byte)
})

function appendString(tokens: Tokens, out: RdataBuffer, noun: string): void {
  const index = tokens.take(noun)
  const lengthAt = out.length++
  const length = appendText(tokens, index, out)
  if (length > 255) throw new ExpectedError(index, `expected ${noun} of at most 255 bytes, found ${length}`)
  out.bytes[lengthAt] = length
}

function measureString(rdata: Uint8Array, at: number, end: number): number {
  const next = at + 1 + rdata[at]
  return at < end && next <= end ? next : -1
}

export function characterString(noun: string): Field {
  return {
    size: -1,
    name: undefined,
    parse(tokens: Tokens, out: RdataBuffer): void {
      appendString(tokens, out, noun)
    },
    measure: measureString,
    format(rdata: Uint8Array, at: number, next: number): string {
      return quote(rdata, at + 1, next)
    },
  }
}

/** A string that may be missing at the end. */
export function optionalString(noun: string): Field {
  const field = characterString(noun)
  return {
    ...field,
    parse(tokens: Tokens, out: RdataBuffer): void {
      if (tokens.next < tokens.count) field.parse(tokens, out)
    },
    measure: (rdata, at, end) => (at === end ? at : measureString(rdata, at, end)),
    format: (rdata, at, next) => (at === next ? '' : field.format(rdata, at, next)),
  }
}

/** One string or more, to the end. */
export function characterStrings(noun: string): Field {
  return {
    size: -1,
    name: undefined,
    parse(tokens: Tokens, out: RdataBuffer): void {
      do appendString(tokens, out, noun)
      while (tokens.next < tokens.count)
    },
    measure(rdata: Uint8Array, at: number, end: number): number {
      let next = measureString(rdata, at, end)
      while (next >= 0 && next < end) next = measureString(rdata, next, end)
      return next
    },
    format(rdata: Uint8Array, at: number, next: number): string {
      const strings: string[] = []
      for (let i = at; i < next; i += rdata[i] + 1) strings.push(quote(rdata, i + 1, i + 1 + rdata[i]))
      return strings.join(' ')
    },
  }
}

/** Text without a length byte, to the end of the rdata. */
export function textToEnd(noun: string, options: { readonly mustQuote: boolean }): Field {
  return {
    size: -1,
    name: undefined,
    parse(tokens: Tokens, out: RdataBuffer): void {
      const index = tokens.take(noun)
      if (options.mustQuote && tokens.quoted[index] === 0) throw new ExpectedError(index, `expected ${noun} in quotes`)
      appendText(tokens, index, out)
    },
    measure(_rdata: Uint8Array, at: number, end: number): number {
      return at <= end ? end : -1
    },
    format: quote,
  }
}
