// The last lines of a terminal, painted over and over: a frame is one write, so nothing flickers. Whatever else is
// printed meanwhile goes through `print`, above them. The cursor waits, hidden, on the line below.

import { stripVTControlCharacters } from 'node:util'
import type { Io } from './command.ts'

export type Screen = Io['stdout'] & { readonly columns?: number; readonly rows?: number }

const ESCAPE = '\u001b['
const ERASE_BELOW = `${ESCAPE}J`
const ERASE_REST_OF_LINE = `${ESCAPE}K`
const HIDE_CURSOR = `${ESCAPE}?25l`
const SHOW_CURSOR = `${ESCAPE}?25h`
/** A line that is wider than we think must not take two rows. */
const NO_WRAP = `${ESCAPE}?7l`
const WRAP = `${ESCAPE}?7h`

export class LiveArea {
  readonly #out: Screen
  readonly #signal: AbortSignal | undefined
  readonly #onResize: () => void
  #lines: readonly string[] = []
  /** How much of each line is on the screen. */
  #lengths: readonly number[] = []
  #isOpen = true

  /** After the signal, the cursor is shown again: a second one may end the program at any moment. */
  constructor(out: Screen, options: { readonly signal?: AbortSignal | undefined; readonly onResize: () => void }) {
    this.#out = out
    this.#signal = options.signal
    this.#onResize = options.onResize
    out.on('resize', this.#onResize)
    this.#signal?.addEventListener('abort', this.#showCursor)
    if (this.#signal?.aborted !== true) out.write(HIDE_CURSOR)
  }

  get width(): number {
    return widthOf(this.#out) ?? 80
  }

  /** How many lines can be painted. */
  get height(): number {
    return Math.max(1, (this.#out.rows || 24) - 1)
  }

  /** Lines beyond the height are left out. */
  paint(lines: readonly string[]): void {
    if (this.#isOpen) this.#write('', lines)
  }

  /** Lines that stay, above the painted ones. */
  print(text: string): void {
    if (this.#isOpen) this.#write(`${ERASE_BELOW}${text}`, this.#lines)
    else this.#out.write(text)
  }

  /** Leaves what was painted last, or this text in its place. */
  close(text?: string): void {
    if (!this.#isOpen) return
    if (text !== undefined) this.#write(`${ERASE_BELOW}${text}`, [])
    this.#isOpen = false
    this.#out.off('resize', this.#onResize)
    this.#signal?.removeEventListener('abort', this.#showCursor)
    this.#showCursor()
  }

  #write(above: string, lines: readonly string[]): void {
    const width = this.width
    const rows = this.#rowsPainted()
    const start = `\r${rows === 0 ? '' : `${ESCAPE}${rows}A`}${above}`
    this.#lines = lines.slice(0, this.height)
    this.#lengths = this.#lines.map((line) => Math.min(width, stripVTControlCharacters(line).length))
    const frame = this.#lines.map((line, at) => `${line}${this.#lengths[at] < width ? ERASE_REST_OF_LINE : ''}\n`)
    this.#out.write(`${start}${NO_WRAP}${frame.join('')}${WRAP}${ERASE_BELOW}`)
  }

  /** A terminal that has become narrower has folded what is too long for it now. */
  #rowsPainted(): number {
    return this.#lengths.reduce((rows, length) => rows + Math.max(1, Math.ceil(length / this.width)), 0)
  }

  readonly #showCursor = (): void => {
    this.#out.write(SHOW_CURSOR)
  }
}

/** Undefined where there is no terminal, or one that does not know. */
export function widthOf(out: Screen): number | undefined {
  return out.isTTY === true ? out.columns || undefined : undefined
}
