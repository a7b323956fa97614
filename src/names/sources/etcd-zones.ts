// Zones in etcd: each key under the prefix is a domain, its value a zone file. A value that is refused leaves the last
// good version in service; a key that is no domain name harms nobody else.

import { formatName, lowerName } from '../../dns/name.ts'
import { ZoneBuilder } from '../../zone/build.ts'
import type { CheckOptions } from '../../zone/check.ts'
import type { LoadedOffer, ZoneOffer } from '../offer.ts'
import { originOfKey } from '../zone-key.ts'
import { ZoneText } from '../zone-text.ts'
import type { EtcdFollower, SourceChange } from './etcd-source.ts'

export interface EtcdZonesOptions {
  readonly prefix: string
  /** A text for an origin; false when it was refused. */
  readonly onZone: (origin: string, offer: ZoneOffer) => boolean
  readonly onGone: (origin: string) => void
  readonly onProblem: (message: string) => void
}

interface Text {
  readonly value: Uint8Array
  readonly modRevision: bigint
}

/** Smaller zones are quicker read again as a whole than kept in memory for their next change. */
const KEPT_RECORDS = 500

export class EtcdZones implements EtcdFollower {
  readonly #options: EtcdZonesOptions
  readonly #prefixBytes: number
  /** Texts by origin and key: spellings of one name may stand side by side. */
  readonly #zones = new Map<string, Map<string, Text>>()
  /** What is wrong with keys. */
  readonly #problems = new Map<string, string>()

  constructor(options: EtcdZonesOptions) {
    this.#options = options
    this.#prefixBytes = Buffer.byteLength(options.prefix)
  }

  apply({ key, value, modRevision }: SourceChange): boolean {
    const label = Buffer.from(key).toString()
    const name = key.subarray(this.#prefixBytes)
    const wire = originOfKey(name)
    const origin = wire && formatName(lowerName(wire))
    if (value === undefined) {
      this.#problems.delete(label)
      if (origin !== undefined) this.#delete(origin, label)
      return true
    }
    if (origin !== undefined) return this.#put(origin, label, { value, modRevision })
    const { prefix } = this.#options
    const problem = `${JSON.stringify(Buffer.from(name).toString())} is not a domain name`
    this.#complain(
      label,
      `Cannot use key ${JSON.stringify(label)}: ${problem}; one such as ${prefix}example.org is wanted`,
    )
    return false
  }

  /** Each zone is put into service by itself. */
  flush(): void {}

  problems(): readonly string[] {
    return [...this.#problems.values()]
  }

  #put(origin: string, label: string, text: Text): boolean {
    const keys = this.#zones.get(origin) ?? new Map<string, Text>()
    this.#zones.set(origin, keys)
    keys.set(label, text)
    this.#complainAboutOthers(origin, keys)
    return firstOf(keys) !== label || this.#offer(origin, label, text)
  }

  #delete(origin: string, label: string): void {
    const keys = this.#zones.get(origin)
    if (keys === undefined) return
    const before = firstOf(keys)
    keys.delete(label)
    const first = firstOf(keys)
    const text = first === undefined ? undefined : keys.get(first)
    if (first === undefined || text === undefined) {
      this.#zones.delete(origin)
      this.#options.onGone(origin)
      return
    }
    this.#problems.delete(first)
    this.#complainAboutOthers(origin, keys)
    if (first !== before) this.#offer(origin, first, text)
  }

  #offer(origin: string, label: string, { value, modRevision }: Text): boolean {
    return this.#options.onZone(origin, {
      label,
      version: `${label}@${modRevision}`,
      load: (wire, options, live) => load(value, label, wire, options, live),
    })
  }

  #complainAboutOthers(origin: string, keys: ReadonlyMap<string, Text>): void {
    if (keys.size === 1) return
    const first = firstOf(keys)
    for (const label of keys.keys())
      if (label !== first)
        this.#complain(label, `Cannot use key "${label}": "${first}" is the same zone ${origin}; remove one of them`)
  }

  #complain(label: string, message: string): void {
    if (this.#problems.get(label) === message) return
    this.#problems.set(label, message)
    this.#options.onProblem(message)
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
    const { builder } = live
    return { accepted, problems, included: [], builder, live, ...(touched !== undefined && { touched }) }
  }
  const { accepted, problems, text } = ZoneText.load(bytes, origin, textOptions)
  if (text === undefined) return { accepted, problems, included: [], builder: new ZoneBuilder(origin) }
  const { builder } = text
  return { accepted, problems, included: [], builder, ...(builder.recordCount >= KEPT_RECORDS && { live: text }) }
}

/** Of several spellings the first in byte order counts. */
function firstOf(keys: ReadonlyMap<string, unknown>): string | undefined {
  return [...keys.keys()].toSorted()[0]
}
