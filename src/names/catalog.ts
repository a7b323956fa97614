// Which zones are in service and where each comes from. Sources offer texts for origins, or names to add to them; of
// several texts for one origin the source with the lowest rank wins. A text that is refused changes nothing: the last
// good version stays, and where there is none the zone answers SERVFAIL until there is.

import { type BinaryLike, createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { parseName } from '../dns/name.ts'
import { formatProblem } from '../dns/zonefile/problem.ts'
import type { ZoneFileProblem } from '../dns/zonefile/problem.ts'
import { messageOf } from '../lib/errors.ts'
import type { Arena } from '../zone/arena.ts'
import type { ZoneBuilder } from '../zone/build.ts'
import type { CompileOptions } from '../zone/compile.ts'
import type { Directory } from '../zone/directory.ts'
import type { LoaderReport } from './loader-messages.ts'
import type { PartOptions, ZoneOffer, ZoneSource } from './offer.ts'
import type { SourceRecord, ZonePart } from './part.ts'
import { keyOf, ServedZone } from './served-zone.ts'
import type { NameChange, NamesListener, PartNames } from './served-zone.ts'
import { nextSerial } from './serials.ts'
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
  /** What has been said of its sources getting in each other's way. */
  readonly told: Set<string>
}

/** More problems than this say nothing new. */
const PROBLEMS_SHOWN = 5
/** Names that change are told about together. */
const REPORT_MS = 100

export class Catalog {
  readonly #options: CatalogOptions
  readonly #entries = new Map<string, Entry>()
  readonly #changed = new Set<Entry>()
  /** By zone, also of those that are gone, so that they find their counters again. Slot 0 counts what is in no zone. */
  readonly #slots = new Map<string, number>()

  constructor(options: CatalogOptions) {
    this.#options = options
  }

