// Regexps as Go writes them (RE2 syntax), for yes-or-no questions about names. Most is the same in JavaScript; this puts
// the rest into its words and refuses what has none. Flags other than `i` make no difference: a name is one line.

import { HoldfastError, messageOf } from '../../lib/errors.ts'

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
}

/** What a pattern is made of; in this order, the first that matches counts. */
const TOKEN = new RegExp(
  [
    String.raw`\\Q(?<quoted>.*?)(?:\\E|$)`,
    String.raw`\\x\{(?<code>[\dA-Fa-f]+)\}`,
    String.raw`\\(?<property>[pP])(?:\{(?<script>\w+)\}|(?<category>[A-Z]))`,
    String.raw`\\(?<escaped>.)`,
    String.raw`\[:(?<negated>\^?)(?<posix>[a-z]+):\]`,
    String.raw`\(\?(?<flags>[imsU-]+)(?<flagsEnd>[:)])`,
    String.raw`\(\?(?:P?<|:)`,
    String.raw`\{\d+(?:,\d*)?\}`,
    '.',
  ].join('|'),
  'gsu',
)

export function goRegExp(source: string): RegExp {
  try {
    return new RegExp(new Translation(source).run(), 'u')
  } catch (thrown) {
    const reason = messageOf(thrown).replace(/^Invalid regular expression: .*: /su, '')
    throw new HoldfastError('Usage', `Cannot use "${source}" as a regexp: ${reason}; one in Go's syntax is wanted`)
  }
}

type Groups = Readonly<Record<string, string | undefined>>

class Translation {
  readonly #source: string
  #out = ''
  #inClass = false
  /** Nothing of the class has been read yet. */
  #classBegins = false
  /** For each open group, whether flags at its beginning have opened another one in it. */
  readonly #groups: boolean[] = [false]
  /** Nothing of the innermost group has been read yet. */
  #groupBegins = true

  constructor(source: string) {
    this.#source = source
  }

  run(): string {
    for (const { 0: token, groups = {} } of this.#source.matchAll(TOKEN)) {
      const { quoted, code, property, script, category, escaped } = groups as Groups
      if (quoted !== undefined) this.#add(quoted.replaceAll(/[^\dA-Za-z]/gu, escapeOf))
      else if (code !== undefined) this.#add(`\\u{${code}}`)
      else if (property !== undefined) this.#add(`\\${property}{${category ?? scriptOf(script ?? '')}}`)
      else if (escaped !== undefined) this.#add(this.#escape(escaped))
      else if (this.#inClass) this.#readInClass(token, groups)
      else this.#read(token, groups)
    }
    return this.#out + (this.#groups.at(-1) ? ')' : '')
  }

  #add(text: string): void {
    this.#out += text
    this.#groupBegins = false
    this.#classBegins = false
  }

  /** Go lets any punctuation be escaped, JavaScript only what has a meaning. */
  #escape(char: string): string {
    if (char === 'A') return '^'
    if (char === 'z') return '$'
    if (char === 'a') return '\\x07'
    return /[^\dA-Za-z]/u.test(char) ? escapeOf(char) : `\\${char}`
  }

  #read(token: string, { flags, flagsEnd }: Groups): void {
    if (flags !== undefined) this.#readFlags(flags, flagsEnd === ')')
    else if (token.startsWith('(')) this.#open(token.replace('P', ''))
    else if (token === ')') this.#close()
    else if (token === '[') {
      this.#add('[')
      this.#inClass = true
      this.#classBegins = true
    } else if (token === ']' || token === '{' || token === '}') this.#add(`\\${token}`)
    else this.#add(token)
  }

  #open(text: string): void {
    this.#add(text)
    this.#groups.push(false)
    this.#groupBegins = true
  }

  #close(): void {
    this.#add(this.#groups.pop() ? '))' : ')')
  }

  #readFlags(flags: string, areForTheRest: boolean): void {
    const [on, off = ''] = flags.split('-')
    const modifier = `${on.includes('i') ? 'i' : ''}${off.includes('i') ? '-i' : ''}`
    if (!areForTheRest) this.#open(`(?${modifier}:`)
    else if (modifier !== '') this.#wrapRest(modifier)
  }

  #wrapRest(modifier: string): void {
    if (!this.#groupBegins) throw new Error(`flags such as (?i) are not at the beginning`)
    this.#add(`(?${modifier}:`)
    this.#groups[this.#groups.length - 1] = true
  }

  #readInClass(token: string, { posix, negated }: Groups): void {
    if (posix !== undefined) this.#add(posixClass(posix, negated === '^'))
    else if (token === '^' && this.#out.endsWith('[') && this.#classBegins) this.#out += '^'
    else if (token === ']' && !this.#classBegins) {
      this.#inClass = false
      this.#add(']')
    } else if (token === '-' && this.#isLoneHyphen()) this.#add('\\-')
    else this.#add(token.replaceAll(/[[\](){}/|]/gu, escapeOf))
  }

  /** After a class such as \w a hyphen is a hyphen, not a range. */
  #isLoneHyphen(): boolean {
    return /(?:^|[^\\])(?:\\\\)*\\[dDsSwW]$/u.test(this.#out) || /\\[pP]\{\w+\}$/u.test(this.#out)
  }
}

function posixClass(name: string, isNegated: boolean): string {
  const members = POSIX_CLASSES[name]
  if (members === undefined) throw new Error(`there is no class [:${name}:]`)
  if (!isNegated) return members
  if (name === 'word') return '\\W'
  if (name === 'digit') return '\\D'
  throw new Error(`[:^${name}:] is not known here`)
}

/** Two letters are a category, more a script. */
function scriptOf(name: string): string {
  return name.length > 2 ? `Script=${name}` : name
}

function escapeOf(char: string): string {
  return `\\u{${char.codePointAt(0)?.toString(16)}}`
}
