// Which zones are in service and where each comes from. Sources offer texts for origins, or names to add to them; of
// several texts for one origin the source with the lowest rank wins. A text that is refused changes nothing: the last
// good version stays, and where there is none the zone answers SERVFAIL until there is.

import { performance } from 'node:perf_hooks'
import { parseName } from '../dns/name.ts'
import { formatProblem } from '../dns/zonefile/problem.ts'
import type { ZoneFileProblem } from '../dns/zonefile/problem.ts'
import { messageOf } from '../lib/errors.ts'
import type { Arena } from '../zone/arena.ts'
import type { CompileOptions } from '../zone/compile.ts'
import type { Directory } from '../zone/directory.ts'
import type { LoaderReport } from './loader-messages.ts'
import type { PartOptions, ZoneOffer, ZoneSource } from './offer.ts'
import type { SourceRecord, ZonePart } from './part.ts'
import { keyOf, ServedZone } from './served-zone.ts'
import type { NameChange, NamesListener, PartNames } from './served-zone.ts'
import type { SerialStore } from './serials.ts'
import type { ZoneText } from './zone-text.ts'

export interface CatalogOptions {
  readonly arena: Arena
  readonly directory: Directory
  readonly serials: SerialStore
  readonly report: (report: LoaderReport) => void
  /** Who hears which names the zones of a space have. */
  readonly listener: (space: number, origin: string) => NamesListener | undefined
}

interface Entry {
  readonly space: number
  readonly origin: string
  readonly slot: number
  readonly served: ServedZone
  /** What each source offers; the one with the lowest rank counts. */
  readonly offers: Map<ZoneSource, ZoneOffer>
  readonly parts: PartOptions[]
  /** The kept text in service and its source. */
  live: { readonly source: ZoneSource; readonly text: ZoneText } | undefined
  /** What the content in service is made of, for its serial. */
  readonly versions: Map<ZoneSource | PartOptions, string>
}

/** More problems than this say nothing new. */
const PROBLEMS_SHOWN = 5
/** Names that change are told about together. */
const REPORT_MS = 100

export class Catalog {
  readonly #options: CatalogOptions
  readonly #entries = new Map<string, Entry>()
  readonly #changed = new Set<Entry>()
  /** Slot 0 counts what is in no zone. */
  #slots = 1

  constructor(options: CatalogOptions) {
    this.#options = options
  }

