// The tokens of one master-file entry (RFC 1035 5.1), as positions in the bytes they were read from: no string is
// made until an error needs one. An entry is one logical line: parentheses join lines, `;` starts a comment,
// quotes keep blanks. Escapes stay in the token; whoever reads it resolves them.

const ORDINARY = 0
const BLANK = 1
const NEWLINE = 2
const COMMENT = 3
const OPEN = 4
const CLOSE = 5
const QUOTE = 6
const BACKSLASH = 7
const NUL = 8
/** Before a line feed a blank, alone the end of a line. */
const RETURN = 9

const KIND = new Uint8Array(256)
KIND[0x20] = KIND[0x09] = BLANK
KIND[0x0a] = NEWLINE
KIND[0x0d] = RETURN
KIND[0x3b] = COMMENT
KIND[0x28] = OPEN
KIND[0x29] = CLOSE
KIND[0x22] = QUOTE
KIND[0x5c] = BACKSLASH
KIND[0x00] = NUL

/** A token that is not what the reader wanted: `index` counts tokens of the entry, past the last one = missing. */
export class ExpectedError extends Error {
  override readonly name = 'ExpectedError'
  readonly index: number

  constructor(index: number, message: string) {
    super(message)
    this.index = index
  }
}

export class Tokens {
  bytes: Uint8Array
  starts = new Int32Array(64)
  ends = new Int32Array(64)
  quoted = new Uint8Array(64)
  count = 0
  /** Index of the token to be read next. */
  next = 0
  /** What relative names are relative to; empty when there is nothing. */
  origin: Uint8Array = new Uint8Array(0)
  /** Where the entry starts, and on which line; lines count from 1. */
  entryAt = 0
  line = 1
  nextLine = 1
  /** The entry began with a blank: its owner is the previous one. */
  blankStart = false
  /** What is wrong with the entry as a whole, if anything, and where. */
  fault = ''
  faultAt = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /**
   * Reads the entry at `from` and returns the position after it. Returns -1, with nothing consumed, when the entry is
   * cut off at `limit` and more bytes may follow (`atEnd` false).
   */
  readEntry(from: number, limit: number, atEnd: boolean): number {
    const bytes = this.bytes
    let at = from
    let count = 0
    let depth = 0
    let openedAt = 0
    let line = this.nextLine
    this.fault = ''
    const blankStart = at < limit && KIND[bytes[at]] === BLANK
    for (;;) {
      if (at >= limit) {
        if (!atEnd) return -1
        if (depth > 0) this.#setFault(openedAt, 'unbalanced parentheses: expected ")" before the end of the file')
        break
      }
      const kind = KIND[bytes[at]]
      if (kind === BLANK) {
        at++
      } else if (kind === ORDINARY || kind === BACKSLASH) {
        const start = at
        at = this.#endOfWord(at, limit)
        if (at === limit && !atEnd) return -1
        if (count === this.starts.length) this.#grow()
        this.starts[count] = start
        this.ends[count] = at
        this.quoted[count++] = 0
      } else if (kind === NEWLINE) {
        at++
        line++
        if (depth === 0) break
      } else if (kind === RETURN) {
        if (at + 1 >= limit && !atEnd) return -1
        at++
        if (at < limit && bytes[at] === 0x0a) continue
        line++
        if (depth === 0) break
      } else if (kind === COMMENT) {
        const end = bytes.indexOf(0x0a, at)
        at = end < 0 || end > limit ? limit : end
      } else if (kind === OPEN) {
        if (depth++ === 0) openedAt = at
        at++
      } else if (kind === CLOSE) {
        if (depth === 0) this.#setFault(at, 'unbalanced parentheses: expected "(" before ")"')
        else depth--
        at++
      } else if (kind === QUOTE) {
        const start = at + 1
        at = this.#endOfQuoted(start, limit)
        if (at >= limit && !atEnd) return -1
        if (count === this.starts.length) this.#grow()
        this.starts[count] = start
        this.ends[count] = Math.min(at, limit)
        this.quoted[count++] = 1
        if (at < limit && bytes[at] === 0x22) at++
        else this.#setFault(start - 1, 'unbalanced quotes: expected the closing quote on the same line')
      } else {
        this.#setFault(at, 'NUL byte: expected text')
        at++
      }
    }
    this.count = count
    this.next = 0
    this.entryAt = from
    this.line = this.nextLine
    this.nextLine = line
    this.blankStart = blankStart
    return at
  }

  #endOfWord(from: number, limit: number): number {
    const bytes = this.bytes
    let at = from
    while (at < limit) {
      const kind = KIND[bytes[at]]
      if (kind === ORDINARY) at++
      else if (kind === BACKSLASH) at += isLineEnd(bytes[at + 1]) ? 1 : 2
      else return at
    }
    return limit
  }

  #endOfQuoted(from: number, limit: number): number {
    const bytes = this.bytes
    let at = from
    while (at < limit) {
      const c = bytes[at]
      if (c === 0x5c) at += isLineEnd(bytes[at + 1]) ? 1 : 2
      else if (c === 0x22 || c === 0x0a) return at
      else {
        if (c === 0) this.#setFault(at, 'NUL byte: expected text')
        at++
      }
    }
    return limit
  }

  /** The first fault is the one worth reporting. */
  #setFault(at: number, message: string): void {
    if (this.fault !== '') return
    this.fault = message
    this.faultAt = at
  }

  #grow(): void {
    const size = this.starts.length * 2
    const wider = <T extends { set(from: T): void }>(into: T, from: T): T => {
      into.set(from)
      return into
    }
    this.starts = wider(new Int32Array(size), this.starts)
    this.ends = wider(new Int32Array(size), this.ends)
    this.quoted = wider(new Uint8Array(size), this.quoted)
  }

  /** Takes the next token and returns its index. */
  take(expected: string): number {
    if (this.next >= this.count) throw new ExpectedError(this.count, `expected ${expected}`)
    return this.next++
  }

  /** Takes the next token, which must not stand in quotes, and returns its index. */
  takeWord(expected: string): number {
    const index = this.take(expected)
    if (this.quoted[index] === 1) throw new ExpectedError(index, `expected ${expected}, without quotes`)
    return index
  }

  /** True when token `index` starts right where the one before ended: `key="value"`. */
  touchesPrevious(index: number): boolean {
    return index > 0 && index < this.count && this.starts[index] - this.quoted[index] === this.ends[index - 1]
  }

  text(index: number): string {
    if (index >= this.count) return ''
    return new TextDecoder().decode(this.bytes.subarray(this.starts[index], this.ends[index]))
  }

  /** Position of a token for a message; past the last one it is the end of the entry's last token. */
  positionOf(index: number): number {
    if (index < this.count) return this.starts[index] - this.quoted[index]
    return this.count === 0 ? this.entryAt : this.ends[this.count - 1] + this.quoted[this.count - 1]
  }

  /** Line and column (from 1, in characters of UTF-8) of a byte of this entry. */
  locate(position: number): { line: number; column: number } {
    let line = this.line
    let column = 1
    for (let i = this.entryAt; i < position; i++) {
      if (this.bytes[i] === 0x0a || (this.bytes[i] === 0x0d && this.bytes[i + 1] !== 0x0a)) {
        line++
        column = 1
      } else if ((this.bytes[i] & 0xc0) !== 0x80) column++
    }
    return { line, column }
  }
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === undefined || byte === 0x0a || byte === 0x0d
}
