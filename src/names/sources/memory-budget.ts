// How much memory the zones of one source take, and whether another one fits. A text of a few bytes may stand for a
// large zone ($GENERATE), so the number of keys says little.

export class MemoryBudget {
  readonly #most: number
  readonly #bytes = new Map<string, number>()
  #total = 0

  constructor(most: number) {
    this.#most = most
  }

  get(zone: string): number {
    return this.#bytes.get(zone) ?? 0
  }

  set(zone: string, bytes: number): void {
    this.#total += bytes - this.get(zone)
    if (bytes === 0) this.#bytes.delete(zone)
    else this.#bytes.set(zone, bytes)
  }

  /** Counts what a zone takes in place of what it took before; returns why it does not fit, and counts nothing then. */
  take(zone: string, bytes: number): string | undefined {
    const others = this.#total - this.get(zone)
    if (others + bytes <= this.#most) {
      this.set(zone, bytes)
      return undefined
    }
    return `too much data: the zone takes ${bytes} bytes of memory; expected at most ${Math.max(0, this.#most - others)}, since other zones of this source take ${others} of ${this.#most}`
  }
}
