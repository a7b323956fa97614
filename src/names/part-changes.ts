// The names that a source adds to one zone: those that changed since the last commit, and all of them where the source
// cannot say itself what it has.

import type { PartOptions } from './offer.ts'
import type { SourceRecord } from './part.ts'
import { keyOf, type NameChange, type PartNames } from './served-zone.ts'

export class PartChanges {
  readonly names: PartNames
  readonly #remembered: Map<string, NameChange> | undefined
  #pending = new Map<string, NameChange>()

  constructor({ rank, style, names }: PartOptions) {
    const remembered = names === undefined ? new Map<string, NameChange>() : undefined
    this.#remembered = remembered
    this.names = {
      ...{ rank, style },
      owners: names?.owners ?? (() => Array.from(remembered?.values() ?? [], ({ owner }) => owner)),
      records: names?.records ?? ((owner) => remembered?.get(keyOf(owner))?.records ?? []),
    }
  }

  set(owner: Uint8Array, records: readonly SourceRecord[]): void {
    const key = keyOf(owner)
    this.#pending.set(key, { owner, records })
    if (records.length === 0) this.#remembered?.delete(key)
    else this.#remembered?.set(key, { owner, records })
  }

  get isEmpty(): boolean {
    return this.#pending.size === 0
  }

  /** What changed since the last call. */
  take(): ReadonlyMap<string, NameChange> {
    const changes = this.#pending
    this.#pending = new Map()
    return changes
  }
}
