// Values of PostgreSQL's parameters as the server reads them: units, booleans and enums, so that `1GB` and `1024MB` are the
// same value. The rules are those of PostgreSQL's guc.c.

import type { ServerSetting } from './server-setting.ts'

const BYTES: Readonly<Record<string, number>> = { B: 1, kB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 }
const MICROSECONDS: Readonly<Record<string, number>> = {
  us: 1,
  ms: 1000,
  s: 1_000_000,
  min: 60_000_000,
  h: 3_600_000_000,
  d: 86_400_000_000,
}
const NUMBER =
  /^\s*(?<number>[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?))\s*(?<unit>[a-zA-Z]*)\s*$/u
const BASE_UNIT = /^(?<count>\d*)(?<unit>[a-zA-Z]+)$/u
/** Former names of values, which the server still takes. */
const ALIASES: Readonly<Record<string, string>> = { archive: 'replica', hot_standby: 'replica' }

/** The value in the base unit of the parameter, as pg_settings has it; undefined when the server would refuse the text. */
export function normalValue(setting: ServerSetting, text: string): string | undefined {
  switch (setting.type) {
    case 'bool':
      return parseBoolean(text)
    case 'enum':
      return parseChoice(setting.choices, text)
    case 'string':
      return text
    default:
      return parseNumber(setting, text)
  }
}

export function parseBoolean(text: string): 'on' | 'off' | undefined {
  const word = text.trim().toLowerCase()
  if (word === '') return undefined
  if (word === '1' || word === 'on' || 'true'.startsWith(word) || 'yes'.startsWith(word)) return 'on'
  if (word === '0' || word === 'of' || word === 'off' || 'false'.startsWith(word) || 'no'.startsWith(word)) return 'off'
  return undefined
}

function parseChoice(choices: readonly string[], text: string): string | undefined {
  const word = text.trim().toLowerCase()
  const same = choices.find((choice) => choice.toLowerCase() === word)
  if (same !== undefined) return same
  const other = ALIASES[word] ?? parseBoolean(word)
  return other !== undefined && choices.includes(other) ? other : undefined
}

function parseNumber({ type, unit: base, minimum, maximum }: ServerSetting, text: string): string | undefined {
  const { number = '', unit = '' } = NUMBER.exec(text)?.groups ?? {}
  const factor = factorOf(unit, base)
  if (number === '' || factor === undefined) return undefined
  const exact = Number(number) * factor
  const value = type === 'integer' ? Math.round(exact) : exact
  if (!Number.isFinite(value)) return undefined
  if ((minimum !== undefined && value < minimum) || (maximum !== undefined && value > maximum)) return undefined
  return String(value)
}

/** How many base units one of the unit is; undefined when it is no unit of that parameter. */
function factorOf(unit: string, base: string | undefined): number | undefined {
  if (unit === '') return 1
  const { count = '', unit: baseUnit = '' } = BASE_UNIT.exec(base ?? '')?.groups ?? {}
  for (const sizes of [BYTES, MICROSECONDS]) {
    const [one, whole] = [sizes[unit], sizes[baseUnit]]
    if (one !== undefined && whole !== undefined) return one / (whole * Number(count || 1))
  }
  return undefined
}

/** Where no server can be asked: whether two texts are surely the same value. */
export function isSameText(one: string, other: string): boolean {
  return one === other || canonical(one) === canonical(other)
}

function canonical(text: string): string {
  const { number, unit = '' } = NUMBER.exec(text)?.groups ?? {}
  if (number === undefined) return parseBoolean(text) ?? text.trim().toLowerCase()
  if (unit in BYTES) return `${Number(number) * BYTES[unit]} bytes`
  if (unit in MICROSECONDS) return `${Number(number) * MICROSECONDS[unit]} microseconds`
  return `${Number(number)}${unit}`
}
