// Answers that are remembered for a moment, for those who ask several times a second. While an answer is on its way, everybody
// waits for that one.

export class Memory<T> {
  readonly #forMs: number
  readonly #answers = new Map<string, { readonly answer: Promise<T>; until: number }>()

  constructor(forMs: number) {
    this.#forMs = forMs
  }

  recall(question: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(question)
    if (known !== undefined && performance.now() < known.until) return known.answer
    const asked = { answer: ask(), until: Infinity }
    this.#answers.set(question, asked)
    asked.answer.then(
      () => {
        asked.until = performance.now() + this.#forMs
      },
      () => {
        asked.until = 0
      },
    )
    return asked.answer
  }

  forget(question: string): void {
    this.#answers.delete(question)
  }
}
