// The last lines of a service's log: why it ended is most often among them.

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'

const TAIL_BYTES = 8192

/** 0 when there is none. */
export function sizeOf(log: string): number {
  return statSync(log, { throwIfNoEntry: false })?.size ?? 0
}

/** Those that begin at `from` or later, as far as they are in the last 8 KiB; none when the log cannot be read. */
export function lastLines(log: string, from: number): string[] {
  let fd: number
  try {
    fd = openSync(log, 'r')
  } catch {
    return []
  }
  try {
    const { size } = fstatSync(fd)
    // A log that is shorter than it was has been rotated.
    const start = Math.max(size < from ? 0 : from, size - TAIL_BYTES)
    const bytes = Buffer.alloc(size - start)
    const count = readSync(fd, bytes, 0, bytes.length, start)
    return bytes.toString('utf8', 0, count).split('\n')
  } finally {
    closeSync(fd)
  }
}
