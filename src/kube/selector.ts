// Label selectors as Kubernetes writes them (`app=web,tier in (a,b),!old`) and as objects have them (matchLabels,
// matchExpressions). Both become a list of requirements which all have to hold; an empty list selects everything.

import { HoldfastError } from '../lib/errors.ts'

type Operator = 'in' | 'notin' | 'exists' | 'absent' | 'gt' | 'lt'

export interface Requirement {
  readonly key: string
  readonly operator: Operator
  readonly values: readonly string[]
}

export type LabelSelector = readonly Requirement[]

/** The form that a selector has inside of an object. */
export interface SelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

export function matchesSelector(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return selector.every((requirement) => holds(requirement, labels?.[requirement.key]))
}

function holds({ operator, values }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'exists':
      return value !== undefined
    case 'absent':
      return value === undefined
    case 'in':
      return value !== undefined && values.includes(value)
    case 'notin':
      return value === undefined || !values.includes(value)
    case 'gt':
      return isInteger(value) && BigInt(value) > BigInt(values[0] ?? '')
    default:
      return isInteger(value) && BigInt(value) < BigInt(values[0] ?? '')
  }
}

export function parseSelector(text: string): LabelSelector {
  const reader = new SelectorReader(text)
  const requirements: Requirement[] = []
  if (reader.peek().text === '') return requirements
  do requirements.push(readRequirement(reader))
  while (reader.take(','))
  reader.expectEnd()
  return requirements
}

/** An absent selector selects nothing, an empty one everything, as in Kubernetes. */
export function selectorOf(object: SelectorObject | undefined): LabelSelector {
  if (object === undefined) return [{ key: '', operator: 'in', values: [] }]
  const labels = Object.entries(object.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: 'in' as const,
    values: [value],
  }))
  const expressions = (object.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    const known = EXPRESSION_OPERATORS[operator]
    const place = `matchExpressions of ${key}`
    if (known === undefined)
      throw invalid(place, `operator ${JSON.stringify(operator)}`, 'In, NotIn, Exists or DoesNotExist')
    if (values.length === 0 && (known === 'in' || known === 'notin')) throw invalid(place, 'no values', 'at least one')
    return { key, operator: known, values }
  })
  return [...labels, ...expressions]
}

const EXPRESSION_OPERATORS: Readonly<Record<string, Operator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: 'absent',
}

function readRequirement(reader: SelectorReader): Requirement {
  if (reader.take('!')) return { key: reader.key(), operator: 'absent', values: [] }
  const key = reader.key()
  const operator = reader.peek()
  switch (operator.text) {
    case '':
    case ',':
      return { key, operator: 'exists', values: [] }
    case '=':
    case '==':
      reader.take(operator.text)
      return { key, operator: 'in', values: [reader.value()] }
    case '!=':
      reader.take('!=')
      return { key, operator: 'notin', values: [reader.value()] }
    case 'in':
    case 'notin':
      reader.take(operator.text)
      return { key, operator: operator.text, values: readSet(reader) }
    case '>':
    case '<':
      reader.take(operator.text)
      return { key, operator: operator.text === '>' ? 'gt' : 'lt', values: [reader.integer()] }
  }
  throw reader.unexpected(operator, '"," or one of =, ==, !=, in, notin, >, <')
}

function readSet(reader: SelectorReader): string[] {
  const opening = reader.peek()
  if (!reader.take('(')) throw reader.unexpected(opening, '"(" and a list of values')
  const first = reader.peek()
  if (first.text === ')') throw reader.unexpected(first, 'at least one value')
  const values: string[] = []
  do values.push(reader.value())
  while (reader.take(','))
  const closing = reader.peek()
  if (!reader.take(')')) throw reader.unexpected(closing, '"," or ")"')
  return values
}

interface Token {
  readonly text: string
  readonly start: number
}

const WORD = /^[^\s=!(),<>]+$/

class SelectorReader {
  readonly #text: string
  readonly #token = /\s*(==|!=|[=!(),<>]|[^\s=!(),<>]*)/y
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The next token; its text is empty at the end. */
  peek(): Token {
    this.#token.lastIndex = this.#at
    const text = this.#token.exec(this.#text)?.[1] ?? ''
    return { text, start: this.#token.lastIndex - text.length }
  }

  take(text: string): boolean {
    const token = this.peek()
    if (token.text !== text) return false
    this.#at = token.start + text.length
    return true
  }

  key(): string {
    const token = this.peek()
    if (!isKey(token.text)) throw this.unexpected(token, 'a key such as app or example.com/app')
    this.take(token.text)
    return token.text
  }

  /** A value may be empty. */
  value(): string {
    const token = this.peek()
    if (!WORD.test(token.text)) return ''
    if (!isLabelValue(token.text))
      throw this.unexpected(
        token,
        'a value of at most 63 letters, digits, "-", "_" and ".", letters or digits at its ends',
      )
    this.take(token.text)
    return token.text
  }

  integer(): string {
    const token = this.peek()
    if (!isInteger(token.text)) throw this.unexpected(token, 'an integer')
    this.take(token.text)
    return token.text
  }

  expectEnd(): void {
    const token = this.peek()
    if (token.text !== '') throw this.unexpected(token, '"," or the end')
  }

  unexpected({ text, start }: Token, wanted: string): HoldfastError {
    const found = text === '' ? 'it ends' : `${JSON.stringify(text)} stands`
    return invalid(this.#text, `${found} at column ${start + 1}`, wanted)
  }
}

function isKey(text: string): boolean {
  const slash = text.lastIndexOf('/')
  const name = text.slice(slash + 1)
  return name !== '' && isLabelValue(name) && (slash < 0 || isSubdomain(text.slice(0, slash)))
}

const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

function isLabelValue(text: string): boolean {
  return text.length <= 63 && LABEL_VALUE.test(text)
}

function isSubdomain(text: string): boolean {
  return text.length <= 253 && SUBDOMAIN.test(text)
}

function isInteger(text: string | undefined): text is string {
  return text !== undefined && /^[+-]?\d{1,19}$/.test(text)
}

function invalid(selector: string, found: string, wanted: string): HoldfastError {
  return new HoldfastError(
    'SelectorInvalid',
    `Cannot read selector ${JSON.stringify(selector)}: ${found}; expected ${wanted}`,
  )
}
