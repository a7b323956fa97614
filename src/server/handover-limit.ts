// How many queries may wait for an answer from elsewhere, over all threads: a message queue has no limit of its own,
// and a flood of questions for a silent upstream would fill the memory. Workers add what they hand to the main
// thread; the main thread adds what it takes on itself and subtracts all that is answered.

const MOST_WAITING = 10_000

const WAITING_AT = 0
const DROPPED_AT = 8
const BYTES = 16

export class HandoverLimit {
  readonly buffer: SharedArrayBuffer
  readonly #waiting: Int32Array
  readonly #dropped: BigUint64Array

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(BYTES)) {
    this.buffer = buffer
    this.#waiting = new Int32Array(buffer, WAITING_AT, 1)
    this.#dropped = new BigUint64Array(buffer, DROPPED_AT, 1)
  }

  /** Whether one more may wait; if not, it is counted as dropped. Threads that ask at once may exceed the limit by a batch. */
  admits(): boolean {
    if (Atomics.load(this.#waiting, 0) < MOST_WAITING) return true
    Atomics.add(this.#dropped, 0, 1n)
    return false
  }

  add(queries: number): void {
    Atomics.add(this.#waiting, 0, queries)
  }

  answered(): void {
    Atomics.sub(this.#waiting, 0, 1)
  }

  get waiting(): number {
    return Atomics.load(this.#waiting, 0)
  }

  get droppedTotal(): number {
    return Number(Atomics.load(this.#dropped, 0))
  }
}
