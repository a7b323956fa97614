// $GENERATE start-stop[/step] lhs [ttl] [class] type rhs, as BIND has it: writes one line of zone file per number.
// In a template `$` is the number, `$$` a dollar sign, `\$` stays escaped, and `${offset[,width[,base]]}` prints the
// number plus offset, padded with zeros, as d(ecimal), o(ctal), x or X (hexadecimal), n or N (reversed nibbles).

import { ExpectedError, type Tokens } from '../tokens.ts'

const MAX_RECORDS = 1_000_000
const MAX_NUMBER = 0x7fffffff
const MAX_WIDTH = 255

/** A piece of a template: literal text, or the number in some shape. */
type Piece = string | { readonly offset: number; readonly width: number; readonly base: string }

/** The numbers and the line to make for each of them. */
export interface Generator {
  readonly start: number
  readonly stop: number
  readonly step: number
  readonly line: (value: number) => string
}

/** Reads the arguments of the directive: token 0 is `$GENERATE`. */
export function parseGenerate(tokens: Tokens): Generator {
  tokens.next = 1
  const rangeIndex = tokens.take('a range, such as 1-100')
  const range = /^([0-9]{1,10})-([0-9]{1,10})(?:\/([0-9]{1,10}))?$/.exec(tokens.text(rangeIndex))
  const [start, stop, step] = [Number(range?.[1]), Number(range?.[2]), Number(range?.[3] ?? 1)]
  if (range === null || stop > MAX_NUMBER || start > stop || step < 1 || step > MAX_NUMBER) {
    throw new ExpectedError(rangeIndex, `expected a range start-stop or start-stop/step, 0 to ${MAX_NUMBER}`)
  }
  if ((stop - start) / step >= MAX_RECORDS) {
    throw new ExpectedError(rangeIndex, `expected at most ${MAX_RECORDS} records`)
  }
  const lhsIndex = tokens.take('an owner template')
  const pieces = parseTemplate(tokens, lhsIndex)
  if (tokens.next === tokens.count) tokens.take('a type and a data template')
  for (let index = tokens.next; index < tokens.count; index++) {
    const isWholeData = index === tokens.count - 1 && tokens.quoted[index] === 1 && !isQuotedAt(tokens, index - 1)
    const mark = tokens.quoted[index] === 1 && !isWholeData ? '"' : ''
    pieces.push(` ${mark}`, ...parseTemplate(tokens, index), mark)
  }
  const line = (value: number) => expand(pieces, value, lhsIndex)
  line(start)
  line(stop)
  return { start, stop, step, line }
}

function isQuotedAt(tokens: Tokens, index: number): boolean {
  return tokens.quoted[index] === 1
}

function parseTemplate(tokens: Tokens, index: number): Piece[] {
  const text = tokens.text(index)
  const pieces: Piece[] = []
  let literal = ''
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') literal += text[i] + (text[++i] ?? '')
    else if (text[i] !== '$') literal += text[i]
    else if (text[i + 1] === '$') {
      literal += '\\$'
      i++
    } else {
      const end = text[i + 1] === '{' ? text.indexOf('}', i) : 0
      if (end < 0) throw new ExpectedError(index, 'expected "}" after "${"')
      const shape = end > 0 ? text.slice(i + 2, end) : undefined
      pieces.push(literal, shape === undefined ? { offset: 0, width: 0, base: 'd' } : parseShape(shape, index))
      literal = ''
      i += shape === undefined ? 0 : shape.length + 2
    }
  }
  pieces.push(literal)
  return pieces
}

function parseShape(text: string, index: number): Piece {
  const match = /^(-?[0-9]{1,10})(?:,([0-9]{1,3})(?:,([doxXnN]))?)?$/.exec(text)
  const [offset, width] = [Number(match?.[1]), Number(match?.[2] ?? 0)]
  if (match === null || Math.abs(offset) > MAX_NUMBER || width > MAX_WIDTH) {
    throw new ExpectedError(index, 'expected ${offset[,width[,base]]} with a base of d, o, x, X, n or N')
  }
  return { offset, width, base: match[3] ?? 'd' }
}

function expand(pieces: readonly Piece[], value: number, index: number): string {
  let line = ''
  for (const piece of pieces) {
    if (typeof piece === 'string') line += piece
    else if (value + piece.offset > MAX_NUMBER) {
      throw new ExpectedError(index, `expected numbers of at most ${MAX_NUMBER} after the offset is added`)
    } else line += formatNumber(value + piece.offset, piece.width, piece.base)
  }
  return line
}

/** A negative number is printed as 32 bits of two's complement in every base but ten. */
function formatNumber(value: number, width: number, base: string): string {
  const bits = value >>> 0
  switch (base) {
    case 'o':
      return bits.toString(8).padStart(width, '0')
    case 'x':
      return bits.toString(16).padStart(width, '0')
    case 'X':
      return bits.toString(16).toUpperCase().padStart(width, '0')
    case 'n':
      return nibbles(bits.toString(16), width)
    case 'N':
      return nibbles(bits.toString(16).toUpperCase(), width)
    default:
      return value < 0 ? `-${String(-value).padStart(width - 1, '0')}` : String(value).padStart(width, '0')
  }
}

/** Digits in reverse with dots between; the dots count towards the width, so an even width ends in one. */
function nibbles(hex: string, width: number): string {
  const digits = hex.padStart(Math.ceil(width / 2), '0')
  const text = [...digits].reverse().join('.')
  return text.length < width ? `${text}.` : text
}
