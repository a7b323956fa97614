// A page that takes time to write: /status and /metrics grow with the number of zones, and are written by the thread that
// answers TCP and forwards. Writing may use a small part of the time; requests beyond that get the text written last.

import { performance } from 'node:perf_hooks'

/** Part of the time, and how much of it may be saved up. */
const SHARE = 0.05
const MOST_SAVED_MS = 100

export class HttpPage {
  readonly #write: () => string
  readonly #now: () => number
  #bytes: Buffer | undefined
  #savedMs = MOST_SAVED_MS
  #countedMs: number

  /** `now` is a monotonic clock in milliseconds. */
  constructor(write: () => string, now: () => number = () => performance.now()) {
    this.#write = write
    this.#now = now
    this.#countedMs = now()
  }

  /** Throws what `write` throws. */
  read(): Buffer {
    const start = this.#now()
    this.#savedMs = Math.min(MOST_SAVED_MS, this.#savedMs + (start - this.#countedMs) * SHARE)
    this.#countedMs = start
    if (this.#bytes !== undefined && this.#savedMs <= 0) return this.#bytes
    try {
      this.#bytes = Buffer.from(this.#write())
      return this.#bytes
    } finally {
      this.#savedMs -= this.#now() - start
    }
  }
}
