// What is wrong with objects and names: each sentence is told when it appears, not at every change of its subject.

export class ToldProblems {
  readonly #tell: (message: string) => void
  readonly #bySubject = new Map<string, readonly string[]>()

  constructor(tell: (message: string) => void) {
    this.#tell = tell
  }

  /** Everything that is wrong with the subject now. */
  set(subject: string, problems: readonly string[]): void {
    const before = this.#bySubject.get(subject) ?? []
    if (problems.length === 0) this.#bySubject.delete(subject)
    else this.#bySubject.set(subject, problems)
    for (const problem of problems) if (!before.includes(problem)) this.#tell(problem)
  }

  all(): readonly string[] {
    return [...this.#bySubject.values()].flat()
  }
}
