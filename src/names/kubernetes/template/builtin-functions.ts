// The functions that every Go template has, but `and` and `or`, which do not work out all of their arguments.

import { formatValue, sprint, sprintf } from './go-format.ts'
import { TemplateError } from './template-error.ts'
import type { Value } from './template-value.ts'
import { ABSENT, describe, isTrue, ListValue, MapValue } from './template-value.ts'

export interface TemplateFunction {
  readonly fewest: number
  readonly most: number
  /** The source that the object comes from is told along. */
  readonly call: (args: readonly Value[], source: string) => Value
}

export const BUILTINS: Readonly<Record<string, TemplateFunction>> = {
  not: { fewest: 1, most: 1, call: ([value]) => !isTrue(value) },
  len: { fewest: 1, most: 1, call: ([value]) => BigInt(lengthOf(value)) },
  index: { fewest: 1, most: Infinity, call: ([value, ...keys]) => keys.reduce(indexed, present(value, 'index')) },
  slice: { fewest: 1, most: 4, call: ([value, ...bounds]) => sliced(value, bounds) },
  print: { fewest: 0, most: Infinity, call: (values) => sprint(values) },
  println: { fewest: 0, most: Infinity, call: (values) => `${values.map(formatValue).join(' ')}\n` },
  printf: { fewest: 1, most: Infinity, call: ([format, ...values]) => sprintf(textOf(format, 'printf'), values) },
  html: { fewest: 0, most: Infinity, call: (values) => htmlEscaped(sprint(values.map(printable))) },
  js: { fewest: 0, most: Infinity, call: (values) => jsEscaped(sprint(values.map(printable))) },
  urlquery: { fewest: 0, most: Infinity, call: (values) => queryEscaped(sprint(values.map(printable))) },
  eq: { fewest: 1, most: Infinity, call: ([value, ...others]) => equalsAny(value, others) },
  ne: { fewest: 2, most: 2, call: ([a, b]) => !areEqual(a, b) },
  lt: { fewest: 2, most: 2, call: ([a, b]) => isLess(a, b) },
  le: { fewest: 2, most: 2, call: ([a, b]) => isLess(a, b) || areEqual(a, b) },
  gt: { fewest: 2, most: 2, call: ([a, b]) => !isLess(a, b) && !areEqual(a, b) },
  ge: { fewest: 2, most: 2, call: ([a, b]) => !isLess(a, b) },
}

/** The text of an argument that has to be one. */
export function textOf(value: Value, what: string): string {
  if (value === ABSENT) return ''
  if (typeof value !== 'string') throw new TemplateError(`${what} got ${describe(value)}; expected text`)
  return value
}

function present(value: Value, what: string): Value {
  if (value === undefined) throw new TemplateError(`${what} got nothing; expected a list or a map`)
  return value
}

function lengthOf(value: Value): number {
  if (value === ABSENT) return 0
  if (typeof value === 'string') return bytesOf(value).length
  if (value instanceof ListValue) return value.length
  if (value instanceof MapValue) return value.size
  throw new TemplateError(`len got ${describe(value)}; expected text, a list or a map`)
}

function indexed(value: Value, key: Value): Value {
  if (value === ABSENT) return ABSENT
  if (value instanceof MapValue) return value.indexed(textOf(key, 'index of a map'))
  if (value instanceof ListValue) return value.at(position(key, value.length - 1))
  if (typeof value === 'string') {
    const bytes = bytesOf(value)
    return BigInt(bytes[position(key, bytes.length - 1)])
  }
  throw new TemplateError(`index got ${describe(value)}; expected a list or a map`)
}

function sliced(value: Value, bounds: readonly Value[]): Value {
  const item = present(value, 'slice')
  if (item === ABSENT) return ABSENT
  if (typeof item === 'string' ? bounds.length > 2 : !(item instanceof ListValue))
    throw new TemplateError(`slice got ${describe(item)} and ${bounds.length} bounds; expected text or a list`)
  const length = lengthOf(item)
  const [from = 0, to = length, limit = length] = bounds.map((bound) => position(bound, length))
  if (from > to || to > limit) throw new TemplateError(`slice got the bounds ${from} and ${to}; expected them in order`)
  if (item instanceof ListValue) return item.slice(from, to)
  return new TextDecoder().decode(bytesOf(item as string).subarray(from, to))
}

function position(value: Value, last: number): number {
  if (typeof value !== 'bigint') throw new TemplateError(`index got ${describe(value)}; expected an integer`)
  if (value < 0n || value > BigInt(last)) throw new TemplateError(`index ${value} is out of range`)
  return Number(value)
}

function equalsAny(value: Value, others: readonly Value[]): boolean {
  if (others.length === 0) throw new TemplateError('eq got one value; expected something to compare it with')
  return others.some((other) => areEqual(value, other))
}

function areEqual(a: Value, b: Value): boolean {
  if (a === undefined || b === undefined) return a === b
  const [left, right] = alike(a, b)
  if (typeof left !== typeof right) throw notComparable(left, right)
  if (typeof left === 'object') throw notComparable(left, right)
  return left === right
}

function isLess(a: Value, b: Value): boolean {
  const [left, right] = alike(a, b)
  if (left === ABSENT) return false
  const comparable = typeof left === 'string' || typeof left === 'bigint' || typeof left === 'number'
  if (!comparable || typeof left !== typeof right) throw notComparable(left, right)
  return (left as string) < (right as string)
}

/** An absent field is the zero of whatever it is compared with. */
function alike(a: Value, b: Value): [Value, Value] {
  return [a === ABSENT ? zeroLike(b) : a, b === ABSENT ? zeroLike(a) : b]
}

function zeroLike(value: Value): Value {
  switch (typeof value) {
    case 'string':
      return ''
    case 'bigint':
      return 0n
    case 'number':
      return 0
    case 'boolean':
      return false
    default:
      return ABSENT
  }
}

function notComparable(a: Value, b: Value): TemplateError {
  return new TemplateError(`${describe(a)} and ${describe(b)} cannot be compared`)
}

function printable(value: Value): Value {
  return value === undefined ? '<no value>' : value
}

const HTML: Readonly<Record<string, string>> = {
  ...{ '"': '&#34;', "'": '&#39;', '&': '&amp;', '<': '&lt;', '>': '&gt;', '\0': '\u{fffd}' },
}

function htmlEscaped(text: string): string {
  // oxlint-disable-next-line no-control-regex -- Go replaces it, too
  return text.replaceAll(/["'&<>\0]/gu, (character) => HTML[character] ?? character)
}

function jsEscaped(text: string): string {
  return text.replaceAll(/[\\'"<>&=\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    if ('\\\'"'.includes(character)) return `\\${character}`
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  })
}

function queryEscaped(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll(/[!'()*]/gu, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
