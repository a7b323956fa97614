// What the catalog knows of one zone: who offers a text for it, who adds names, and what is in service.

import type { CompileOptions } from '../zone/compile.ts'
import { commonFallthrough } from './fallthrough.ts'
import type { PartOptions, ZoneOffer, ZoneSource } from './offer.ts'
import type { ServedZone } from './served-zone.ts'
import type { Lane } from './work-queue.ts'
import type { ZoneJobs } from './zone-jobs.ts'
import type { ZoneText } from './zone-text.ts'

export interface Entry {
  readonly space: number
  readonly origin: string
  readonly slot: number
  readonly served: ServedZone
  /** What is being done for it. */
  readonly jobs: ZoneJobs
  /** What each source offers; the one with the lowest rank counts. */
  readonly offers: Map<ZoneSource, ZoneOffer>
  readonly parts: PartOptions[]
  /** The kept text in service and its source. */
  live: { readonly source: ZoneSource; readonly text: ZoneText } | undefined
  /** What the content in service is made of, for its serial. */
  readonly versions: Map<ZoneSource | PartOptions, string>
  /** Reports of sources that are in each other's way. */
  readonly reported: Set<string>
  /** Sources of the operator that have the zone, whether its text can be read or not. */
  readonly claims: Set<ZoneSource | PartOptions>
  /** The newest serial of a part. */
  partSerial: number
  /** How long to wait before the next attempt to make a version; 0 unless the last one failed. */
  retryMs: number
  /** The next attempt is to be made later. */
  isRetryPending: boolean
  /** The text in service is no longer there, and the version without it is still to be made. */
  owesRemoval: boolean
}

export function keyOfZone(space: number, origin: string): string {
  return `${space} ${origin}`
}

/** A zone of which nothing is known yet. */
export function newEntry(zone: Pick<Entry, 'space' | 'origin' | 'slot' | 'served' | 'jobs'>): Entry {
  return {
    ...zone,
    ...{ offers: new Map(), parts: [], live: undefined, versions: new Map(), reported: new Set(), claims: new Set() },
    ...{ partSerial: 0, retryMs: 0, isRetryPending: false, owesRemoval: false },
  }
}

/** The source whose text counts. */
export function chosenOf({ offers }: Entry): ZoneSource | undefined {
  let chosen: ZoneSource | undefined
  for (const source of offers.keys()) if (chosen === undefined || source.rank < chosen.rank) chosen = source
  return chosen
}

/** Where work on its names is done: names that follow a primary come first. */
export function namesLaneOf({ parts }: Entry): Lane {
  return parts.some(({ isUrgent }) => isUrgent) ? 'urgent' : 'names'
}

export function compileOptionsOf(entry: Entry): CompileOptions {
  const { space, slot, parts } = entry
  const text = chosenOf(entry)
  const sources = [...(text === undefined ? [] : [text]), ...parts]
  const lists = sources.map(({ fallthrough }) => fallthrough).filter((list) => list !== undefined)
  return {
    space,
    slot,
    source: sources.length === 1 ? sources[0].rank + 1 : 0,
    fallthrough: commonFallthrough(lists),
    searches: parts.some(({ searches }) => searches),
    leastTtl: Math.max(0, ...parts.map(({ leastTtl }) => leastTtl)),
  }
}
