// A file as a source of bytes that is read piece by piece, for readers that stream. Closes itself at its end;
// a reader that stops early closes it.

import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import { HoldfastError } from './errors.ts'

export class FileSource {
  readonly file: string
  #fd: number | undefined

  constructor(file: string) {
    this.file = file
    try {
      this.#fd = openRegularFile(file)
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

/**
 * A descriptor for reading. What is no regular file is refused: a pipe or a device may keep its reader waiting for
 * ever, and already opening one may, so nothing is looked at before it is open.
 */
export function openRegularFile(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  if (fstatSync(fd).isFile()) return fd
  closeSync(fd)
  throw new Error('not a regular file')
}

/** All of it, at once. */
export function readRegularFile(path: string): Buffer {
  const fd = openRegularFile(path)
  try {
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

function unreadable(path: string, error: unknown): HoldfastError {
  const { errno, message } = error as NodeJS.ErrnoException
  const reason = errno === undefined ? message : getSystemErrorMessage(errno)
  return new HoldfastError('FileUnreadable', `Cannot read "${path}": ${reason}`, { cause: error })
}
