// Answers that are remembered for a moment, for those who ask several times a second. While an answer is on its way, everybody
// waits for that one.

interface Remembered<T> {
  readonly answer: Promise<T>
  until: number
}

export class Memory<T> {
  readonly #forMs: number
  readonly #answers = new Map<string, Remembered<T>>()

  constructor(forMs: number) {
    this.#forMs = forMs
  }

  recall(question: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(question)
    if (known !== undefined && performance.now() < known.until) return known.answer
    const asked: Remembered<T> = { answer: ask(), until: Infinity }
    this.#answers.set(question, asked)
    void this.#limit(asked)
    return asked.answer
  }

  forget(question: string): void {
    this.#answers.delete(question)
  }

  /** From when it is there; a failure is not worth remembering. */
  async #limit(asked: Remembered<T>): Promise<void> {
    try {
      await asked.answer
      asked.until = performance.now() + this.#forMs
    } catch {
      asked.until = 0
    }
  }
}
