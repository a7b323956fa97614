// Reading, checking and printing the rdata of any type, driven by the field lists of table.ts.

import { lowerByte, nameLength } from '../name.ts'
import { ExpectedError, type Tokens } from '../tokens.ts'
import { typeName } from '../types.ts'
import { MAX_RDATA_LENGTH, type RdataBuffer } from './field.ts'
import { appendHex, formatHex } from './fields/encoded.ts'
import { readDecimal } from './fields/number.ts'
import { RDATA_TYPES } from './table.ts'

/** A buffer for `parseRdata`, meant to be used again and again. */
export function newRdataBuffer(): RdataBuffer {
  return { bytes: new Uint8Array(MAX_RDATA_LENGTH), length: 0 }
}

/** Reads the remaining tokens as rdata of `type` into `out`; throws ExpectedError. */
export function parseRdata(type: number, tokens: Tokens, out: RdataBuffer): void {
  out.length = 0
  const known = RDATA_TYPES.get(type)
  const first = tokens.next
  if (isGeneric(tokens)) {
    parseGeneric(tokens, out)
  } else if (known === undefined) {
    throw new ExpectedError(first, `expected \\# and the bytes (RFC 3597), as ${typeName(type)} has no other text form`)
  } else {
    for (const field of known.fields) field.parse(tokens, out)
    if (tokens.next < tokens.count) {
      throw new ExpectedError(tokens.next, `expected the end of the ${typeName(type)} record`)
    }
    if (known.check === undefined && out.length <= MAX_RDATA_LENGTH) return
  }
  const problem =
    out.length > MAX_RDATA_LENGTH
      ? `expected at most ${MAX_RDATA_LENGTH} bytes of rdata, found ${out.length}`
      : rangeProblem(type, out.bytes, out.length)
  if (problem !== undefined) throw new ExpectedError(first, problem)
}

function isGeneric(tokens: Tokens): boolean {
  const at = tokens.starts[tokens.next]
  return (
    tokens.next < tokens.count &&
    tokens.bytes[at] === 0x5c &&
    tokens.bytes[at + 1] === 0x23 &&
    tokens.ends[tokens.next] === at + 2 &&
    tokens.quoted[tokens.next] === 0
  )
}

/** `\# length hexadecimal…` (RFC 3597 5). */
function parseGeneric(tokens: Tokens, out: RdataBuffer): void {
  tokens.next++
  const index = tokens.takeWord('the length of the rdata')
  const length = readDecimal(tokens.bytes, tokens.starts[index], tokens.ends[index], MAX_RDATA_LENGTH)
  if (length < 0) throw new ExpectedError(index, `expected the length of the rdata, 0 to ${MAX_RDATA_LENGTH}`)
  const found = appendHex(tokens, out, 'rdata')
  if (found !== length) throw new ExpectedError(index, `expected ${length} bytes of rdata, found ${found}`)
}

/** What is wrong with wire rdata of `type`, or undefined. An unknown type takes any bytes. */
export function validateRdata(type: number, rdata: Uint8Array): string | undefined {
  return rangeProblem(type, rdata, rdata.length)
}

function rangeProblem(type: number, rdata: Uint8Array, end: number): string | undefined {
  const known = RDATA_TYPES.get(type)
  if (known === undefined) return undefined
  let at = 0
  for (const field of known.fields) {
    at = field.measure(rdata, at, end)
    if (at < 0) return `expected well-formed ${typeName(type)} rdata, found ${end} bytes that are not`
  }
  if (at !== end) return `expected ${at} bytes of ${typeName(type)} rdata, found ${end}`
  return known.check?.(rdata, end)
}

/** One line of text, with absolute names; rdata that does not fit its type is printed as opaque bytes. */
export function formatRdata(type: number, rdata: Uint8Array): string {
  const known = RDATA_TYPES.get(type)
  if (known === undefined || validateRdata(type, rdata) !== undefined) return formatGeneric(rdata)
  const parts: string[] = []
  let at = 0
  for (const field of known.fields) {
    const next = field.measure(rdata, at, rdata.length)
    const text = field.format(rdata, at, next)
    if (text !== '') parts.push(text)
    at = next
  }
  return parts.length === 0 ? formatGeneric(rdata) : parts.join(' ')
}

function formatGeneric(rdata: Uint8Array): string {
  return rdata.length === 0 ? '\\# 0' : `\\# ${rdata.length} ${formatHex(rdata, 0, rdata.length)}`
}

/** Where the domain names of a type's rdata are: `count` of them, one after the other. */
export interface NameLayout {
  /** Offset of the first, or -1 when it follows fields of varying size: see `nameOffset`. */
  readonly offset: number
  readonly count: number
  readonly compress: boolean
  readonly lower: boolean
}

const NAME_LAYOUTS: ReadonlyMap<number, NameLayout> = new Map(
  [...RDATA_TYPES].flatMap(([type, { fields }]) => {
    const first = fields.findIndex((field) => field.name !== undefined)
    if (first < 0) return []
    const sizes = fields.slice(0, first).map((field) => field.size)
    const offset = sizes.includes(-1) ? -1 : sizes.reduce((sum, size) => sum + size, 0)
    const count = fields.filter((field) => field.name !== undefined).length
    return [[type, { offset, count, ...fields[first].name! }]]
  }),
)

/** The names in rdata of `type`, or undefined when it has none. */
export function rdataNames(type: number): NameLayout | undefined {
  return NAME_LAYOUTS.get(type)
}

/** Offset of the first name in well-formed rdata of `type`, or -1. */
export function nameOffset(type: number, rdata: Uint8Array): number {
  const layout = NAME_LAYOUTS.get(type)
  if (layout === undefined || layout.offset >= 0) return layout?.offset ?? -1
  let at = 0
  for (const field of RDATA_TYPES.get(type)?.fields ?? []) {
    if (field.name !== undefined) break
    at = field.measure(rdata, at, rdata.length)
  }
  return at
}

/** A copy with names in lower case where the canonical form wants it (RFC 4034 6.2). */
export function canonicalRdata(type: number, rdata: Uint8Array): Uint8Array {
  const copy = rdata.slice()
  const layout = NAME_LAYOUTS.get(type)
  if (layout === undefined || !layout.lower) return copy
  let at = nameOffset(type, rdata)
  for (let name = 0; name < layout.count; name++) {
    // Length bytes are below 64 and so never look like letters.
    for (const end = at + nameLength(copy, at); at < end; at++) copy[at] = lowerByte(copy[at])
  }
  return copy
}
