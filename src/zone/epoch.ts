// Who may still be reading what. Each reader announces the epoch it works in and 0 when it rests; the writer moves
// the epoch on after taking a pointer away, and may reuse the memory once no reader announces an older epoch.
// The same small shared block carries the stop flag and the arena's generation, which readers check per batch.

const EPOCH = 0
const GENERATION = 1
const STOP = 2
const FIRST_READER = 16
/** One cache line per reader, so that announcing does not slow the others. */
const READER_STRIDE = 16

/** Epochs go round: at hundreds of changes a second, after some months. */
export function isEarlier(epoch: number, other: number): boolean {
  return ((epoch - other) | 0) < 0
}

export class Control {
  readonly buffer: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #readers: number

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer)
    this.#readers = (this.#words.length - FIRST_READER) / READER_STRIDE
  }

  static create(readers: number): Control {
    const control = new Control(new SharedArrayBuffer((FIRST_READER + readers * READER_STRIDE) * 4))
    Atomics.store(control.#words, EPOCH, 1)
    return control
  }

  /** Sequentially consistent, as is the load of `generation` that follows it: nothing in the arena is read before. */
  enter(reader: number): void {
    Atomics.store(this.#words, FIRST_READER + reader * READER_STRIDE, Atomics.load(this.#words, EPOCH))
  }

  leave(reader: number): void {
    Atomics.store(this.#words, FIRST_READER + reader * READER_STRIDE, 0)
  }

  /** Moves on and returns the new epoch: memory retired now is free once every reader has reached it. */
  advance(): number {
    // There is one writer. 0 is left out: it says that a reader rests.
    const next = (Atomics.load(this.#words, EPOCH) + 1) | 0 || 1
    Atomics.store(this.#words, EPOCH, next)
    return next
  }

  /** Everything retired at or before the result may be reused. */
  oldestInUse(): number {
    let oldest = Atomics.load(this.#words, EPOCH)
    for (let i = 0; i < this.#readers; i++) {
      const epoch = Atomics.load(this.#words, FIRST_READER + i * READER_STRIDE)
      if (epoch !== 0 && isEarlier(epoch, oldest)) oldest = epoch
    }
    return oldest
  }

  get generation(): number {
    return Atomics.load(this.#words, GENERATION)
  }

  nextGeneration(): void {
    Atomics.add(this.#words, GENERATION, 1)
  }

  get stopped(): boolean {
    return Atomics.load(this.#words, STOP) === 1
  }

  stop(): void {
    Atomics.store(this.#words, STOP, 1)
  }
}
