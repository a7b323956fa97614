// Whether a file is still being written. inotify as Node offers it does not tell when a writer closes a file, but the
// kernel grants a read lease (fcntl(2), F_SETLEASE) only on a file that nobody has open for writing.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { Libc } from '../../lib/libc.ts'

/** A writer that has done nothing for so long is not waited for. */
const PATIENCE_MS = 5000
/** Where leases cannot be had (another owner's file, some file systems), a missing final newline counts, for so long. */
const GUESS_MS = 1000

const F_SETSIG = 10
const F_SETLEASE = 1024
const F_RDLCK = 0
const F_UNLCK = 2
const EAGAIN = 11
/** Ignored unless somebody asks for it. */
const SIGURG = 23
const NEWLINE = 0x0a

/** What cannot be opened is for others to report. */
export function isUnfinished(path: string, libc: Libc | undefined): boolean {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return false
  }
  try {
    const stats = fstatSync(fd)
    const ageMs = Date.now() - stats.mtimeMs
    if (!stats.isFile() || ageMs > PATIENCE_MS) return false
    const writers = libc === undefined ? undefined : hasWriters(fd, libc)
    return writers ?? (ageMs < GUESS_MS && !endsInNewline(fd, stats.size))
  } finally {
    closeSync(fd)
  }
}

/** Undefined when the kernel does not say. */
function hasWriters(fd: number, libc: Libc): boolean | undefined {
  // A writer that comes while we hold the lease has us signalled, by default with SIGIO, which would end the process.
  if (libc.fcntl(fd, F_SETSIG, SIGURG) !== 0) return undefined
  if (libc.fcntl(fd, F_SETLEASE, F_RDLCK) === 0) {
    libc.fcntl(fd, F_SETLEASE, F_UNLCK)
    return false
  }
  return libc.errno() === EAGAIN ? true : undefined
}

function endsInNewline(fd: number, size: number): boolean {
  const last = new Uint8Array(1)
  return size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === NEWLINE
}
