// How long to wait before something that ended is started again: longer each time, until it has run for a while. The
// jitter keeps services that died together from coming back together.

const FIRST_MS = 100
const LONGEST_MS = 10_000
/** After this long it counts as well. */
const WELL_MS = 30_000

export class Backoff {
  #failures = 0

  /** The pause after a run of `ranMs`. */
  next(ranMs: number): number {
    if (ranMs >= WELL_MS) this.#failures = 0
    const pause = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#failures)
    this.#failures++
    return pause * (0.5 + Math.random() / 2)
  }

  reset(): void {
    this.#failures = 0
  }
}
