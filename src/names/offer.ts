// What sources bring to the catalog: whole zones as texts, or names to add to zones.

import type { Steps } from '../dns/steps.ts'
import type { ZoneFileProblem } from '../dns/zonefile/problem.ts'
import type { ZoneBuilder } from '../zone/build.ts'
import type { CheckOptions } from '../zone/check.ts'
import type { NameStyle } from '../zone/edits.ts'
import type { PartNames } from './served-zone.ts'
import type { Guard } from './zone-guard.ts'
import type { ZoneText } from './zone-text.ts'

/** A source of whole zones. */
export interface ZoneSource {
  /** The server block it belongs to. */
  readonly space: number
  /** Its place among the sources of the block. */
  readonly rank: number
  /** As metrics name it: `auto`, `file`, `etcd`. */
  readonly plugin: string
  /** Zones below which names that the source does not have are asked elsewhere; `.` for all names. */
  readonly fallthrough: readonly string[]
  /** Refuse zones without NS at the apex. CoreDNS serves them. */
  readonly requireNs: boolean
  /** Of a source that others than the operator write to. */
  readonly guard?: Guard
  /** Tells the source which other files the zone depends on. */
  watchAlso(origin: string, files: readonly string[]): void
}

/** One text for one origin. */
export interface ZoneOffer {
  /** File or key, for messages. */
  readonly label: string
  /** Differs for different content. Without it the serial in the text is served as it is. */
  readonly version?: string
  /** Reads it; `live` is what this source has in service for the origin, if it was kept. */
  load(origin: Uint8Array, options: CheckOptions, live: ZoneText | undefined): Steps<LoadedOffer>
}

export interface LoadedOffer {
  readonly accepted: boolean
  readonly problems: readonly ZoneFileProblem[]
  /** Files that were read beside the text itself. */
  readonly included: readonly string[]
  readonly builder: ZoneBuilder
  /** Keeps the text for the next change of it. */
  readonly live?: ZoneText
  /** Names of the builder that differ from the text in service; undefined when that is not known. */
  readonly touched?: readonly number[]
}

/** A source of names. */
export interface PartOptions {
  readonly space: number
  readonly rank: number
  readonly plugin: string
  readonly style: NameStyle
  /** Zones below which names that the source does not have are asked elsewhere; undefined: it has no say. */
  readonly fallthrough: readonly string[] | undefined
  /** Labels `*` and `any` in questions search. */
  readonly searches: boolean
  readonly leastTtl: number
  /** Its names follow a primary: no other work comes before a change of them. */
  readonly isUrgent?: boolean
  /** What the source has, where it can say so itself; otherwise the catalog remembers it. */
  readonly names?: Pick<PartNames, 'owners' | 'records'>
}
