// A small terminal: what is written to it becomes a screen with a scrollback, as a person would see it. It knows the few
// control sequences that we use, and refuses every other, so that none slips in unseen. Like most terminals it folds
// long lines anew when its width changes.

import { Writable } from 'node:stream'

interface Row {
  text: string[]
  /** Goes on in the next row. */
  folded: boolean
}

export class Terminal extends Writable {
  readonly isTTY = true
  columns: number
  rows: number
  isCursorVisible = true
  /** How often something was written, and what was last. */
  writes = 0
  lastWrite = ''
  #lines: Row[] = [{ text: [], folded: false }]
  /** The first row on the screen. */
  #top = 0
  #row = 0
  #column = 0
  #wraps = true

  constructor(columns = 80, rows = 24) {
    super({ decodeStrings: false })
    this.columns = columns
    this.rows = rows
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.writes++
    this.lastWrite = chunk
    for (const [, sequence, other] of chunk.matchAll(/\u001b\[([?\d;]*[A-Za-z])|(.)/gsu))
      if (sequence === undefined) this.#put(other)
      else this.#control(sequence)
    done()
  }

  /** Without what is empty at the ends of rows and below the last one. */
  get screen(): string[] {
    return readable(this.#lines.slice(this.#top))
  }

  /** The screen, and everything that scrolled out of it. */
  get everything(): string[] {
    return readable(this.#lines)
  }

  get cursor(): { row: number; column: number } {
    return { row: this.#row - this.#top, column: this.#column }
  }

  resize(columns: number, rows: number): void {
    this.#fold(columns)
    this.columns = columns
    this.rows = rows
    const last = this.#lines.findLastIndex(({ text }) => text.length > 0)
    this.#top = Math.max(0, Math.max(last, this.#row) - rows + 1)
    this.emit('resize')
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0
    else if (character === '\n') this.#feed(false)
    else if (character < ' ')
      throw new Error(`the terminal was sent the control character ${JSON.stringify(character)}`)
    else {
      if (this.#column === this.columns) {
        if (this.#wraps) this.#feed(true)
        else this.#column--
      }
      const { text } = this.#lines[this.#row]
      while (text.length < this.#column) text.push(' ')
      text[this.#column++] = character
    }
  }

  #feed(folded: boolean): void {
    this.#lines[this.#row].folded = folded
    this.#column = 0
    this.#row++
    if (this.#row === this.#lines.length) this.#lines.push({ text: [], folded: false })
    if (this.#row === this.#top + this.rows) this.#top++
  }

  #control(sequence: string): void {
    const [, number, letter] = /^(\d*)([AJKm])$/u.exec(sequence) ?? []
    if (sequence === '?25l') this.isCursorVisible = false
    else if (sequence === '?25h') this.isCursorVisible = true
    else if (sequence === '?7l') this.#wraps = false
    else if (sequence === '?7h') this.#wraps = true
    else if (letter === 'A') this.#row = Math.max(this.#top, this.#row - Number(number || 1))
    else if (letter === 'K' && number === '') this.#eraseLine()
    else if (letter === 'J' && number === '') {
      this.#eraseLine()
      this.#lines.length = this.#row + 1
    } else if (letter !== 'm' && !/^[\d;]*m$/u.test(sequence)) throw new Error(`the terminal was sent ESC[${sequence}`)
  }

  /** With a full line, the cursor stands on its last character. */
  #eraseLine(): void {
    this.#lines[this.#row].text.length = Math.min(this.#lines[this.#row].text.length, this.#column, this.columns - 1)
  }

  #fold(columns: number): void {
    const folded: Row[] = []
    let cursorRow = 0
    let whole: string[] = []
    for (const [index, row] of this.#lines.entries()) {
      if (index === this.#row) cursorRow = folded.length + Math.floor(whole.length / columns)
      whole.push(...row.text)
      if (row.folded) continue
      for (let at = 0; at === 0 || at < whole.length; at += columns)
        folded.push({ text: whole.slice(at, at + columns), folded: at + columns < whole.length })
      whole = []
    }
    this.#lines = folded
    this.#row = cursorRow
  }
}

function readable(rows: readonly Row[]): string[] {
  const lines = rows.map(({ text }) => text.join('').trimEnd())
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
}
