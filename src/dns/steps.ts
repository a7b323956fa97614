// Long work in steps: a generator that yields often, so that its caller decides when the next step runs, or whether
// there is one. The code here has no timers; names/ drives steps between other events.

/** Work that yields at least every few hundred records, and returns its result. */
export type Steps<Result> = Generator<void, Result, void>

/** Runs all steps at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Records, names or entries between two yields: some tenths of a millisecond of work. */
export const STEP_SIZE = 256

/** Bytes of records between two yields, where records may be large. */
const STEP_BYTES = 1 << 17

/** Says when a step has been long enough, by what it did and how large that was. */
export class Pace {
  #count = 0
  #bytes = 0

  isDue(bytes: number): boolean {
    this.#bytes += bytes
    if (++this.#count < STEP_SIZE && this.#bytes < STEP_BYTES) return false
    this.#count = 0
    this.#bytes = 0
    return true
  }
}
