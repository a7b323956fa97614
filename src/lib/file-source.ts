// A file as a source of bytes that is read piece by piece, for readers that stream. Closes itself at its end;
// a reader that stops early closes it.

import { closeSync, openSync, readSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import { HoldfastError } from './errors.ts'

export class FileSource {
  readonly file: string
  #fd: number | undefined

  constructor(file: string) {
    this.file = file
    try {
      this.#fd = openSync(file, 'r')
    } catch (error) {
      throw unreadable(file, error)
    }
  }

  /** Fills `into` from index `at`; returns the number of bytes read, 0 at the end. */
  read(into: Uint8Array, at: number): number {
    if (this.#fd === undefined) return 0
    try {
      const count = readSync(this.#fd, into, at, into.length - at, null)
      if (count === 0) this.close()
      return count
    } catch (error) {
      this.close()
      throw unreadable(this.file, error)
    }
  }

  close(): void {
    if (this.#fd === undefined) return
    closeSync(this.#fd)
    this.#fd = undefined
  }
}

function unreadable(path: string, error: unknown): HoldfastError {
  const { errno, message } = error as NodeJS.ErrnoException
  const reason = errno === undefined ? message : getSystemErrorMessage(errno)
  return new HoldfastError('FileUnreadable', `Cannot read "${path}": ${reason}`, { cause: error })
}
