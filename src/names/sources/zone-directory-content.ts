// Whether a file's content is another than last time. Only the bytes decide; size, times and inode merely tell
// when reading them can be spared.

import { createHash } from 'node:crypto'
import { type BigIntStats, closeSync, fstatSync, readSync, statSync } from 'node:fs'
import { messageOf } from '../../lib/errors.ts'
import { openRegularFile } from '../../lib/file-source.ts'

const CHUNK_BYTES = 1 << 18
/**
 * A file changed this recently may change again without a new time stamp (the kernel's clock ticks coarsely), so
 * its stamp is not relied on yet.
 */
const FRESH_MS = 2000

export type Content =
  | { readonly state: 'same' | 'changed' | 'missing' }
  | { readonly state: 'unreadable'; readonly reason: string }

interface Known {
  /** Undefined while it cannot be relied on. */
  readonly stamp: string | undefined
  readonly hash: string
}

export class KnownContent {
  readonly #known = new Map<string, Known>()
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES)

  /** Compares with the last call for this path. `stat` trusts an unchanged stamp, `bytes` does not. */
  check(path: string, look: 'stat' | 'bytes'): Content {
    const known = this.#known.get(path)
    try {
      const before = statSync(path, { bigint: true, throwIfNoEntry: false })
      if (before === undefined) return this.#lost(path, { state: 'missing' })
      if (look === 'stat' && known?.stamp === stampOf(before)) return { state: 'same' }
      // Looked at once more when it is open; but a pipe is better not opened at all: its writer would take us for a reader.
      if (!before.isFile()) return this.#lost(path, { state: 'unreadable', reason: 'not a regular file' })
      const { hash, stats } = hashOf(path, this.#chunk)
      this.#known.set(path, { stamp: reliableStamp(stats), hash })
      return { state: known?.hash === hash ? 'same' : 'changed' }
    } catch (error) {
      return this.#lost(path, { state: 'unreadable', reason: messageOf(error) })
    }
  }

  /** Could be read the last time. */
  has(path: string): boolean {
    return this.#known.has(path)
  }

  forget(path: string): void {
    this.#known.delete(path)
  }

  #lost(path: string, content: Content): Content {
    this.#known.delete(path)
    return content
  }
}

function hashOf(path: string, chunk: Buffer): { hash: string; stats: BigIntStats } {
  const file = openRegularFile(path)
  try {
    const stats = fstatSync(file, { bigint: true })
    const hash = createHash('sha256')
    for (let count = readSync(file, chunk); count > 0; count = readSync(file, chunk))
      hash.update(chunk.subarray(0, count))
    return { hash: hash.digest('base64'), stats }
  } finally {
    closeSync(file)
  }
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
}

function reliableStamp(stats: BigIntStats): string | undefined {
  return Date.now() - Number(stats.ctimeMs) > FRESH_MS ? stampOf(stats) : undefined
}
