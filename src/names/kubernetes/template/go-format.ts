// Values as text, after Go's fmt: what {{ }} and `print` write, and the verbs of `printf`.

import { TemplateError } from './template-error.ts'
import type { Value } from './template-value.ts'
import { ABSENT, describe, ListValue, MapValue } from './template-value.ts'

/** As Go's %v. */
export function formatValue(value: Value): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'number':
      return formatFloat(value)
    case 'undefined':
      return '<nil>'
    case 'symbol':
      return ''
    default:
      return formatCollection(value)
  }
}

function formatCollection(value: Value): string {
  if (value instanceof ListValue) {
    const items = Array.from({ length: value.length }, (_, index) => formatValue(value.at(index)))
    return `[${items.join(' ')}]`
  }
  if (value instanceof MapValue) {
    const entries = value.keys().map((key) => `${key}:${formatValue(value.get(key))}`)
    return `map[${entries.join(' ')}]`
  }
  throw new TemplateError('an object as a whole is no text; expected one of its fields')
}

/** The shortest text that reads back as the same number; exponents as Go decides for %v. */
function formatFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  const size = Math.abs(value)
  return size !== 0 && (size < 1e-4 || size >= 1e6) ? goExponent(value.toExponential()) : plainZero(value)
}

function plainZero(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

/** At least two digits. */
function goExponent(text: string): string {
  return text.replace(/e([+-])(\d)$/u, 'e$10$2')
}

/** Operands one after the other, with spaces where neither side is text. */
export function sprint(values: readonly Value[]): string {
  return values
    .map((value, index) => {
      const before = values[index - 1]
      const spaced = index > 0 && !isText(value) && !isText(before)
      return (spaced ? ' ' : '') + formatValue(value)
    })
    .join('')
}

function isText(value: Value): boolean {
  return typeof value === 'string' || value === ABSENT
}

const VERB = /%([-+# 0]*)(\*|\d+)?(?:\.(\*|\d*))?([^])|%$/gu

interface Directive {
  readonly flags: string
  readonly width: number
  readonly precision: number | undefined
  readonly verb: string
}

export function sprintf(format: string, values: readonly Value[]): string {
  let used = 0
  const text = format.replace(
    VERB,
    (_whole, flags: string | undefined, width?: string, precision?: string, verb?: string) => {
      if (verb === undefined) return '%!(NOVERB)'
      if (verb === '%') return '%'
      const taken = (star: string | undefined) => (star === '*' ? Number(values[used++]) : Number(star ?? 0))
      const directive = {
        flags: flags ?? '',
        width: taken(width),
        precision: precision === undefined ? undefined : taken(precision),
        verb,
      }
      if (used >= values.length) return `%!${verb}(MISSING)`
      return formatOne(directive, values[used++])
    },
  )
  const extra = values
    .slice(used)
    .map((value) => (value === undefined ? '<nil>' : `${typeName(value)}=${formatValue(value)}`))
  return extra.length === 0 ? text : `${text}%!(EXTRA ${extra.join(', ')})`
}

function formatOne(directive: Directive, value: Value): string {
  const { flags, width, verb } = directive
  const body = bodyOf(directive, value)
  if (body === undefined) {
    const shown = value === undefined ? '<nil>' : `${typeName(value)}=${formatValue(value)}`
    return `%!${verb}(${shown})`
  }
  if (flags.includes('-')) return body.padEnd(width)
  const isNumber = typeof value === 'bigint' || typeof value === 'number'
  if (!flags.includes('0') || (isNumber && directive.precision !== undefined && typeof value === 'bigint'))
    return body.padStart(width)
  const sign = isNumber ? (/^[+-]/u.exec(body)?.[0] ?? '') : ''
  return sign + body.slice(sign.length).padStart(width - sign.length, '0')
}

/** Undefined: the verb does not fit the value. */
function bodyOf(directive: Directive, value: Value): string | undefined {
  const { verb, precision, flags } = directive
  if (verb === 'v') return value === undefined ? '<nil>' : signed(formatValue(value), value, flags)
  switch (typeof value) {
    case 'string':
      return textBody(directive, value)
    case 'symbol':
      return verb === 'd' ? '0' : textBody(directive, '')
    case 'boolean':
      return verb === 't' ? String(value) : undefined
    case 'bigint':
      return integerBody(directive, value)
    case 'number':
      return floatBody(verb, precision, value, flags)
    default:
      return verb === 's' && value instanceof ListValue ? formatValue(value) : undefined
  }
}

function textBody({ verb, precision, flags }: Directive, value: string): string | undefined {
  const text = precision === undefined ? value : [...value].slice(0, precision).join('')
  switch (verb) {
    case 's':
      return text
    case 'q':
      return flags.includes('#') && !text.includes('`') ? `\`${text}\`` : JSON.stringify(text)
    case 'x':
      return hexBytes(text)
    case 'X':
      return hexBytes(text).toUpperCase()
    default:
      return undefined
  }
}

function hexBytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const BASES: Readonly<Record<string, number>> = { d: 10, b: 2, o: 8, x: 16, X: 16 }
const PREFIXES: Readonly<Record<string, string>> = { b: '0b', o: '0', x: '0x', X: '0X' }

function integerBody({ verb, precision = 0, flags }: Directive, value: bigint): string | undefined {
  if (verb === 'c') return String.fromCodePoint(Number(value))
  if (verb === 'q') return `'${String.fromCodePoint(Number(value))}'`
  if (verb === 'U') return `U+${value.toString(16).toUpperCase().padStart(4, '0')}`
  const base = BASES[verb]
  if (base === undefined) return undefined
  const digits = (value < 0n ? -value : value).toString(base).padStart(precision, '0')
  const prefix = flags.includes('#') ? (PREFIXES[verb] ?? '') : ''
  const text = prefix + (verb === 'X' ? digits.toUpperCase() : digits)
  return value < 0n ? `-${text}` : signed(text, value, flags)
}

function floatBody(verb: string, precision: number | undefined, value: number, flags: string): string | undefined {
  switch (verb) {
    case 'f':
    case 'F':
      return signed(value.toFixed(precision ?? 6), value, flags)
    case 'e':
      return signed(goExponent(value.toExponential(precision ?? 6)), value, flags)
    case 'g':
      return signed(
        precision === undefined ? formatFloat(value) : String(Number(value.toPrecision(precision || 1))),
        value,
        flags,
      )
    default:
      return undefined
  }
}

function signed(text: string, value: Value, flags: string): string {
  if ((typeof value !== 'bigint' && typeof value !== 'number') || text.startsWith('-') || text.startsWith('+'))
    return text
  if (flags.includes('+')) return `+${text}`
  return flags.includes(' ') ? ` ${text}` : text
}

function typeName(value: Value): string {
  const names: Readonly<Record<string, string>> = {
    string: 'string',
    boolean: 'bool',
    bigint: 'int',
    number: 'float64',
    symbol: 'string',
  }
  return names[typeof value] ?? describe(value)
}
