// The campaign's own random numbers: small, fast, and the same everywhere for the same seed. Every case draws from a
// generator of its own, so that case N can be run again without the N - 1 before it.

export class Random {
  #state: number

  constructor(...seeds: readonly number[]) {
    this.#state = 0x9e3779b9
    for (const seed of seeds) this.#state = (this.next() ^ seed) | 0
    this.next()
  }

  /** 32 bits (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }

  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor((this.next() / 2 ** 32) * limit)
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  chance(probability: number): boolean {
    return this.next() < probability * 2 ** 32
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256))
  }

  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      const item = items[i]
      items[i] = items[j]
      items[j] = item
    }
    return items
  }
}
