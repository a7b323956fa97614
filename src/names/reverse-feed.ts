// Keeps automatic PTR records up to date with the addresses in the zones of a space.

import { TYPE } from '../dns/types.ts'
import type { SourceRecord } from './part.ts'
import type { ReverseNames } from './reverse.ts'
import { keyOf } from './served-zone.ts'
import type { NameChange, NamesListener } from './served-zone.ts'

export class ReverseFeed {
  readonly #reverse: ReverseNames
  #committing = false

  constructor(reverse: ReverseNames) {
    this.#reverse = reverse
  }

  /** One for each zone, which remembers the names that have addresses there. */
  listener(): NamesListener {
    let known = new Map<string, Uint8Array>()
    const take = ({ owner, records }: NameChange, into: Map<string, Uint8Array>) => {
      const addresses = addressesOf(records)
      if (addresses.length > 0) into.set(keyOf(owner), owner)
      else into.delete(keyOf(owner))
      this.#reverse.set(owner, addresses)
    }
    return {
      changed: (owner, records) => {
        take({ owner, records }, known)
        this.#commitSoon()
      },
      replaced: (names) => {
        const now = new Map<string, Uint8Array>()
        for (const name of names) take(name, now)
        for (const [key, owner] of known) if (!now.has(key)) this.#reverse.set(owner, [])
        known = now
        this.#commitSoon()
      },
    }
  }

  /** Once for everything that changes in one go. */
  #commitSoon(): void {
    if (this.#committing) return
    this.#committing = true
    queueMicrotask(() => {
      this.#committing = false
      this.#reverse.commit(Math.floor(Date.now() / 1000))
    })
  }
}

function addressesOf(records: readonly SourceRecord[]): Uint8Array[] {
  return records.filter(({ type }) => type === TYPE.A || type === TYPE.AAAA).map(({ rdata }) => rdata.slice())
}
