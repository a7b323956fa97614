// Where the texts of one name are, and where there is room for more.

import type { Entry } from './entry.ts'
import type { Service } from './service-value.ts'

/** A key on its way from what it holds to what it shall hold. */
export interface Draft {
  readonly key: string
  readonly before: Entry | undefined
  after: Service | undefined
}

export class TextPlaces {
  readonly #holders = new Map<string, Draft>()
  /** The next one last. */
  readonly #candidates: Draft[]
  readonly #withoutHost: Draft[]

  /** `candidates`: where texts can go, if there is room, in this order. */
  constructor(drafts: Iterable<Draft>, candidates: readonly Draft[]) {
    this.#candidates = candidates.toReversed()
    this.#withoutHost = this.#candidates.filter(({ after }) => after?.host === '')
    for (const draft of drafts) {
      const { text = '' } = draft.after ?? {}
      if (!this.#holders.has(text)) this.#holders.set(text, draft)
    }
  }

  holder(text: string): Draft | undefined {
    return this.#holders.get(text)
  }

  /** Whoever asks takes it. Beside a host the TTL is that of the host: not the place for a text that has one. */
  takeRoom(ttl: number): Draft | undefined {
    const candidates = ttl === 0 ? this.#candidates : this.#withoutHost
    for (let draft = candidates.pop(); draft !== undefined; draft = candidates.pop())
      if (draft.after?.text === '') return draft
    return undefined
  }

  settled(text: string, draft: Draft): void {
    this.#holders.set(text, draft)
  }
}
