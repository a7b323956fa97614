// Keeps automatic PTR records up to date with the addresses in the zones of a space.

import { parseName } from '../dns/name.ts'
import { STEP_SIZE, type Steps } from '../dns/steps.ts'
import { TYPE } from '../dns/types.ts'
import type { SourceRecord } from './part.ts'
import type { ReverseNames } from './reverse.ts'
import { keyOf } from './served-zone.ts'
import type { NameChange, NamesListener } from './served-zone.ts'

export class ReverseFeed {
  readonly #reverse: ReverseNames
  /** By origin: names with addresses in that zone. */
  readonly #zones = new Map<string, Map<string, readonly Uint8Array[]>>()
  /** By origin: names that the replacement under way has heard of. */
  readonly #seen = new Map<string, Set<string>>()
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
        const key = keyOf(owner)
        this.#seen.get(zone)?.add(key)
        this.#set(this.#known(zone), key, records)
      },
      replaced: (names) => this.#replace(zone, names),
    }
  }

  /** Another replacement of the zone ends this one, from the call on: steps of both may run in any order. */
  #replace(zone: string, names: Iterable<NameChange>): Steps<void> {
    const seen = new Set<string>()
    this.#seen.set(zone, seen)
    return this.#replaceSteps(zone, names, seen)
  }

  /** Names that are no longer there go last. */
  *#replaceSteps(zone: string, names: Iterable<NameChange>, seen: Set<string>): Steps<void> {
    const isOutdated = () => this.#seen.get(zone) !== seen
    if (isOutdated()) return
    const known = this.#known(zone)
    let count = 0
    for (const { owner, records } of names) {
      const key = keyOf(owner)
      seen.add(key)
      this.#set(known, key, records)
      if (++count % STEP_SIZE !== 0) continue
      yield
      if (isOutdated()) return
    }
    for (const key of known.keys()) {
      if (!seen.has(key)) this.#set(known, key, [])
      if (++count % STEP_SIZE !== 0) continue
      yield
      if (isOutdated()) return
    }
    this.#seen.delete(zone)
    if (known.size === 0) this.#zones.delete(zone)
  }

  #known(zone: string): Map<string, readonly Uint8Array[]> {
    const known = this.#zones.get(zone) ?? new Map<string, readonly Uint8Array[]>()
    this.#zones.set(zone, known)
    return known
  }

  #set(known: Map<string, readonly Uint8Array[]>, key: string, records: readonly SourceRecord[]): void {
    const addresses = addressesOf(records)
    if (addresses.length > 0) known.set(key, addresses)
    else if (!known.delete(key)) return
    this.#update(key)
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
