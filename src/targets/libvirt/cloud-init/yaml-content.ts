// YAML as people would write it, from values with secrets in them: long texts as block scalars, short lists on one line.
// The package `yaml` knows nothing of secrets, and takes many times as long for a thousand machines.

import { Secret } from '../../../lib/secret.ts'
import { type Content, reveal } from '../../../machine/content.ts'

export type YamlValue = string | number | boolean | Secret | Block | Once | readonly YamlValue[] | YamlMap

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

/** A map in a list that is used again and again, and written once. */
export class Once {
  readonly #map: YamlMap
  readonly #written = new Map<number, Content>()

  constructor(map: YamlMap) {
    this.#map = map
  }

  at(depth: number): Content {
    const written = this.#written.get(depth) ?? Output.of((out) => writeItem(out, this.#map, depth))
    this.#written.set(depth, written)
    return written
  }
}

type Scalar = string | number | boolean | Secret

export function yamlContent(value: YamlMap): Content {
  return Output.of((out) => writeMap(out, value, 0))
}

/** Texts that follow each other become one: there is a piece for each secret, and one before, between and after them. */
class Output {
  readonly #pieces: (string | Secret)[] = []
  #text = ''

  static of(write: (out: Output) => void): Content {
    const out = new Output()
    write(out)
    return out.#text === '' ? out.#pieces : [...out.#pieces, out.#text]
  }

  text(text: string): void {
    this.#text += text
  }

  add(content: Content): void {
    for (const piece of content) {
      if (piece instanceof Secret) {
        this.#pieces.push(this.#text, piece)
        this.#text = ''
      } else this.#text += piece
    }
  }
}

/** Whether a text can be a block scalar, for every reader: no line ends but \n, nothing invisible, and something to see at its end. */
export function isBlockText(text: string): boolean {
  const lines = text.replace(/\n+$/, '')
  const last = lines.slice(lines.lastIndexOf('\n') + 1)
  return last.trim() !== '' && !UNPRINTABLE.test(text) && text.isWellFormed()
}

/** Characters that YAML does not take. */
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/
const PLAIN = /^-{0,2}[A-Za-z_/][\w./@-]*$/u
const TAKEN = /^(?:y|n|yes|no|on|off|true|false|null)$/iu

/** `first`: what stands before the first key, in place of its indentation. */
function writeMap(out: Output, map: YamlMap, depth: number, first?: string): void {
  const indent = ' '.repeat(depth)
  let before = first ?? indent
  for (const [key, value] of Object.entries(map)) {
    if (value === undefined) continue
    out.text(`${before}${key}:`)
    writeAfter(out, value, depth)
    before = indent
  }
}

/** What stands after `key:`. */
function writeAfter(out: Output, value: YamlValue, depth: number): void {
  if (isScalar(value)) {
    out.text(' ')
    writeScalar(out, value)
    out.text('\n')
  } else if (value instanceof Block) out.add(value.at(depth + 2))
  else if (Array.isArray(value)) writeList(out, value as readonly YamlValue[], depth)
  else {
    out.text('\n')
    writeMap(out, value as YamlMap, depth + 2)
  }
}

function writeList(out: Output, values: readonly YamlValue[], depth: number): void {
  if (values.every(isScalar)) {
    out.text(' ')
    writeFlow(out, values)
    out.text('\n')
    return
  }
  out.text('\n')
  for (const value of values) writeItem(out, value, depth + 2)
}

function writeItem(out: Output, value: YamlValue, depth: number): void {
  if (value instanceof Once) return out.add(value.at(depth))
  const dash = `${' '.repeat(depth)}-`
  if (isScalar(value) || value instanceof Block || Array.isArray(value)) {
    out.text(dash)
    writeAfter(out, value, depth)
  } else writeMap(out, value as YamlMap, depth + 2, `${dash} `)
}

function writeFlow(out: Output, values: readonly Scalar[]): void {
  out.text('[')
  values.forEach((value, index) => {
    if (index > 0) out.text(', ')
    writeScalar(out, value)
  })
  out.text(']')
}

function isScalar(value: YamlValue): value is Scalar {
  return typeof value !== 'object' || value instanceof Secret
}

/** Quotes are not part of a secret: with *** between them it is still YAML. */
function writeScalar(out: Output, value: Scalar): void {
  if (value instanceof Secret) out.add(['"', new Secret(quoted(value.reveal()).slice(1, -1)), '"'])
  else if (typeof value !== 'string') out.text(String(value))
  else out.text(PLAIN.test(value) && !TAKEN.test(value) ? value : quoted(value))
}

/** JSON's quotes are YAML's, but for what JSON leaves as it is and YAML does not take. */
function quoted(text: string): string {
  const json = JSON.stringify(text)
  if (!UNPRINTABLE.test(json)) return json
  return json.replace(
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