  /** A source has a text, or another one, for an origin. False when it was refused. */
  offer(source: ZoneSource, origin: string, offer: ZoneOffer): boolean {
    const entry = this.#entry(source.space, origin)
    entry.offers.set(source, offer)
    const chosen = chosenOf(entry)
    if (chosen === source) return this.#load(entry, source, offer)
    this.#options.report({
      kind: 'problem',
      message: `Cannot use "${offer.label}" for ${origin}: "${chosen && entry.offers.get(chosen)?.label}" comes first; remove one of them`,
    })
    return true
  }

  /** A source should have the origin, but its text cannot be read: the zone is known, and fails until it can. */
  miss(source: ZoneSource, origin: string, label: string): void {
    const entry = this.#entry(source.space, origin)
    if (entry.served.serial === undefined) this.#refuse(entry, label, [])
  }

  /** A source no longer has the origin. */
  withdraw(source: ZoneSource, origin: string): void {
    const entry = this.#entry(source.space, origin)
    const wasChosen = chosenOf(entry) === source
    entry.offers.delete(source)
    entry.versions.delete(source)
    if (!wasChosen) return
    entry.live = undefined
    const next = chosenOf(entry)
    const offer = next && entry.offers.get(next)
    if (next !== undefined && offer !== undefined) {
      this.#load(entry, next, offer)
      return
    }
    if (entry.served.dropText(this.#serials(entry, nowSeconds()))) return this.#tell(entry)
    this.#remove(entry)
  }

  /** The way for a source to add names to a zone. Before anything is offered for it. */
  part(options: PartOptions, origin: string): ZonePart {
    const entry = this.#entry(options.space, origin)
    const remembered = options.names === undefined ? new Map<string, NameChange>() : undefined
    const names: PartNames = {
      rank: options.rank,
      style: options.style,
      owners: options.names?.owners ?? (() => Array.from(remembered?.values() ?? [], ({ owner }) => owner)),
      records: options.names?.records ?? ((owner) => remembered?.get(keyOf(owner))?.records ?? []),
    }
    entry.parts.push(options)
    entry.served.addPart(names)
    let pending = new Map<string, NameChange>()
    return {
      set: (owner: Uint8Array, records: readonly SourceRecord[]) => {
        const key = keyOf(owner)
        pending.set(key, { owner, records })
        if (records.length === 0) remembered?.delete(key)
        else remembered?.set(key, { owner, records })
      },
      commit: (serial: number) => {
        const changes = pending
        if (changes.size === 0 && entry.served.serial !== undefined) return
        pending = new Map()
        entry.versions.set(options, String(serial))
        this.#options.directory.reclaim()
        entry.served.setNames(names, changes, this.#serials(entry, serial))
        this.#tell(entry)
      },
    }
  }

  /** A zone that only gets names, before the first of them: known, and failing. */
  await(space: number, origin: string): void {
    this.#entry(space, origin).served.fail()
  }

  #entry(space: number, origin: string): Entry {
    const key = `${space} ${origin}`
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      const { arena, directory, listener } = this.#options
      const slot = this.#slots++
      const served = new ServedZone(origin, arena, directory, () => this.#compileOptions(key), listener(space, origin))
      entry = { space, origin, slot, served, offers: new Map(), parts: [], live: undefined, versions: new Map() }
      this.#entries.set(key, entry)
    }
    return entry
  }

  #compileOptions(key: string): CompileOptions {
    const entry = this.#entries.get(key)
    if (entry === undefined) throw new RangeError('no such zone')
    const { space, slot, parts } = entry
    return {
      space,
      slot,
      fallthrough: (chosenOf(entry)?.fallthrough ?? false) || parts.some(({ fallthrough }) => fallthrough),
      searches: parts.some(({ searches }) => searches),
      leastTtl: Math.max(0, ...parts.map(({ leastTtl }) => leastTtl)),
    }
  }

  #remove(entry: Entry): void {
    const { space, origin, served } = entry
    const { arena, directory, serials, report } = this.#options
    served.remove()
    serials.forget(`${space} ${origin}`)
    this.#changed.delete(entry)
    this.#entries.delete(`${space} ${origin}`)
    directory.reclaim()
    report({
      kind: 'gone',
      space,
      origin,
      arenaUsedBytes: arena.usedBytes,
      arenaBytes: arena.buffer.byteLength,
    })
  }

  /** Whatever goes wrong concerns this zone; the others must go on being followed. */
  #load(entry: Entry, source: ZoneSource, offer: ZoneOffer): boolean {
    try {
      return this.#tryLoad(entry, source, offer)
    } catch (thrown) {
      this.#refuse(entry, offer.label, [`${offer.label}: ${messageOf(thrown)}`])
      return false
    }
  }

  #tryLoad(entry: Entry, source: ZoneSource, offer: ZoneOffer): boolean {
    const started = performance.now()
    const { space, origin, slot, served } = entry
    const { arena, directory, report } = this.#options
    const { requireNs } = source
    const previousSerial = served.serial
    const live = entry.live?.source === source ? entry.live.text : undefined
    const options = { requireNs, ...(previousSerial === undefined ? {} : { previousSerial }) }
    const loaded = offer.load(parseName(origin), options, live)
    const { builder, accepted, problems } = loaded
    const keep = loaded.live !== undefined || entry.parts.length > 0
    try {
      source.watchAlso(origin, loaded.included)
      if (!accepted) {
        this.#refuse(entry, offer.label, describe(problems, 'error'))
        return false
      }
      // Room of versions that readers have left since makes room for this one.
      directory.reclaim()
      if (offer.version !== undefined) entry.versions.set(source, offer.version)
      const serials = offer.version === undefined ? (wanted: number) => wanted : this.#serials(entry, nowSeconds())
      served.setText({ rank: source.rank, builder }, live === undefined ? undefined : loaded.touched, serials)
      entry.live = loaded.live === undefined ? undefined : { source, text: loaded.live }
      directory.reclaim()
      report({
        kind: 'zone',
        space,
        origin,
        slot,
        plugin: source.plugin,
        file: offer.label,
        serial: served.serial ?? builder.serial,
        writtenSerial: builder.serial,
        serialChanged: previousSerial !== served.serial,
        records: builder.recordCount,
        warnings: describe(problems, 'warning'),
        milliseconds: performance.now() - started,
        arenaUsedBytes: arena.usedBytes,
        arenaBytes: arena.buffer.byteLength,
      })
      return true
    } finally {
      if (!keep) served.releaseText()
      if (!keep || (!accepted && builder !== live?.builder)) builder.release()
    }
  }

  /** `fallback` is wanted of a zone without a text. */
  #serials(entry: Entry, fallback: number): (wanted: number) => number {
    const hash = [...entry.versions.values()].join(' ')
    return (wanted) =>
      this.#options.serials.serialFor(`${entry.space} ${entry.origin}`, hash, wanted === 0 ? fallback : wanted)
  }

  #refuse({ space, origin, slot, served }: Entry, label: string, errors: readonly string[]): void {
    served.fail()
    this.#options.report({ kind: 'refused', space, origin, slot, file: label, errors, keptSerial: served.serial })
  }

  /** Tells what is in service of a zone whose names change, not at each of them. */
  #tell(entry: Entry): void {
    if (this.#changed.size === 0) setTimeout(() => this.tellChanged(), REPORT_MS)
    this.#changed.add(entry)
  }

  /** Tells at once what is to be told. */
  tellChanged(): void {
    const { arena, report } = this.#options
    for (const { space, origin, slot, served, parts } of this.#changed) {
      if (served.serial === undefined) continue
      report({
        kind: 'names',
        space,
        origin,
        slot,
        plugin: parts[0]?.plugin ?? '',
        serial: served.serial,
        arenaUsedBytes: arena.usedBytes,
        arenaBytes: arena.buffer.byteLength,
      })
    }
    this.#changed.clear()
  }
}

function chosenOf({ offers }: Entry): ZoneSource | undefined {
  let chosen: ZoneSource | undefined
  for (const source of offers.keys()) if (chosen === undefined || source.rank < chosen.rank) chosen = source
  return chosen
}

function describe(problems: readonly ZoneFileProblem[], severity: ZoneFileProblem['severity']): string[] {
  return problems
    .filter((problem) => problem.severity === severity)
    .slice(0, PROBLEMS_SHOWN)
    .map((problem) => formatProblem(problem))
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
