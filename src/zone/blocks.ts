// Small pieces of the arena for what changes name by name. Sizes are rounded up to a class, and a piece that is given
// back waits in the list of its class, so that endless changes neither scatter holes over the arena nor search for them.
// A piece knows its own size: the word before it.

import type { Arena } from './arena.ts'
import { isEarlier } from './epoch.ts'

const CLASS_BYTES = 16
const LARGEST_CLASS = 1024
const CHUNK_BYTES = 64 * 1024
const HEADER_BYTES = 4

export class Blocks {
  readonly #arena: Arena
  /** Free pieces by class. */
  readonly #free: number[][] = Array.from({ length: LARGEST_CLASS / CLASS_BYTES + 1 }, () => [])
  #chunk = 0
  #chunkEnd = 0
  #retired: { readonly block: number; readonly epoch: number }[] = []

  constructor(arena: Arena) {
    this.#arena = arena
  }

  /** A piece of at least this many bytes, all zero. The arena may have grown: its views are others then. */
  take(bytes: number): number {
    const whole = roundUp(bytes + HEADER_BYTES)
    const start = whole > LARGEST_CLASS ? this.#arena.allocate(whole) : this.#takeSmall(whole)
    this.#arena.words[start >> 2] = whole
    return start + HEADER_BYTES
  }

  /** Gives a piece back that nobody can see. */
  give(block: number): void {
    const start = block - HEADER_BYTES
    const whole = this.#arena.words[start >> 2]
    if (whole > LARGEST_CLASS) this.#arena.discard(start, whole)
    else this.#free[whole / CLASS_BYTES].push(start)
  }

  /** Gives a piece back that no pointer leads to any more, once every reader has passed the epoch. */
  retire(block: number, epoch: number): void {
    this.#retired.push({ block, epoch })
  }

  get retiredCount(): number {
    return this.#retired.length
  }

  /** Frees what was retired before `epoch`. */
  reclaim(epoch: number): void {
    const retired = this.#retired
    this.#retired = retired.filter((each) => isEarlier(epoch, each.epoch))
    for (const each of retired) if (!isEarlier(epoch, each.epoch)) this.give(each.block)
  }

  #takeSmall(whole: number): number {
    const start = this.#free[whole / CLASS_BYTES].pop()
    if (start !== undefined) {
      this.#arena.bytes.fill(0, start, start + whole)
      return start
    }
    if (this.#chunk + whole > this.#chunkEnd) {
      const chunk = this.#arena.allocate(CHUNK_BYTES)
      const rest = this.#chunkEnd - this.#chunk
      if (rest > 0) this.#free[rest / CLASS_BYTES].push(this.#chunk)
      this.#chunk = chunk
      this.#chunkEnd = chunk + CHUNK_BYTES
    }
    const fresh = this.#chunk
    this.#chunk += whole
    return fresh
  }
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / CLASS_BYTES) * CLASS_BYTES
}
