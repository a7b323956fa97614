// What is wrong with objects, by root: each sentence is told when it appears, not at every change of the object.

export class RootProblems {
  readonly #tell: (message: string) => void
  readonly #byRoot = new Map<string, readonly string[]>()

  constructor(tell: (message: string) => void) {
    this.#tell = tell
  }

  set(root: string, problems: readonly string[]): void {
    const before = this.#byRoot.get(root) ?? []
    if (problems.length === 0) this.#byRoot.delete(root)
    else this.#byRoot.set(root, problems)
    for (const problem of problems) if (!before.includes(problem)) this.#tell(problem)
  }

  all(): readonly string[] {
    return [...this.#byRoot.values()].flat()
  }
}
