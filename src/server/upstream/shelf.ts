// A bounded map of kept answers. When full, the oldest goes; one that was used since it came (or was last spared) is
// spared once and counts as new (second chance). Bounded in bytes too: many large answers must not fill the memory.

import type { Reply } from './reply.ts'
import type { CacheKindStats } from './stats.ts'

/** Several times a common answer. */
const BYTES_PER_ENTRY = 2048

export interface Entry {
  readonly reply: Reply
  readonly ttlSeconds: number
  readonly storedMs: number
  /** Hits without a pause longer than the prefetch duration. */
  hits: number
  lastHitMs: number
  used: boolean
}

export class Shelf {
  readonly #entries = new Map<string, Entry>()
  readonly #capacity: number
  readonly #stats: CacheKindStats
  #bytes = 0

  constructor(capacity: number, stats: CacheKindStats) {
    this.#capacity = capacity
    this.#stats = stats
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key)
  }

  set(key: string, entry: Entry): void {
    this.delete(key)
    this.#entries.set(key, entry)
    this.#bytes += entry.reply.wire.length
    while (this.#entries.size > this.#capacity || this.#bytes > this.#capacity * BYTES_PER_ENTRY) this.#evict()
    this.#stats.entries = this.#entries.size
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.reply.wire.length
    this.#stats.entries = this.#entries.size
  }

  #evict(): void {
    for (const [key, entry] of this.#entries) {
      this.#entries.delete(key)
      if (entry.used) {
        entry.used = false
        this.#entries.set(key, entry)
        continue
      }
      this.#bytes -= entry.reply.wire.length
      this.#stats.evictions++
      return
    }
  }
}
