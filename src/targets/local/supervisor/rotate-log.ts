// Keeps a log from growing for ever. Its writer has it open and knows nothing of this, so the content is copied aside
// and the file cut to nothing, right after the last of it was copied: what is written between these two system calls is
// lost.

import { closeSync, ftruncateSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { isMissing, writeWhole } from '../state-file.ts'

export interface LogLimits {
  readonly maxBytes: number
  /** Copies: `x.log.1` is the youngest. */
  readonly keep: number
}

export const LOG_LIMITS: LogLimits = { maxBytes: 10 << 20, keep: 3 }

const CHUNK_BYTES = 1 << 20

/** Does nothing while the log is short. */
export function rotateLog(path: string, { maxBytes, keep }: LogLimits = LOG_LIMITS): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size <= maxBytes) return
  const copy = `${path}.new`
  const from = openSync(path, 'r+')
  const to = openSync(copy, 'w', 0o640)
  try {
    copyRest(from, to)
    for (let age = keep - 1; age >= 1; age--) renameIfThere(`${path}.${age}`, `${path}.${age + 1}`)
    // Before the log is cut: whoever is killed in between has it twice rather than not at all.
    renameSync(copy, `${path}.1`)
    copyRest(from, to)
    ftruncateSync(from)
  } finally {
    closeSync(from)
    closeSync(to)
  }
}

function copyRest(from: number, to: number): void {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let count: number; (count = readSync(from, chunk, 0, chunk.length, null)) > 0; )
    writeWhole(to, chunk.subarray(0, count))
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
