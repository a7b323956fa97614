// A regular expression as Corefiles have it (Go's RE2 syntax) to one of ours. What both understand alike passes;
// what only differs in spelling is respelled; what Go refuses (look-around, back references) is refused.

import { messageOf } from '../../lib/errors.ts'
import type { Token } from './lexer.ts'
import { reject } from './problem.ts'

/** CoreDNS's limit. */
const MAX_LENGTH = 10_000

const POSIX_CLASSES: ReadonlyMap<string, string> = new Map([
  ['alnum', '0-9A-Za-z'],
  ['alpha', 'A-Za-z'],
  ['ascii', '\\x00-\\x7f'],
  ['blank', '\\t '],
  ['cntrl', '\\x00-\\x1f\\x7f'],
  ['digit', '0-9'],
  ['graph', '!-~'],
  ['lower', 'a-z'],
  ['print', ' -~'],
  ['punct', '!-\\/:-@\\[-`\\{-~'],
  ['space', '\\t\\n\\v\\f\\r '],
  ['upper', 'A-Z'],
  ['word', '0-9A-Za-z_'],
  ['xdigit', '0-9A-Fa-f'],
])

/** Go's escapes outside of letters that mean themselves: same spelling here, or another one. */
const ESCAPES: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...'dDwWsSbBfnrtv'].map((letter) => [letter, `\\${letter}`])),
  a: '\\x07',
  A: '(?<![\\s\\S])',
  z: '(?![\\s\\S])',
}

export function goRegExp(token: Token): RegExp {
  if (token.text.length > MAX_LENGTH) reject(token, `the pattern is too long; wanted: at most ${MAX_LENGTH} characters`)
  try {
    const flags = /^\(\?([ims]+)\)/u.exec(token.text)
    const source = rewrite(token.text.slice(flags?.[0].length ?? 0), RULES)
    return new RegExp(source, [...new Set(`u${flags?.[1] ?? ''}`)].join(''))
  } catch (error) {
    return reject(token, `"${token.text}" is not a regular expression (${messageOf(error)}); wanted: one in Go syntax`)
  }
}

export function captureGroups(pattern: RegExp): number {
  return (new RegExp(`${pattern.source}|`, pattern.flags).exec('')?.length ?? 1) - 1
}

type Rule = readonly [RegExp, (match: RegExpExecArray) => string]

/** The first rule that fits the rest of the pattern says what to write for the part it matched. */
const ESCAPE_RULES: readonly Rule[] = [
  [/^\\Q(.*?)(?:\\E|$)/su, ([, literal]) => [...literal].map(escapeLiteral).join('')],
  [/^\\x\{([0-9A-Fa-f]{1,6})\}/u, ([, hex]) => `\\u{${hex}}`],
  [/^\\x[0-9A-Fa-f]{2}/u, ([whole]) => whole],
  [/^\\([pP])(?:([A-Z])|\{(\^?)(\w+)\})/u, ([, kind, letter, not, name]) => property(kind, letter ?? name, not)],
]

const CLASS_RULES: readonly Rule[] = [
  [/^\[:(\w+):\]/u, ([, name]) => POSIX_CLASSES.get(name) ?? refuse(`unknown class [:${name}:]`)],
  ...ESCAPE_RULES,
  [/^\\([dDwWsSfnrtva])/u, ([, letter]) => ESCAPES[letter]],
  [/^\\(.)/su, ([, char]) => plainEscape(char)],
  [/^[[\]]/u, ([char]) => `\\${char}`],
  [/^./su, ([char]) => char],
]

const RULES: readonly Rule[] = [
  ...ESCAPE_RULES,
  [/^\\(.)/su, ([, char]) => ESCAPES[char] ?? plainEscape(char)],
  [/^\(\?P?<(\w+)>/u, ([, name]) => `(?<${name}>`],
  [/^\(\?:/u, ([whole]) => whole],
  [/^\(\?/u, () => refuse('"(?" with something other than ":", "<name>" or leading flags')],
  [/^\[(\^?)(\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]/su, ([, not, body]) => `[${not}${rewrite(body, CLASS_RULES)}]`],
  [/^\{\d+(?:,\d*)?\}/u, ([whole]) => whole],
  [/^[{}\]]/u, ([char]) => `\\${char}`],
  [/^./su, ([char]) => char],
]

function rewrite(text: string, rules: readonly Rule[]): string {
  let output = ''
  for (let rest = text; rest !== ''; ) {
    for (const [pattern, respell] of rules) {
      const match = pattern.exec(rest)
      if (match === null) continue
      output += respell(match)
      rest = rest.slice(match[0].length)
      break
    }
  }
  return output
}

function property(kind: string, name: string, not: string | undefined): string {
  const letter = (not === '^') === (kind === 'p') ? 'P' : 'p'
  return `\\${letter}{${name.length <= 2 ? name : `Script=${name}`}}`
}

function plainEscape(char: string): string {
  return /[A-Za-z0-9]/u.test(char) ? refuse(`unknown escape \\${char}`) : escapeLiteral(char)
}

function escapeLiteral(char: string): string {
  return /[\^$\\.*+?()[\]{}|/-]/u.test(char) ? `\\x${char.charCodeAt(0).toString(16)}` : char
}

function refuse(what: string): never {
  throw new SyntaxError(what)
}
