// Corefile text to words. Words are separated by white space; a word that starts with a quote runs to the
// closing quote, where only \" is an escape; "#" starts a comment anywhere outside quotes, even inside a word.

import { reject, type Position } from './problem.ts'

export interface Token extends Position {
  readonly text: string
  /** Quoted braces and parentheses are plain text. */
  readonly quoted: boolean
  /** First word of its line: lines matter, they end a directive. */
  readonly first: boolean
}

const SPACE = /\s/u
const BYTE_ORDER_MARK = '\u{feff}'

export function readTokens(text: string, file: string): Token[] {
  const tokens: Token[] = []
  let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0
  let line = 1
  let lineStart = at
  let first = true
  while (at < text.length) {
    const char = text[at]
    if (char === '\n') {
      line++
      lineStart = ++at
      first = true
    } else if (SPACE.test(char)) {
      at++
    } else if (char === '#') {
      at = endOfLine(text, at)
    } else {
      const position = { file, line, column: at - lineStart + 1 }
      const quoted = char === '"'
      const end = quoted ? endOfQuoted(text, at, position) : endOfWord(text, at)
      const raw = text.slice(at, end)
      tokens.push({ ...position, text: quoted ? raw.slice(1, -1).replaceAll('\\"', '"') : raw, quoted, first })
      for (let index = raw.indexOf('\n'); index !== -1; index = raw.indexOf('\n', index + 1)) {
        line++
        lineStart = at + index + 1
      }
      at = end
      first = false
    }
  }
  return tokens
}

export function isOpening(token: Token | undefined): boolean {
  return token !== undefined && !token.quoted && token.text === '{'
}

export function isClosing(token: Token | undefined): boolean {
  return token !== undefined && !token.quoted && token.text === '}'
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

function endOfWord(text: string, from: number): number {
  let end = from
  while (end < text.length && text[end] !== '#' && !SPACE.test(text[end])) end++
  return end
}

function endOfQuoted(text: string, from: number, position: Position): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return reject(position, 'quote is never closed; expected a second "')
}
