// Zones of sources that others write to, in service or refused. Which of the two depends on who else has a zone at or
// above theirs (zone-guard.ts), and is decided again whenever that changes.

import { type Entry, keyOfZone } from './catalog-entry.ts'
import type { PartOptions, ZoneOffer, ZoneSource } from './offer.ts'
import { atAndAbove, type Guard, isAllowed, isAtOrBelow } from './zone-guard.ts'

export interface GuardedOffersOptions {
  readonly entries: ReadonlyMap<string, Pick<Entry, 'claims'>>
  /** A zone may be served from now on. */
  readonly onAllowed: (source: ZoneSource, origin: string, offer: ZoneOffer) => void
  /** A zone in service may no longer be. */
  readonly onBarred: (source: ZoneSource, origin: string) => void
}

interface GuardedOffer {
  readonly offer: ZoneOffer
  readonly isBarred: boolean
}

export class GuardedOffers {
  readonly #options: GuardedOffersOptions
  readonly #offers = new Map<ZoneSource, Map<string, GuardedOffer>>()

  constructor(options: GuardedOffersOptions) {
    this.#options = options
  }

  /** Whether the zone would hide names of sources before it. */
  isBarred(source: ZoneSource, guard: Guard, origin: string, offer: ZoneOffer): boolean {
    const offers = this.#offers.get(source) ?? new Map<string, GuardedOffer>()
    this.#offers.set(source, offers)
    const wasBarred = offers.get(origin)?.isBarred === true
    const other = this.#protector(source, guard, origin)
    offers.set(origin, { offer, isBarred: other !== undefined })
    if (other !== undefined)
      guard.onBarred(
        origin,
        `Cannot serve "${offer.label}": it would answer for names of ${other}, which is a zone of a source before it; rename it, or add it to "allow_zones"`,
      )
    else if (wasBarred) guard.onBarred(origin, undefined)
    return other !== undefined
  }

  /** The source no longer has the zone. Returns whether it was refused. */
  delete(source: ZoneSource, origin: string): boolean {
    const offers = this.#offers.get(source)
    const isBarred = offers?.get(origin)?.isBarred === true
    offers?.delete(origin)
    if (isBarred) source.guard?.onBarred(origin, undefined)
    return isBarred
  }

  /** Another source has a zone, or has it no longer: decides again for zones at or below it. */
  lookAgain({ space }: ZoneSource | PartOptions, zone: string): void {
    for (const [source, offers] of this.#offers) {
      if (source.space !== space || source.guard === undefined) continue
      for (const [origin, { offer, isBarred }] of offers) {
        if (!isAtOrBelow(origin, zone)) continue
        const isBarredNow = this.isBarred(source, source.guard, origin, offer)
        if (isBarredNow && !isBarred) this.#options.onBarred(source, origin)
        else if (!isBarredNow && isBarred) this.#options.onAllowed(source, origin, offer)
      }
    }
  }

  /** The zone of a source before this one that it is at or below, and not allowed to be. */
  #protector(source: ZoneSource, guard: Guard, origin: string): string | undefined {
    for (const zone of atAndAbove(origin)) {
      const claims = this.#options.entries.get(keyOfZone(source.space, zone))?.claims
      if (claims === undefined || isAllowed(origin, zone, guard)) continue
      if (claims.values().some(({ rank }) => rank < source.rank)) return zone
    }
    return undefined
  }
}
