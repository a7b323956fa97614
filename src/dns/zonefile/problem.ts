// What is wrong with a zone file, and where. Lines and columns are worked out only here, when there is a problem.

import type { Tokens } from '../tokens.ts'

export interface ZoneFileProblem {
  readonly file: string
  readonly line: number
  readonly column: number
  /** The token at fault; empty when something is missing. */
  readonly token: string
  /** What was expected. */
  readonly message: string
  readonly severity: 'error' | 'warning'
}

/**
 * `db.example:12:9: "abc": expected a 32-bit serial number`. What concerns a record as a whole has column 0, what
 * concerns the zone as a whole line 0 as well; neither is shown.
 */
export function formatProblem(problem: ZoneFileProblem): string {
  const { file, line, column, token, message, severity } = problem
  const at = [file, line, column].filter((part) => part !== 0).join(':')
  return `${at}: ${severity === 'warning' ? 'warning: ' : ''}${token === '' ? '' : `"${token}": `}${message}`
}

/** The problems of one parse: up to `max` errors, and as many warnings. */
export class Problems {
  readonly list: ZoneFileProblem[] = []
  /** The $GENERATE directive whose lines are being read: their problems are reported where it stands. */
  generating: Tokens | undefined
  readonly #max: number
  #errors = 0
  #warnings = 0
  #stopped = false

  constructor(max: number) {
    this.#max = max
  }

  /** Reading on is of no use. */
  get full(): boolean {
    return this.#stopped || this.#errors >= this.#max
  }

  /** After a problem that ends reading. */
  stop(): void {
    this.#stopped = true
  }

  /** A problem with token `index`, or with its absence. */
  addToken(severity: 'error' | 'warning', file: string, tokens: Tokens, index: number, message: string): void {
    const missing = index >= tokens.count ? ', found the end of the entry' : ''
    this.add(severity, file, tokens, tokens.positionOf(index), tokens.text(index), message + missing)
  }

  add(
    severity: 'error' | 'warning',
    file: string,
    tokens: Tokens,
    position: number,
    token: string,
    message: string,
  ): void {
    if (severity === 'error') this.#errors++
    else if (++this.#warnings > this.#max) return
    const place = this.generating?.locate(this.generating.entryAt) ?? tokens.locate(position)
    this.list.push({ file, ...place, token: shorten(token), message, severity })
  }
}

/** Enough of a token to recognise it by, without control characters. */
export function shorten(text: string): string {
  const printable = text.slice(0, 61).replace(/\p{Cc}/gu, '?')
  return printable.length > 60 ? `${printable.slice(0, 57)}...` : printable
}
