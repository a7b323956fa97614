// A sliding window over a zone file: reads it entry by entry in memory of fixed size. An entry cut off by the end of
// the window is read again once the window has moved; a window too small for one entry doubles, up to a limit.

import { Tokens } from '../tokens.ts'

export interface ByteSource {
  /** Fills `into` from index `at`; returns the number of bytes read, 0 at the end. */
  read(into: Uint8Array, at: number): number
  /** What to call the file in messages and in the next $INCLUDE; two sources of the same name are the same file. */
  readonly file?: string
}

/** Most zone files are small and there may be thousands of them; what is longer gets the large window at the second read. */
const FIRST_BYTES = 8 * 1024
const WINDOW_BYTES = 256 * 1024
const MAX_ENTRY_BYTES = 4 * 1024 * 1024

export class Window {
  readonly tokens = new Tokens(new Uint8Array(FIRST_BYTES))
  readonly #source: ByteSource
  #from = 0
  #limit = 0
  #atEnd = false
  #started = false
  /** The last read left no room: there is more to come than a small file has. */
  #filled = false

  constructor(source: ByteSource) {
    this.#source = source
  }

  /** Moves to the next entry; false at the end of the file. A file that cannot be read on is an entry with a fault. */
  next(): boolean {
    while (this.#from < this.#limit || !this.#atEnd) {
      const after = this.tokens.readEntry(this.#from, this.#limit, this.#atEnd)
      if (after >= 0) {
        this.#from = after
        return true
      }
      const problem = this.#refill()
      if (problem !== undefined) {
        this.#giveUp(problem)
        return true
      }
    }
    return false
  }

  #refill(): string | undefined {
    const { tokens } = this
    if (this.#from > 0) {
      tokens.bytes.copyWithin(0, this.#from, this.#limit)
      this.#limit -= this.#from
      this.#from = 0
    }
    if (this.#filled && tokens.bytes.length < WINDOW_BYTES) this.#widen(WINDOW_BYTES)
    else if (this.#limit === tokens.bytes.length) {
      if (this.#limit >= MAX_ENTRY_BYTES) {
        return `entry too long: expected its end within ${MAX_ENTRY_BYTES} bytes (unbalanced parentheses?)`
      }
      this.#widen(this.#limit * 2)
    }
    try {
      const read = this.#source.read(tokens.bytes, this.#limit)
      this.#atEnd = read === 0
      this.#limit += read
      this.#filled = this.#limit === tokens.bytes.length
    } catch (error) {
      return `expected a readable file: ${error instanceof Error ? error.message : String(error)}`
    }
    if (!this.#started && (this.#limit >= 3 || this.#atEnd)) this.#skipByteOrderMark()
    return undefined
  }

  #widen(bytes: number): void {
    const wider = new Uint8Array(bytes)
    wider.set(this.tokens.bytes.subarray(0, this.#limit))
    this.tokens.bytes = wider
  }

  #skipByteOrderMark(): void {
    this.#started = true
    this.#from = byteOrderMarkLength(this.tokens.bytes, this.#limit)
  }

  #giveUp(problem: string): void {
    const { tokens } = this
    tokens.count = 0
    tokens.entryAt = this.#from
    tokens.line = tokens.nextLine
    tokens.fault = problem
    tokens.faultAt = this.#from
    this.#from = this.#limit
    this.#atEnd = true
  }
}

/** Editors put U+FEFF in front of UTF-8 text; it is no part of the first name. */
export function byteOrderMarkLength(bytes: Uint8Array, limit: number): number {
  return limit >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}
