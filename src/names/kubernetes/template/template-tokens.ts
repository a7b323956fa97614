// Cuts a template into tokens as Go's text/template does: text outside of {{ }}, words inside. `{{- ` and ` -}}` trim the
// text beside them, comments vanish. Spaces are tokens, because they separate operands: `.A.B` is not `.A .B`.

import { TemplateError } from './template-error.ts'

export type TokenKind =
  | ('text' | 'open' | 'close' | 'space' | 'end')
  | ('word' | 'field' | 'dot' | 'variable' | 'number' | 'char' | 'string' | 'raw' | 'symbol')

export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly at: number
}

const SPACE_BEFORE = /[ \t\r\n]+$/
const COMMENT = /(?:-[ \t\r\n])?\/\*/y
const COMMENT_END = /\*\/([ \t\r\n]-)?\}\}/y
const CLOSE = /([ \t\r\n]-)?\}\}/y
const TRIM = /-(?=[ \t\r\n])/y
const SPACES = /[ \t\r\n]*/y
const TERMINATOR = /[ \t\r\n.,|:)(]|\}\}|$/y

/** The order decides: a number before a field, `:=` before `:`. */
const INSIDE: readonly (readonly [TokenKind, RegExp])[] = [
  ['number', /[+-]?\.?\d(?:[eEpP][+-]|[\p{L}\p{Nd}_.])*/uy],
  ['field', /\.[\p{L}\p{Nd}_]+/uy],
  ['dot', /\./y],
  ['variable', /\$[\p{L}\p{Nd}_]*/uy],
  ['word', /[\p{L}\p{Nd}_]+/uy],
  ['string', /"(?:[^"\\\n]|\\[^\n])*"/uy],
  ['raw', /`[^`]*`/y],
  ['char', /'(?:[^'\\\n]|\\[^\n])*'/uy],
  ['symbol', /:=|[=|(),]/y],
]

const NEEDS_TERMINATOR: ReadonlySet<TokenKind> = new Set(['field', 'dot', 'variable', 'word'])
const UNTERMINATED: Readonly<Record<string, string>> = { '"': '"', '`': '`', "'": "'" }

export function tokensOf(template: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  let trimNext = false
  while (at < template.length) {
    const brace = template.indexOf('{{', at)
    const end = brace < 0 ? template.length : brace
    const opening = end + 2
    const trimsBefore = brace >= 0 && match(TRIM, template, opening) !== undefined
    pushText(tokens, template, { from: trimNext ? skipSpaces(template, at) : at, to: end, trimsBefore })
    if (brace < 0) break
    const inside =
      match(COMMENT, template, opening) === undefined
        ? readAction(tokens, template, { brace, from: trimsBefore ? opening + 1 : opening })
        : readComment(template, brace)
    at = inside.end
    trimNext = inside.trims
  }
  tokens.push({ kind: 'end', text: '', at: template.length })
  return tokens
}

function pushText(
  tokens: Token[],
  template: string,
  { from, to, trimsBefore }: { from: number; to: number; trimsBefore: boolean },
): void {
  const raw = template.slice(from, Math.max(from, to))
  const text = trimsBefore ? raw.replace(SPACE_BEFORE, '') : raw
  if (text !== '') tokens.push({ kind: 'text', text, at: from })
}

/** Where reading goes on, and whether the spaces there count. */
interface Ending {
  readonly end: number
  readonly trims: boolean
}

function readComment(template: string, brace: number): Ending {
  const closing = template.indexOf('*/', template.indexOf('/*', brace) + 2)
  if (closing < 0) throw new TemplateError('a comment is not closed; expected */}}', brace)
  const ending = match(COMMENT_END, template, closing)
  if (ending === undefined) throw new TemplateError('a comment does not fill its braces; expected */}}', closing)
  return { end: closing + ending.length, trims: ending.length > 4 }
}

function readAction(tokens: Token[], template: string, { brace, from }: { brace: number; from: number }): Ending {
  tokens.push({ kind: 'open', text: '{{', at: brace })
  let at = from
  for (;;) {
    const closing = match(CLOSE, template, at)
    if (closing !== undefined) {
      tokens.push({ kind: 'close', text: '}}', at })
      return { end: at + closing.length, trims: closing.length > 2 }
    }
    if (at >= template.length) throw new TemplateError('it ends inside of {{; expected }}', at)
    const token = readSpace(template, at) ?? readToken(template, at)
    tokens.push(token)
    at += token.text.length
  }
}

/** A space before `-}}` belongs to it. */
function readSpace(template: string, at: number): Token | undefined {
  let end = skipSpaces(template, at)
  if (end === at) return undefined
  if (end - at > 1 && match(CLOSE, template, end - 1) !== undefined) end -= 1
  return { kind: 'space', text: template.slice(at, end), at }
}

function readToken(template: string, at: number): Token {
  for (const [kind, pattern] of INSIDE) {
    const text = match(pattern, template, at)
    if (text === undefined || text === '') continue
    const end = at + text.length
    if (NEEDS_TERMINATOR.has(kind) && match(TERMINATOR, template, end) === undefined)
      throw new TemplateError(
        `${quoted(template, end)} stands directly after ${JSON.stringify(text)}; expected a space`,
        end,
      )
    return { kind, text, at }
  }
  const first = template[at] ?? ''
  if (first in UNTERMINATED) throw new TemplateError(`a text that begins with ${first} is not closed`, at)
  throw new TemplateError(`${quoted(template, at)} means nothing inside of {{ }}`, at)
}

function quoted(template: string, at: number): string {
  return JSON.stringify(String.fromCodePoint(template.codePointAt(at) ?? 0))
}

function skipSpaces(template: string, at: number): number {
  return at + (match(SPACES, template, at) ?? '').length
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}
