// Literals as Go writes them: "text\n", 'c', 42, 0x2a, 1_000, 2.5e3.

import { TemplateError } from './template-error.ts'

const ESCAPE = /\\(?:([abfnrtv\\'"])|x([\da-fA-F]{2})|([0-7]{3})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([^]))|[^\\]+/gu
const CONTROL: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  ...{ '\\': '\\', "'": "'", '"': '"' },
}

/** The text inside of quotes; the lexer has seen to it that they are there. */
export function unquote(quoted: string, at: number): string {
  const quote = quoted[0]
  const bytes: number[] = []
  const encoder = new TextEncoder()
  for (const [whole, control, hex, octal, short, long, unknown] of quoted.slice(1, -1).matchAll(ESCAPE)) {
    // Each quote is escaped only in its own kind of literal.
    if (unknown !== undefined || (control !== quote && (control === "'" || control === '"')))
      throw new TemplateError(`${whole} is not an escape that Go knows`, at)
    const point = short ?? long
    if (hex !== undefined) bytes.push(Number.parseInt(hex, 16))
    else if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 0xff)
    else bytes.push(...encoder.encode(point === undefined ? (CONTROL[control ?? ''] ?? whole) : character(point, at)))
  }
  return new TextDecoder().decode(Uint8Array.from(bytes))
}

function character(hex: string, at: number): string {
  const code = Number.parseInt(hex, 16)
  if (code > 0x10_ff_ff || (code >= 0xd8_00 && code < 0xe0_00))
    throw new TemplateError(`${hex} is not the number of a character`, at)
  return String.fromCodePoint(code)
}

/** The number of the character. */
export function parseChar(quoted: string, at: number): bigint {
  const [first, ...others] = unquote(quoted, at)
  if (first === undefined || others.length > 0) throw new TemplateError(`${quoted} is not one character`, at)
  return BigInt(first.codePointAt(0) ?? 0)
}

const INTEGER = /^[+-]?(?:0[xX](?:_?[\da-fA-F])+|0[bB](?:_?[01])+|0[oO]?(?:_?[0-7])+|0|[1-9](?:_?\d)*)$/u
const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u
const LARGEST = 2n ** 63n

/** Integers as bigint, others as number: Go's templates tell them apart. */
export function parseNumber(text: string, at: number): bigint | number {
  if (INTEGER.test(text)) {
    const digits = text.replaceAll('_', '').replace(/^[+-]/u, '')
    const value = BigInt(digits.replace(/^0(?=\d)/u, '0o')) * (text.startsWith('-') ? -1n : 1n)
    if (value < -LARGEST || value >= LARGEST) throw new TemplateError(`${text} is too large`, at)
    return value
  }
  if (FLOAT.test(text) && /[.eE]/u.test(text)) return Number(text)
  throw new TemplateError(`${JSON.stringify(text)} is not a number`, at)
}
