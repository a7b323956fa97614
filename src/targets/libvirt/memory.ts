// Answers that are remembered for a moment, for those who ask several times a second. While an answer is on its way, everybody
// waits for that one. Where asking fails in a way that may pass, the answer of before stands in for a while.

import { HoldfastError } from '../../lib/errors.ts'

interface Remembered<T> {
  readonly answer: Promise<T>
  until: number
}

export interface MemoryOptions {
  readonly forMs: number
  /** How old an answer may be that stands in for a failure. */
  readonly patienceMs: number
}

export class Memory<T> {
  readonly #options: MemoryOptions
  readonly #answers = new Map<string, Remembered<T>>()
  readonly #last = new Map<string, { readonly answer: T; readonly at: number }>()

  constructor(options: MemoryOptions) {
    this.#options = options
  }

  recall(question: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(question)
    if (known !== undefined && performance.now() < known.until) return known.answer
    const asked: Remembered<T> = { answer: this.#ask(question, ask), until: Infinity }
    this.#answers.set(question, asked)
    void this.#limit(asked)
    return asked.answer
  }

  /** What is known by now is not true any more. */
  forget(question: string): void {
    this.#answers.delete(question)
    this.#last.delete(question)
  }

  async #ask(question: string, ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await ask()
      this.#last.set(question, { answer, at: performance.now() })
      return answer
    } catch (error) {
      const last = this.#last.get(question)
      const mayPass = error instanceof HoldfastError && error.retryable
      if (last === undefined || !mayPass || performance.now() - last.at > this.#options.patienceMs) throw error
      return last.answer
    }
  }

  /** From when it is there; a failure is not worth remembering. */
  async #limit(asked: Remembered<T>): Promise<void> {
    try {
      await asked.answer
      asked.until = performance.now() + this.#options.forMs
    } catch {
      asked.until = 0
    }
  }
}