  /** A source has a text, or another one, for an origin. False when it was refused. */
  offer(source: ZoneSource, origin: string, offer: ZoneOffer): boolean {
    const entry = this.#entry(source.space, origin)
    entry.offers.set(source, offer)
    const chosen = chosenOf(entry)
    for (const [other, { label }] of entry.offers)
      if (other !== chosen)
        this.#tellOnce(
          entry,
          `Cannot use "${label}" for ${origin}: "${chosen && entry.offers.get(chosen)?.label}" comes first; remove one of them`,
        )
    return chosen === source ? this.#load(entry, source, offer) : true
  }

  /** A source should have the origin, but its text cannot be read: the zone is known, and fails until it can. */
  miss(source: ZoneSource, origin: string, label: string): void {
    const entry = this.#entry(source.space, origin)
    if (entry.served.serial === undefined) this.#refuse(entry, source, label, [])
  }

  /** A source no longer has the origin. */
  withdraw(source: ZoneSource, origin: string): void {
    const entry = this.#entry(source.space, origin)
    const wasChosen = chosenOf(entry) === source
    entry.offers.delete(source)
    entry.versions.delete(source)
    entry.told.clear()
    if (!wasChosen) return
    entry.live = undefined
    const next = chosenOf(entry)
    const offer = next && entry.offers.get(next)
    if (next !== undefined && offer !== undefined) this.#load(entry, next, offer)
    else if (entry.parts.length === 0) this.#remove(entry)
    else this.#publish(entry, () => entry.served.dropText(this.#serials(entry, nowSeconds())))
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
      commit: (serial: number, version = String(serial)) => {
        const changes = pending
        if (changes.size === 0 && entry.served.serial !== undefined) return
        pending = new Map()
        entry.versions.set(options, version)
        this.#publish(entry, () => entry.served.setNames(names, changes, this.#serials(entry, serial)))
      },
    }
  }

  /** A zone that only gets names: before the first of them it is known, and fails. */
  await(space: number, origin: string): void {
    const { served, slot, parts } = this.#entry(space, origin)
    if (served.serial !== undefined) return
    served.fail()
    this.#options.report({ kind: 'awaited', space, origin, slot, plugin: parts[0]?.plugin ?? '' })
  }

  #entry(space: number, origin: string): Entry {
    const key = `${space} ${origin}`
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      const { arena, directory, listener } = this.#options
      const slot = this.#slots.get(key) ?? this.#slots.size + 1
      this.#slots.set(key, slot)
      const served = new ServedZone(origin, arena, directory, () => this.#compileOptions(key), listener(space, origin))
      entry = {
        ...{ space, origin, slot, served, live: undefined },
        ...{ offers: new Map(), parts: [], versions: new Map(), told: new Set() },
      }
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
      this.#refuse(entry, source, offer.label, [`${offer.label}: ${messageOf(thrown)}`])
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
    // Where serials are managed, one that goes backwards does no harm.
    const isManaged = offer.version !== undefined
    const options = { requireNs, ...(previousSerial === undefined || isManaged ? {} : { previousSerial }) }
    const loaded = offer.load(parseName(origin), options, live)
    const { builder, accepted, problems } = loaded
    const keep = loaded.live !== undefined || entry.parts.length > 0
    try {
      source.watchAlso(origin, loaded.included)
      if (!accepted) {
        this.#refuse(entry, source, offer.label, describe(problems, 'error'))
        return false
      }
      // Room of versions that readers have left since makes room for this one.
      directory.reclaim()
      const serials = this.#textSerials(entry, source, offer.version, builder)
      served.setText({ rank: source.rank, builder }, live === undefined ? undefined : loaded.touched, serials)
      entry.live = loaded.live === undefined ? undefined : { source, text: loaded.live }
      directory.reclaim()
      this.#tellSigned(entry)
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

  /** A file's serial is its author's business, as long as nothing else makes the zone change. */
  #textSerials(
    entry: Entry,
    source: ZoneSource,
    version: string | undefined,
    builder: ZoneBuilder,
  ): (wanted: number) => number {
    if (version === undefined && entry.parts.length === 0) return (wanted) => wanted
    entry.versions.set(source, version ?? contentVersion(builder))
    return this.#serials(entry, nowSeconds())
  }

  /** `fallback` is wanted of a zone without a text. */
  #serials(entry: Entry, fallback: number): (wanted: number) => number {
    const { space, origin, served, parts, versions } = entry
    const content = digest([JSON.stringify([chosenOf(entry), ...parts].map((each) => each && versions.get(each)))])
    return (wanted) =>
      this.#options.serials.serialFor(`${space} ${origin}`, content, nextSerial(served.serial, wanted || fallback))
  }

  /** Changes the names of a zone. What goes wrong concerns this zone alone, and the next change makes up for it. */
  #publish(entry: Entry, change: () => void): void {
    const { directory, report } = this.#options
    directory.reclaim()
    try {
      change()
      this.#tell(entry)
      this.#tellSigned(entry)
    } catch (thrown) {
      report({
        kind: 'problem',
        message: `Cannot change names of ${entry.origin}: ${messageOf(thrown)}; it stays as it is`,
      })
    }
  }

  #tellSigned(entry: Entry): void {
    const { origin, served, parts } = entry
    if (parts.length === 0 || !served.isSigned) return
    const what = parts.map(({ plugin }) => plugin).join(', ')
    this.#tellOnce(
      entry,
      `Cannot add names of ${what} to ${origin}: its text is signed, and says that they do not exist; give them a zone of their own`,
    )
  }

  #tellOnce(entry: Entry, message: string): void {
    if (entry.told.has(message)) return
    entry.told.add(message)
    this.#options.report({ kind: 'problem', message })
  }

  #refuse(entry: Entry, { plugin }: ZoneSource, file: string, errors: readonly string[]): void {
    const { space, origin, slot, served } = entry
    served.fail()
    this.#options.report({ kind: 'refused', space, origin, slot, plugin, file, errors, keptSerial: served.serial })
  }

  /** Tells what is in service of a zone whose names change, not at each of them. */
  #tell(entry: Entry): void {
    if (this.#changed.size === 0) setTimeout(() => this.tellChanged(), REPORT_MS)
    this.#changed.add(entry)
  }

  /** Tells at once what is to be told. */
  tellChanged(): void {
    const { arena, report } = this.#options
    for (const { space, origin, slot, served, parts, offers } of this.#changed) {
      if (served.serial === undefined) continue
      report({
        kind: 'names',
        space,
        origin,
        slot,
        plugin: parts[0]?.plugin ?? '',
        hasText: offers.size > 0,
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

/** Differs for different records. */
function contentVersion(builder: ZoneBuilder): string {
  return digest([builder.nameBytes, builder.rdataBytes, ...builder.recordColumns()])
}

function digest(pieces: readonly BinaryLike[]): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('base64url').slice(0, 16)
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
