// How directives read their words. Each reader takes a token and either returns the value or rejects the
// place with what was wanted, so that a directive's own file is only its syntax and its defaults.

import { RCODE } from '../../dns/types.ts'
import { parseDuration } from '../../document/notation.ts'
import { suggestion } from '../../lib/closest.ts'
import type { HttpAddress } from '../config.ts'
import { parseHttpAddress } from '../notation.ts'
import type { Token } from './lexer.ts'
import { reject } from './problem.ts'
import type { Statement } from './syntax.ts'

/** The arguments, `min` to `max` of them; `usage` is shown when there are more or less. */
export function readArguments({ name, args }: Statement, usage: string, min: number, max = min): readonly Token[] {
  if (args.length >= min && args.length <= max) return args
  const at = args.length > max ? args[max] : name
  const count = args.length === 1 ? '1 argument' : `${args.length} arguments`
  return reject(at, `"${name.text}" has ${count}; expected ${usage}`)
}

type OptionReaders = Readonly<Record<string, (statement: Statement) => void>>

/** Hands each line of a directive's block to the reader of its name. */
export function readOptions({ name, block }: Statement, readers: OptionReaders): void {
  for (const option of block) {
    const word = option.name.text
    if (!Object.hasOwn(readers, word))
      reject(option.name, `unknown option "${word}" of ${name.text}; ${known(word, readers)}`)
    readers[word](option)
    if (option.block.length > 0) reject(option.block[0].name, `"${word}" has a block; expected none`)
  }
}

export function refuseBlock(statement: Statement): void {
  readOptions(statement, {})
}

/** `did you mean "x"?`, or the beginning of the list of known words. */
export function known(word: string, table: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(table).sort()
  if (names.length === 0) return 'expected no block'
  return suggestion(word, names)
}

/** Go's notation (`1h30m`, `500ms`, `0`), in milliseconds. */
export function readDuration(token: Token, minMs = 0): number {
  const ms = parseDuration(token.text)
  if (ms === undefined) {
    const hint = /^\d+$/u.test(token.text) ? `a unit, such as ${token.text}s` : 'one such as 30s, 500ms or 1h30m'
    return reject(token, `"${token.text}" is not a duration; expected ${hint}`)
  }
  if (ms < minMs || ms > Number.MAX_SAFE_INTEGER) {
    reject(token, `"${token.text}" is out of range; expected at least ${minMs / 1000}s`)
  }
  return ms
}

export function readInteger(token: Token, min: number, max = 2 ** 31 - 1): number {
  const value = /^\d{1,10}$/u.test(token.text) ? Number(token.text) : Number.NaN
  if (value >= min && value <= max) return value
  return reject(token, `"${token.text}" is not a number from ${min} to ${max}; expected such a number`)
}

/** Index in RCODE by name, any letter case. */
export function readRcode(token: Token): number {
  const name = token.text.toUpperCase()
  if (Object.hasOwn(RCODE, name)) return RCODE[name as keyof typeof RCODE]
  return reject(token, `"${token.text}" is not an rcode; ${known(name, RCODE)}`)
}

/** `host:port`, `[::1]:port` or `:port`. */
export function readHttpAddress(token: Token): HttpAddress {
  const wanted = `"${token.text}" is not an address; expected ADDRESS:PORT or :PORT`
  return parseHttpAddress(token.text) ?? reject(token, wanted)
}
