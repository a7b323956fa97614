// The parameters of SVCB and HTTPS: key=value pairs, on the wire sorted by key number (RFC 9460 2.1, 2.2, 8). What
// the known keys mean is in svcb-keys.ts.

import { ExpectedError, type Tokens } from '../tokens.ts'
import { type Field, type RdataBuffer, readU16 } from './field.ts'
import { appendText, quote } from './fields/string.ts'
import { ALPN, KEYS, keyName, keyNumber, latin1, MANDATORY, NO_DEFAULT_ALPN } from './svcb-keys.ts'

export const svcParams: Field = {
  size: -1,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    const params = new Map<number, number[]>()
    const firstIndex = tokens.next
    while (tokens.next < tokens.count) {
      const index = tokens.next
      const { key, wire } = takeParam(tokens)
      if (params.has(key)) throw new ExpectedError(index, `expected the key ${keyName(key)} only once`)
      params.set(key, wire)
    }
    const missing = missingKey(new Map([...params].map(([key, wire]) => [key, Uint8Array.from(wire)])))
    if (missing !== undefined) throw new ExpectedError(firstIndex, missing)
    for (const [key, wire] of [...params].toSorted(([a], [b]) => a - b)) {
      for (const byte of [key >> 8, key & 0xff, wire.length >> 8, wire.length & 0xff]) out.bytes[out.length++] = byte
      for (const byte of wire) out.bytes[out.length++] = byte
    }
  },
  measure(rdata: Uint8Array, at: number, end: number): number {
    const params = new Map<number, Uint8Array>()
    let last = -1
    let next = at
    while (next < end) {
      const key = readU16(rdata, next)
      const valueEnd = next + 4 + readU16(rdata, next + 2)
      if (next + 4 > end || valueEnd > end || key <= last) return -1
      const wire = rdata.subarray(next + 4, valueEnd)
      if (KEYS[key]?.valid(wire) === false) return -1
      params.set(key, wire)
      last = key
      next = valueEnd
    }
    return missingKey(params) === undefined ? next : -1
  },
  format(rdata: Uint8Array, at: number, next: number): string {
    const params: string[] = []
    for (let i = at; i < next; i += 4 + readU16(rdata, i + 2)) {
      const key = readU16(rdata, i)
      const wire = rdata.subarray(i + 4, i + 4 + readU16(rdata, i + 2))
      const known = KEYS[key]
      const value = known === undefined ? formatOpaque(wire) : known.format(wire)
      params.push(value === undefined ? keyName(key) : `${keyName(key)}=${value}`)
    }
    return params.join(' ')
  },
}

/** `key`, `key=value` or `key="value"`; keyNNNNN of a known key carries its wire form. */
function takeParam(tokens: Tokens): { key: number; wire: number[] } {
  const index = tokens.take('a parameter')
  if (tokens.quoted[index] === 1) throw new ExpectedError(index, 'expected key=value')
  const start = tokens.starts[index]
  const text = tokens.bytes.subarray(start, tokens.ends[index])
  const equals = text.indexOf(0x3d)
  const keyText = latin1(equals < 0 ? text : text.subarray(0, equals))
  const key = keyNumber(keyText)
  if (key < 0) throw new ExpectedError(index, 'expected a parameter key, such as alpn or key667')
  const value = equals < 0 ? new Uint8Array(0) : takeValue(tokens, index, start + equals + 1)
  const known = KEYS[key]
  if (known?.isPlain === true && !keyText.startsWith('key') && hasEscape(tokens, index)) {
    throw new ExpectedError(index, `expected ${keyName(key)} without escapes (RFC 9460)`)
  }
  const wire = known === undefined || keyText.startsWith('key') ? [...value] : known.encode(value)
  if (wire === undefined || wire.length > 0xffff || known?.valid(Uint8Array.from(wire)) === false) {
    throw new ExpectedError(index, `expected ${keyName(key)} with ${known?.wants ?? 'a value of at most 65535 bytes'}`)
  }
  return { key, wire }
}

/** In token `index`, or in the quoted value after it that was taken with it. */
function hasEscape(tokens: Tokens, index: number): boolean {
  return tokens.bytes.subarray(tokens.starts[index], tokens.ends[tokens.next - 1]).includes(0x5c)
}

/** The bytes after `=`: the rest of token `index`, or the quoted token that touches it. */
function takeValue(tokens: Tokens, index: number, from: number): Uint8Array {
  const touching = tokens.touchesPrevious(index + 1)
  const isQuoted = touching && from === tokens.ends[index] && tokens.quoted[index + 1] === 1
  if ((touching && !isQuoted) || (isQuoted && touchesQuote(tokens, index + 2))) {
    throw new ExpectedError(index + (isQuoted ? 2 : 1), 'expected a blank after the value')
  }
  const valueIndex = isQuoted ? tokens.take('a value') : index
  const start = tokens.starts[valueIndex]
  const out = { bytes: new Uint8Array(tokens.ends[valueIndex] - start), length: 0 }
  const skip = isQuoted ? 0 : from - start
  appendText(tokens, valueIndex, out)
  return out.bytes.subarray(skip, out.length)
}

function touchesQuote(tokens: Tokens, index: number): boolean {
  return index < tokens.count && tokens.starts[index] - tokens.quoted[index] === tokens.ends[index - 1] + 1
}

/** What RFC 9460 7.1.1 and 8 demand of the set of keys. */
function missingKey(params: ReadonlyMap<number, Uint8Array>): string | undefined {
  if (params.has(NO_DEFAULT_ALPN) && !params.has(ALPN)) return 'expected alpn beside no-default-alpn'
  const mandatory = params.get(MANDATORY) ?? new Uint8Array(0)
  for (let i = 0; i < mandatory.length; i += 2) {
    const key = readU16(mandatory, i)
    if (!params.has(key)) return `expected the key ${keyName(key)}, which is mandatory`
  }
  return undefined
}

function formatOpaque(wire: Uint8Array): string | undefined {
  return wire.length === 0 ? undefined : quote(wire, 0, wire.length)
}
