// Zones in etcd: each key under the prefix is a domain, its value a zone file. A value that is refused leaves the last
// good version in service; a key that is no domain name harms nobody else.

import { formatName, lowerName } from '../../dns/name.ts'
import { newRdataBuffer } from '../../dns/rdata/rdata.ts'
import type { Steps } from '../../dns/steps.ts'
import { ZoneBuilder } from '../../zone/build.ts'
import type { LoadedOffer, ZoneOffer } from '../offer.ts'
import { originOfKey } from '../zone-key.ts'
import { ZoneText, type ZoneTextOptions } from '../zone-text.ts'
import type { EtcdFollower, SourceChange } from './etcd-source.ts'
import { MemoryBudget } from './memory-budget.ts'

export interface EtcdZonesOptions {
  readonly prefix: string
  /** How many records a zone may have. */
  readonly maxRecords: number
  /** How much memory all zones may take together; MAX_SOURCE_BYTES unless given. */
  readonly maxBytes?: number
  /** A text for an origin; false when it was refused. */
  readonly onZone: (origin: string, offer: ZoneOffer) => boolean | Promise<boolean>
  readonly onGone: (origin: string) => void
  readonly onProblem: (message: string) => void
}

interface Text {
  readonly value: Uint8Array
  readonly modRevision: bigint
}

/** Memory of all zones of one source together. */
export const MAX_SOURCE_BYTES = 1 << 30

/** Smaller zones are quicker read again as a whole than kept in memory for their next change. */
const KEPT_RECORDS = 500

export class EtcdZones implements EtcdFollower {
  readonly #options: EtcdZonesOptions
  readonly #prefixBytes: number
  /** Texts by origin and key: spellings of one name may stand side by side. */
  readonly #zones = new Map<string, Map<string, Text>>()
  readonly #memory: MemoryBudget
  readonly #rdata = newRdataBuffer()
  /** What is wrong with keys. */
  readonly #problems = new Map<string, string>()
  /** What is wrong with zones that take names away from others. */
  readonly #barred = new Map<string, string>()

  constructor(options: EtcdZonesOptions) {
    this.#options = options
    this.#memory = new MemoryBudget(options.maxBytes ?? MAX_SOURCE_BYTES)
    this.#prefixBytes = Buffer.byteLength(options.prefix)
  }

  apply({ key, value, modRevision }: SourceChange): boolean | Promise<boolean> {
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
      `Cannot use key ${JSON.stringify(label)}: ${problem}; expected one such as ${prefix}example.org`,
    )
    return false
  }

  /** Each zone is put into service by itself. */
  flush(): undefined {}

  problems(): readonly string[] {
    return [...this.#problems.values(), ...this.#barred.values()]
  }

  /** A zone may not be served, or may again. */
  bar(origin: string, problem: string | undefined): void {
    const known = this.#barred.get(origin)
    if (problem === undefined) this.#barred.delete(origin)
    else this.#barred.set(origin, problem)
    if (problem !== undefined) this.#memory.set(origin, 0)
    if (problem !== undefined && problem !== known) this.#options.onProblem(problem)
  }

  #put(origin: string, label: string, text: Text): boolean | Promise<boolean> {
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
      this.#memory.set(origin, 0)
      this.#options.onGone(origin)
      return
    }
    this.#problems.delete(first)
    this.#complainAboutOthers(origin, keys)
    if (first !== before) void this.#offer(origin, first, text)
  }

  #offer(origin: string, label: string, text: Text): boolean | Promise<boolean> {
    const { onZone, maxRecords } = this.#options
    const { value, modRevision } = text
    let before: number | undefined
    const refusal = (zone: ZoneBuilder) => {
      before = this.#memory.get(origin)
      return this.#memory.take(origin, zone.usedBytes)
    }
    const verdict = onZone(origin, {
      label,
      version: `${label}@${modRevision}`,
      load: (wire, options, live) =>
        load(value, wire, { ...options, label, maxRecords, refusal, rdata: this.#rdata }, live),
    })
    const settle = (accepted: boolean) => {
      // What was there before is still in service, next to what may have been kept of this one.
      const isOfZone = this.#zones.get(origin)?.get(label) === text && !this.#barred.has(origin)
      if (!accepted && before !== undefined && isOfZone)
        this.#memory.set(origin, before && Math.max(before, this.#memory.get(origin)))
      return accepted
    }
    return typeof verdict === 'boolean' ? settle(verdict) : verdict.then(settle)
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

function* load(
  bytes: Uint8Array,
  origin: Uint8Array,
  options: ZoneTextOptions,
  live: ZoneText | undefined,
): Steps<LoadedOffer> {
  if (live !== undefined) {
    const { accepted, problems, touched } = yield* live.update(bytes, options)
    const { builder } = live
    return { accepted, problems, included: [], builder, live, ...(touched !== undefined && { touched }) }
  }
  const { accepted, problems, text } = yield* ZoneText.load(bytes, origin, options)
  if (text === undefined) return { accepted, problems, included: [], builder: new ZoneBuilder(origin) }
  const { builder } = text
  return { accepted, problems, included: [], builder, ...(builder.recordCount >= KEPT_RECORDS && { live: text }) }
}

/** Of several spellings the first in byte order counts. */
function firstOf(keys: ReadonlyMap<string, unknown>): string | undefined {
  return [...keys.keys()].toSorted()[0]
}
