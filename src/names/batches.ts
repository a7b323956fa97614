// What comes to a source while it is still taking something in waits its turn: batches are taken in one after the other,
// in the order in which they came, also after one that failed.

import type { Steps } from '../dns/steps.ts'
import type { Lane, WorkQueue } from './work-queue.ts'

export interface BatchesOptions {
  readonly work: WorkQueue
  readonly lane: Lane
  /** A batch failed; the next ones are taken in as if it had not. */
  readonly onFailure: (thrown: unknown) => void
  /** Nothing is left to be taken in. */
  readonly onIdle?: () => void
}

export class Batches {
  readonly #options: BatchesOptions
  readonly #waiting: (() => Steps<void>)[] = []
  #isBusy = false

  constructor(options: BatchesOptions) {
    this.#options = options
  }

  get isBusy(): boolean {
    return this.#isBusy
  }

  add(batch: () => Steps<void>): void {
    this.#waiting.push(batch)
    if (this.#isBusy) return
    this.#isBusy = true
    const { work, lane, onFailure, onIdle = () => {} } = this.#options
    work.add({ lane, steps: this.#takeAll(), onDone: onIdle, onFailure })
  }

  *#takeAll(): Steps<void> {
    for (let batch = this.#waiting.shift(); batch !== undefined; batch = this.#waiting.shift()) {
      try {
        yield* batch()
      } catch (thrown) {
        this.#options.onFailure(thrown)
      }
    }
    this.#isBusy = false
  }
}
