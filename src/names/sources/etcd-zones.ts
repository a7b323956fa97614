// Zones in etcd: each key under the prefix is a domain, its value a zone file. A value that is refused leaves the last
// good version in service; a key that is no domain name harms nobody else.

import { formatName, lowerName, NameError, parseName } from '../../dns/name.ts'
import { ZoneBuilder } from '../../zone/build.ts'
import type { CheckOptions } from '../../zone/check.ts'
import type { LoadedOffer, ZoneOffer } from '../offer.ts'
import { ZoneText } from '../zone-text.ts'
import type { EtcdFollower, SourceChange } from './etcd-source.ts'

export interface EtcdZonesOptions {
  readonly prefix: string
  /** A text for an origin; false when it was refused. */
  readonly onZone: (origin: string, offer: ZoneOffer) => boolean
  readonly onGone: (origin: string) => void
  readonly onProblem: (message: string) => void
}

/** Smaller zones are quicker read again as a whole than kept in memory for their next change. */
const KEPT_RECORDS = 500

export class EtcdZones implements EtcdFollower {
  readonly #options: EtcdZonesOptions
  readonly #prefixBytes: number
  /** Values by origin and key: spellings of one name may stand side by side. */
  readonly #zones = new Map<string, Map<string, SourceChange>>()

  constructor(options: EtcdZonesOptions) {
    this.#options = options
    this.#prefixBytes = Buffer.byteLength(options.prefix)
  }

  apply(change: SourceChange): boolean {
    const label = Buffer.from(change.key).toString()
    const origin = this.#originOf(label)
    if (origin === undefined) return false
    const keys = this.#zones.get(origin) ?? new Map<string, SourceChange>()
    const before = firstOf(keys)
    if (change.value === undefined) keys.delete(label)
    else keys.set(label, change)
    const now = firstOf(keys)
    if (keys.size === 0) this.#zones.delete(origin)
    else this.#zones.set(origin, keys)
    if (now === undefined) {
      if (before !== undefined) this.#options.onGone(origin)
      return true
    }
    if (now !== label && change.value !== undefined)
      this.#options.onProblem(`Cannot use key "${label}": "${now}" is the same zone ${origin}; remove one of them`)
    if (now === before && now !== label) return true
    return this.#offer(origin, now, keys)
  }

  /** Each zone is put into service by itself. */
  flush(): void {}

  #offer(origin: string, label: string, keys: ReadonlyMap<string, SourceChange>): boolean {
    const change = keys.get(label)
    if (change?.value === undefined) return false
    const { value, modRevision } = change
    return this.#options.onZone(origin, {
      label,
      version: `${label}@${modRevision}`,
      load: (wire, options, live) => load(value, label, wire, options, live),
    })
  }

  #originOf(label: string): string | undefined {
    const text = Buffer.from(label).subarray(this.#prefixBytes).toString()
    try {
      if (/[\s\p{Cc}]/u.test(text)) throw new NameError('white space')
      return formatName(lowerName(parseName(text.endsWith('.') ? text : `${text}.`)))
    } catch (thrown) {
      if (!(thrown instanceof NameError)) throw thrown
      this.#options.onProblem(
        `Cannot use key "${label}": "${text}" is not a domain name; wanted: "${this.#options.prefix}" followed by one, such as ${this.#options.prefix}example.org`,
      )
      return undefined
    }
  }
}

function load(
  bytes: Uint8Array,
  label: string,
  origin: Uint8Array,
  options: CheckOptions,
  live: ZoneText | undefined,
): LoadedOffer {
  const textOptions = { ...options, label }
  if (live !== undefined) {
    const { accepted, problems, touched } = live.update(bytes, textOptions)
    return {
      accepted,
      problems,
      included: [],
      builder: live.builder,
      live,
      ...(touched === undefined ? {} : { touched }),
    }
  }
  const { accepted, problems, text } = ZoneText.load(bytes, origin, textOptions)
  if (text === undefined) return { accepted, problems, included: [], builder: new ZoneBuilder(origin) }
  const keep = text.builder.recordCount >= KEPT_RECORDS
  return { accepted, problems, included: [], builder: text.builder, ...(keep ? { live: text } : {}) }
}

/** Of several spellings the first in byte order counts. */
function firstOf(keys: ReadonlyMap<string, SourceChange>): string | undefined {
  return [...keys.keys()].toSorted()[0]
}
