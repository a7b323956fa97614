// The names of one call to write, and what becomes of them: done, refused for good, or open for another try.

import { HoldfastError } from '../../../lib/errors.ts'
import type { NameChange, NameProblem } from './name-changes.ts'
import type { Write } from './plan-name.ts'

export interface Applied {
  readonly puts: number
  readonly deletes: number
  /** Names that are not, or not wholly, as they should be. */
  readonly problems: readonly NameProblem[]
}

/** Errors that one key can be the reason of. */
const ABOUT_ONE_KEY: ReadonlySet<string> = new Set(['EtcdForbidden', 'EtcdFailed'])

export class ApplyRun {
  /** By normalised name. */
  readonly open: Map<string, NameChange>
  /** Asked before every write: the names may have become somebody else's to write. */
  readonly mayWrite: () => boolean
  readonly #problems: NameProblem[]
  /** Why a name is still open. */
  readonly #reasons = new Map<string, string>()
  #puts = 0
  #deletes = 0
  /** Whether each name has to get a transaction of its own, so that no other can be at fault. */
  alone = false

  constructor(names: Iterable<[string, NameChange]>, problems: readonly NameProblem[], mayWrite: () => boolean) {
    this.mayWrite = mayWrite
    this.open = new Map(names)
    this.#problems = [...problems]
  }

  count(writes: readonly Write[]): void {
    const deletes = writes.filter(({ value }) => value === undefined).length
    this.#deletes += deletes
    this.#puts += writes.length - deletes
  }

  done(name: string): void {
    this.open.delete(name)
  }

  refuse(name: string, message: string): void {
    this.#problems.push({ name: this.open.get(name)?.name ?? name, message, retryable: false })
    this.open.delete(name)
  }

  /** Somebody else was faster. */
  postpone(names: readonly string[]): void {
    this.alone = true
    for (const name of names)
      this.#reasons.set(name, `Cannot write "${name}": somebody else keeps changing it; it is left as it is for now`)
  }

  fail(names: readonly string[], error: unknown): void {
    if (!(error instanceof HoldfastError)) throw error
    const { message, retryable, code } = error
    if (retryable) for (const name of names) this.#reasons.set(name, message)
    else if (names.length > 1 && ABOUT_ONE_KEY.has(code)) this.alone = true
    else for (const name of names) this.refuse(name, message)
  }

  finish(): Applied {
    const left = Array.from(this.open, ([normal, { name }]) => {
      return { name, message: this.#reasons.get(normal) ?? `Cannot write "${name}"`, retryable: true }
    })
    return { puts: this.#puts, deletes: this.#deletes, problems: [...this.#problems, ...left] }
  }
}
