// Keeps automatic PTR records up to date with the addresses in the zones of a space.

import { parseName } from '../dns/name.ts'
import { TYPE } from '../dns/types.ts'
import type { SourceRecord } from './part.ts'
import type { ReverseNames } from './reverse.ts'
import { keyOf } from './served-zone.ts'
import type { NamesListener } from './served-zone.ts'

export class ReverseFeed {
  readonly #reverse: ReverseNames
  /** By origin: names with addresses in that zone. */
  readonly #zones = new Map<string, Map<string, readonly Uint8Array[]>>()
  #serial = 0
  #committing = false

  constructor(reverse: ReverseNames) {
    this.#reverse = reverse
  }

  /** One for each zone. */
  listener(origin: string): NamesListener {
    const zone = keyOf(parseName(origin))
    return {
      changed: (owner, records) => {
        const known = this.#zones.get(zone) ?? new Map<string, readonly Uint8Array[]>()
        this.#zones.set(zone, known)
        const key = keyOf(owner)
        const addresses = addressesOf(records)
        if (addresses.length > 0) known.set(key, addresses)
        else known.delete(key)
        this.#update(key)
      },
      replaced: (names) => {
        const before = this.#zones.get(zone)
        const now = new Map<string, readonly Uint8Array[]>()
        for (const { owner, records } of names) {
          const addresses = addressesOf(records)
          if (addresses.length > 0) now.set(keyOf(owner), addresses)
        }
        this.#zones.set(zone, now)
        for (const key of before?.keys() ?? []) if (!now.has(key)) this.#update(key)
        for (const key of now.keys()) this.#update(key)
      },
    }
  }

  /** A name may have addresses in its zone and, as glue, in those above it. */
  #update(owner: string): void {
    const addresses: Uint8Array[] = []
    for (let at = 0; at < owner.length; at += owner.charCodeAt(at) + 1)
      addresses.push(...(this.#zones.get(owner.slice(at))?.get(owner) ?? []))
    this.#reverse.set(Buffer.from(owner, 'latin1'), addresses)
    this.#commitSoon()
  }

  /** Once for everything that changes in one go. Serials are times, and later ones even within a second. */
  #commitSoon(): void {
    if (this.#committing) return
    this.#committing = true
    queueMicrotask(() => {
      this.#committing = false
      this.#serial = Math.max(this.#serial + 1, Math.floor(Date.now() / 1000))
      this.#reverse.commit(this.#serial)
    })
  }
}

function addressesOf(records: readonly SourceRecord[]): Uint8Array[] {
  return records.filter(({ type }) => type === TYPE.A || type === TYPE.AAAA).map(({ rdata }) => rdata.slice())
}
