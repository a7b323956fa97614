// What is wrong with one object: sentences for people, each once. A problem never keeps the rest of the object from
// counting, so a sentence ends with what happens instead.

const MOST_SENTENCES = 1000

export class ObjectProblems {
  /** How the object is spoken of: `ingress default/web`. */
  readonly subject: string
  readonly #sentences = new Set<string>()

  constructor(kind: string, key: string) {
    this.subject = `${kind} ${key}`
  }

  /** More than so many are of no use to anyone. */
  add(sentence: string): void {
    if (this.#sentences.size < MOST_SENTENCES) this.#sentences.add(sentence)
  }

  /** `Cannot use ttl "abc" of ingress default/web: <what is>; <what happens instead>`. */
  unusable(what: string, value: string, reason: string, instead: string): void {
    this.add(`Cannot use ${what} ${quoted(value)} of ${this.subject}: ${reason}; ${instead}`)
  }

  get sentences(): readonly string[] {
    return [...this.#sentences]
  }
}

const TOLD_PER_OBJECT = 10

/** So many as people read: an annotation has room for tens of thousands of names that are none. */
export function fewProblems(root: string, problems: readonly string[]): readonly string[] {
  const more = problems.length - TOLD_PER_OBJECT
  if (more <= 0) return problems
  return [
    ...problems.slice(0, TOLD_PER_OBJECT),
    `Cannot use ${more} more things of ${root}: as above; they are left out`,
  ]
}

/** On one line, and short: annotations may have 256 kB. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value)
}
