// YAML as people would write it, from values with secrets in them: long texts as block scalars, short lists on one line.
// The package `yaml` knows nothing of secrets, and takes many times as long for a thousand machines.

import { Secret } from '../../../lib/secret.ts'
import { type Content, reveal } from '../../../machine/content.ts'

export type YamlValue = string | number | boolean | Secret | Block | readonly YamlValue[] | YamlMap

/** What is undefined is left out. */
export interface YamlMap {
  readonly [key: string]: YamlValue | undefined
}

/** A text over several lines. One that is used again and again is written once. */
export class Block {
  readonly #content: Content
  readonly #written = new Map<number, Content>()

  constructor(content: Content) {
    this.#content = content
  }

  at(depth: number): Content {
    const written = this.#written.get(depth) ?? block(this.#content, depth)
    this.#written.set(depth, written)
    return written
  }
}

type Scalar = string | number | boolean | Secret

export function yamlContent(value: YamlMap): Content {
  return lines(value, 0).flat()
}

/** Whether a text can be a block scalar, for every reader: no line ends but \n, nothing invisible, and something to see at its end. */
export function isBlockText(text: string): boolean {
  const lines = text.replace(/\n+$/, '')
  const last = lines.slice(lines.lastIndexOf('\n') + 1)
  return last.trim() !== '' && !UNPRINTABLE.test(text) && text.isWellFormed()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that YAML does not take.
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/
const PLAIN = /^-{0,2}[A-Za-z_/][\w./@-]*$/u
const TAKEN = /^(?:y|n|yes|no|on|off|true|false|null)$/iu

function lines(map: YamlMap, depth: number): Content[] {
  const indent = ' '.repeat(depth)
  return Object.entries(map).flatMap(([key, value]): Content[] => {
    if (value === undefined) return []
    return [[`${indent}${key}:`], ...after(value, depth)]
  })
}

/** What stands after `key:`. */
function after(value: YamlValue, depth: number): Content[] {
  if (isScalar(value)) return [[' ', ...scalar(value), '\n']]
  if (value instanceof Block) return [value.at(depth + 2)]
  if (Array.isArray(value)) return list(value as readonly YamlValue[], depth)
  return [['\n'], ...lines(value as YamlMap, depth + 2)]
}

function list(values: readonly YamlValue[], depth: number): Content[] {
  if (values.every(isScalar)) return [[' ', ...flow(values), '\n']]
  return [['\n'], ...values.flatMap((value) => item(value, depth + 2))]
}

function item(value: YamlValue, depth: number): Content[] {
  const dash = `${' '.repeat(depth)}-`
  if (typeof value !== 'object' || value instanceof Secret || value instanceof Block || Array.isArray(value))
    return [[dash], ...after(value, depth)]
  const [[first, ...rest], ...others] = lines(value as YamlMap, depth + 2)
  return [[`${dash}${(first as string).slice(depth + 1)}`, ...rest], ...others]
}

function flow(values: readonly Scalar[]): Content {
  return ['[', ...values.flatMap((value, index) => (index === 0 ? scalar(value) : [', ', ...scalar(value)])), ']']
}

function isScalar(value: YamlValue): value is Scalar {
  return typeof value !== 'object' || value instanceof Secret
}

/** Quotes are not part of a secret: with *** between them it is still YAML. */
function scalar(value: Scalar): Content {
  if (value instanceof Secret) return ['"', new Secret(quoted(value.reveal()).slice(1, -1)), '"']
  if (typeof value !== 'string') return [String(value)]
  return [PLAIN.test(value) && !TAKEN.test(value) ? value : quoted(value)]
}

/** JSON's quotes are YAML's, but for what JSON leaves as it is and YAML does not take. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    new RegExp(UNPRINTABLE, 'g'),
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function block(content: Content, depth: number): Content {
  const text = reveal(content)
  const indent = ' '.repeat(depth)
  // Without a number a reader would take the indentation of the first line that has some text for that of all.
  const explicit = /^[ \n]/u.test(text) ? '2' : ''
  const end = /(?:^|[^\n])\n$/u.test(text) ? '' : text.endsWith('\n') ? '+' : '-'
  const indented = indentedPieces(content, indent)
  return [` |${explicit}${end}\n`, ...indented, text.endsWith('\n') ? '' : '\n']
}

/**
 * Each line gets its indentation where it begins, which may be within any piece; empty lines get none. Neither indentation
 * nor the last line end are part of a secret: with *** in its place it is still YAML.
 */
function indentedPieces(content: Content, indent: string): Content {
  let atLineStart = true
  return content.flatMap((piece): Content => {
    const text = piece instanceof Secret ? piece.reveal() : piece
    if (text === '') return []
    const begin = atLineStart && !text.startsWith('\n') ? indent : ''
    atLineStart = text.endsWith('\n')
    if (!(piece instanceof Secret)) return [begin, indentedLines(text, indent)]
    const inner = text.replace(/\n+$/, '')
    return [begin, new Secret(indentedLines(inner, indent)), text.slice(inner.length)]
  })
}

function indentedLines(text: string, indent: string): string {
  return text.replace(/\n(?!\n|$)/g, `\n${indent}`)
}
