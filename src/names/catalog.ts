// Which zones are in service and where each comes from. Sources offer texts for origins, or names to add to them; of
// several texts for one origin the source with the lowest rank wins. A text that is refused changes nothing: the last
// good version stays, and where there is none the zone answers SERVFAIL until there is.
//
// Texts are read, and zones made, in steps between other events (work-queue.ts): one job for a zone at a time. A text
// that is being read is read to its end, since a newer one may be refused; of newer ones the newest waits. Names of parts
// go into the version in service at once, also meanwhile.

import { type BinaryLike, createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { parseName } from '../dns/name.ts'
import type { Steps } from '../dns/steps.ts'
import { formatProblem } from '../dns/zonefile/problem.ts'
import type { ZoneFileProblem } from '../dns/zonefile/problem.ts'
import { messageOf } from '../lib/errors.ts'
import type { Arena } from '../zone/arena.ts'
import type { ZoneBuilder } from '../zone/build.ts'
import type { CompileOptions } from '../zone/compile.ts'
import type { Directory } from '../zone/directory.ts'
import { commonFallthrough } from './fallthrough.ts'
import type { LoaderReport } from './loader-messages.ts'
import type { PartOptions, ZoneOffer, ZoneSource } from './offer.ts'
import type { SourceRecord, ZonePart } from './part.ts'
import { keyOf, ServedZone } from './served-zone.ts'
import type { NameChange, NamesListener, PartNames } from './served-zone.ts'
import { nextSerial } from './serials.ts'
import type { SerialStore } from './serials.ts'
import type { Lane, WorkQueue } from './work-queue.ts'
import { atAndAbove, type Guard, isAllowed, isAtOrBelow } from './zone-guard.ts'
import type { ZoneText } from './zone-text.ts'

export interface CatalogOptions {
  readonly arena: Arena
  readonly directory: Directory
  readonly serials: SerialStore
  readonly report: (report: LoaderReport) => void
  readonly work: WorkQueue
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
  /** Sources of the operator that have the zone, whether its text can be read or not. */
  readonly claims: Set<ZoneSource | PartOptions>
  /** What is being done for it. */
  job: Job | undefined
  /** The newest serial of a part. */
  partSerial: number
  /** How long to wait before the next attempt to make a version; 0 unless the last one failed. */
  retryMs: number
  /** The next attempt is to be made later. */
  isRetryPending: boolean
  /** The text in service is no longer there, and the version without it is still to be made. */
  owesRemoval: boolean
}

/** Work for one zone. */
interface Job {
  /** The source whose text is read. */
  readonly source: ZoneSource | undefined
  readonly giveUp: () => void
  /** Whoever waits for it hears that it came to nothing. */
  readonly drop: () => void
  /** It has changed what is in service: it is too late to give it up. */
  isCommitted: boolean
  /** What is to be done next: nothing, the removal of a text, the newest text, or both. */
  next: Waiting[]
}

interface Waiting {
  readonly source: ZoneSource | undefined
  readonly begin: () => void
  readonly drop: () => void
}

/** More problems than this say nothing new. */
const PROBLEMS_SHOWN = 5
/** How long to wait after a version could not be made, at first and at most. */
const RETRY_MS = { first: 1000, most: 60_000 } as const
/** Names that change are told about together. */
const REPORT_MS = 100

export class Catalog {
  readonly #options: CatalogOptions
  readonly #entries = new Map<string, Entry>()
  readonly #changed = new Set<Entry>()
  /** By zone, also of those that are gone, so that they find their counters again. Slot 0 counts what is in no zone. */
  readonly #slots = new Map<string, number>()
  /** What sources offer that others write to, in service or not. */
  readonly #guarded = new Map<ZoneSource, Map<string, GuardedOffer>>()

  constructor(options: CatalogOptions) {
    this.#options = options
  }

  /** A source has a text, or another one, for an origin. False when it was refused, or another came before it was read. */
  offer(source: ZoneSource, origin: string, offer: ZoneOffer): boolean | Promise<boolean> {
    if (source.guard === undefined) this.#claim(source, origin)
    else if (this.#isBarred(source, source.guard, origin, offer)) return false
    return this.#offer(source, origin, offer)
  }

  #offer(source: ZoneSource, origin: string, offer: ZoneOffer): boolean | Promise<boolean> {
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
    this.#claim(source, origin)
    const entry = this.#entry(source.space, origin)
    if (entry.served.serial === undefined) this.#refuse(entry, source, label, [])
  }

  /** A source no longer has the origin. */
  withdraw(source: ZoneSource, origin: string): void {
    const guarded = this.#guarded.get(source)?.get(origin)
    this.#guarded.get(source)?.delete(origin)
    this.#entries.get(`${source.space} ${origin}`)?.claims.delete(source)
    if (guarded?.isBarred === true) source.guard?.onBarred(origin, undefined)
    else this.#withdraw(source, origin)
    if (source.guard === undefined) this.#lookAgain(source.space, origin)
  }

  #withdraw(source: ZoneSource, origin: string): void {
    const entry = this.#entry(source.space, origin)
    const wasChosen = chosenOf(entry) === source
    entry.offers.delete(source)
    entry.versions.delete(source)
    entry.told.clear()
    if (!wasChosen) return
    entry.live = undefined
    this.#abandon(entry)
    const next = chosenOf(entry)
    const offer = next && entry.offers.get(next)
    if (next !== undefined && offer !== undefined) void this.#load(entry, next, offer)
    else if (entry.parts.length === 0) this.#remove(entry)
    else this.#dropText(entry)
  }

  #dropText(entry: Entry): void {
    entry.owesRemoval = true
    this.#renew(entry, (onCommit) =>
      entry.served.dropText(this.#serials(entry, nowSeconds()), () => {
        entry.owesRemoval = false
        onCommit()
      }),
    )
  }

  /** The operator has said that a source has the zone. */
  #claim(source: ZoneSource | PartOptions, origin: string): void {
    const { claims } = this.#entry(source.space, origin)
    if (claims.has(source)) return
    claims.add(source)
    this.#lookAgain(source.space, origin)
  }

  /** Whether the zone would take names away from sources before it. */
  #isBarred(source: ZoneSource, guard: Guard, origin: string, offer: ZoneOffer): boolean {
    const offers = this.#guarded.get(source) ?? new Map<string, GuardedOffer>()
    this.#guarded.set(source, offers)
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

  /** The zone of a source before this one that it is at or below, and not allowed to be. */
  #protector(source: ZoneSource, guard: Guard, origin: string): string | undefined {
    for (const zone of atAndAbove(origin)) {
      const claims = this.#entries.get(`${source.space} ${zone}`)?.claims
      if (claims === undefined || isAllowed(origin, zone, guard)) continue
      if (claims.values().some(({ rank }) => rank < source.rank)) return zone
    }
    return undefined
  }

  /** What a change of who has a zone means for those at or below it that others have written. */
  #lookAgain(space: number, zone: string): void {
    for (const [source, offers] of this.#guarded) {
      if (source.space !== space || source.guard === undefined) continue
      for (const [origin, { offer, isBarred }] of offers) {
        if (!isAtOrBelow(origin, zone)) continue
        const isBarredNow = this.#isBarred(source, source.guard, origin, offer)
        if (isBarredNow && !isBarred) this.#withdraw(source, origin)
        else if (!isBarredNow && isBarred) void this.#offer(source, origin, offer)
      }
    }
  }

  /** The way for a source to add names to a zone. Before anything is offered for it. */
  part(options: PartOptions, origin: string): ZonePart {
    this.#claim(options, origin)
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
        entry.partSerial = serial
        this.#publish(entry, () => entry.served.setNames(names, changes, this.#serials(entry, serial)))
        this.#settle(entry)
      },
      isFirst: () => entry.claims.values().every(({ rank }) => rank >= options.rank),
    }
  }

  /** Zones that are still being read are known, and fail until they have been. */
  awaitTexts(): void {
    for (const { space, origin, offers } of this.#entries.values()) if (offers.size > 0) this.await(space, origin)
  }

  /** A zone that only gets names: before the first of them it is known, and fails. */
  await(space: number, origin: string): void {
    const entry = this.#entry(space, origin)
    const { served, slot, parts } = entry
    if (served.serial !== undefined) return
    served.fail()
    const plugin = parts[0]?.plugin ?? chosenOf(entry)?.plugin ?? ''
    this.#options.report({ kind: 'awaited', space, origin, slot, plugin })
  }

  #entry(space: number, origin: string): Entry {
    const key = `${space} ${origin}`
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      const { arena, directory, listener, report } = this.#options
      const slot = this.#slots.get(key) ?? this.#slots.size + 1
      this.#slots.set(key, slot)
      const served = new ServedZone(
        origin,
        arena,
        directory,
        () => this.#compileOptions(key),
        listener(space, origin),
        (message) => report({ kind: 'problem', message }),
      )
      entry = {
        ...{ space, origin, slot, served, live: undefined, job: undefined, partSerial: 0 },
        ...{ retryMs: 0, isRetryPending: false, owesRemoval: false },
        ...{ offers: new Map(), parts: [], versions: new Map(), told: new Set(), claims: new Set() },
      }
      this.#entries.set(key, entry)
    }
    return entry
  }

  #compileOptions(key: string): CompileOptions {
    const entry = this.#entries.get(key)
    if (entry === undefined) throw new RangeError('no such zone')
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

  #remove(entry: Entry): void {
    const { space, origin, served } = entry
    const { arena, directory, serials, report } = this.#options
    entry.job?.giveUp()
    entry.job?.drop()
    for (const waiting of entry.job?.next ?? []) waiting.drop()
    entry.job = undefined
    const steps = served.remove()
    if (steps !== undefined) this.#inBackground(steps)
    serials.forget(`${space} ${origin}`)
    this.#changed.delete(entry)
    this.#entries.delete(`${space} ${origin}`)
    // It is still known who should have it.
    for (const claim of entry.claims) this.#entry(space, origin).claims.add(claim)
    directory.reclaim()
    report({
      kind: 'gone',
      space,
      origin,
      arenaUsedBytes: arena.usedBytes,
      arenaBytes: arena.buffer.byteLength,
    })
  }

  /** Whatever goes wrong concerns this zone; the others are followed as before. */
  #load(entry: Entry, source: ZoneSource, offer: ZoneOffer): boolean | Promise<boolean> {
    let verdict: boolean | undefined
    const later = Promise.withResolvers<boolean>()
    const decide = (accepted: boolean) => {
      verdict = accepted
      later.resolve(accepted)
    }
    this.#begin(entry, {
      source,
      lane: offer.version === undefined ? 'files' : 'etcd',
      steps: (onCommit) => this.#loadSteps(entry, source, offer, onCommit),
      onDone: decide,
      onFailure: (thrown) => {
        this.#refuse(entry, source, offer.label, [`${offer.label}: ${messageOf(thrown)}`])
        decide(false)
      },
      onDropped: () => decide(false),
    })
    return verdict ?? later.promise
  }

  /** A new version of the zone, not because of a text. */
  #renew(entry: Entry, steps: (onCommit: () => void) => Steps<void>): void {
    this.#begin(entry, {
      ...{ source: undefined, lane: laneOf(entry), steps, onDropped: () => {} },
      onDone: () => {
        entry.retryMs = 0
        this.#told(entry)
      },
      onFailure: (thrown) => {
        this.#cannotChange(entry, thrown)
        this.#retryLater(entry)
      },
    })
  }

  /** What made a version fail, such as memory that is used up, is seldom over at once. */
  #retryLater(entry: Entry): void {
    entry.retryMs = Math.min(entry.retryMs * 2 || RETRY_MS.first, RETRY_MS.most)
    entry.isRetryPending = true
    setTimeout(() => {
      entry.isRetryPending = false
      if (this.#entries.get(`${entry.space} ${entry.origin}`) === entry) this.#settle(entry)
    }, entry.retryMs).unref()
  }

  /** The text in service, or to come, is no longer there: ends what is being done for it unless it is too late. */
  #abandon(entry: Entry): void {
    const { job } = entry
    if (job === undefined) return
    for (const waiting of job.next.splice(0)) waiting.drop()
    if (job.isCommitted) return
    job.giveUp()
    entry.job = undefined
    job.drop()
  }

  /** Now, or after what is being done for the zone. Of texts of one source the newest waits. */
  #begin<Result>(entry: Entry, wanted: JobOptions<Result>): void {
    const { source } = wanted
    // A text of another source comes first now.
    if (source !== undefined && entry.job?.source !== undefined && entry.job.source !== source) this.#abandon(entry)
    const { job } = entry
    if (job !== undefined) {
      for (const waiting of job.next) if (waiting.source !== undefined) waiting.drop()
      const rest = job.next.filter((waiting) => waiting.source === undefined)
      job.next = [...rest, { source, begin: () => this.#begin(entry, wanted), drop: wanted.onDropped }]
      return
    }
    const end = (how: () => void) => {
      entry.job = undefined
      how()
      for (const waiting of mine.next) waiting.begin()
      this.#settle(entry)
    }
    const mine: Job = { source, giveUp: () => giveUp(), drop: wanted.onDropped, isCommitted: false, next: [] }
    entry.job = mine
    let giveUp = (): void => {}
    this.#options.directory.reclaim()
    giveUp = this.#options.work.add<Result>({
      lane: wanted.lane,
      steps: wanted.steps(() => (mine.isCommitted = true)),
      onDone: (result) => end(() => wanted.onDone(result)),
      onFailure: (thrown) => end(() => wanted.onFailure(thrown)),
    })
  }

  /** Makes the version that names of parts are waiting for, when nobody else does. */
  #settle(entry: Entry): void {
    const { served, job } = entry
    if (job !== undefined || entry.isRetryPending) return
    if (entry.owesRemoval) this.#dropText(entry)
    else if (served.owesNames)
      this.#renew(entry, (onCommit) =>
        served.rebuild((wanted) => this.#serials(entry, entry.partSerial)(wanted), onCommit),
      )
  }

  #inBackground(steps: Steps<void>): void {
    const { report, work } = this.#options
    const onFailure = (thrown: unknown) =>
      report({
        kind: 'problem',
        message: `Cannot follow names: ${messageOf(thrown)}; this is a defect, please report it`,
      })
    work.add({ lane: 'names', steps, onDone: () => {}, onFailure })
  }

  *#loadSteps(entry: Entry, source: ZoneSource, offer: ZoneOffer, onCommit: () => void): Steps<boolean> {
    const started = performance.now()
    const { space, origin, slot, served } = entry
    const { arena, directory, report } = this.#options
    const { requireNs } = source
    const previousSerial = served.serial
    const live = entry.live?.source === source ? entry.live.text : undefined
    // Where serials are managed, one that goes backwards does no harm.
    const isManaged = offer.version !== undefined
    const options = { requireNs, ...(previousSerial === undefined || isManaged ? {} : { previousSerial }) }
    const loaded = yield* offer.load(parseName(origin), options, live)
    const { builder, accepted, problems } = loaded
    const keep = loaded.live !== undefined || entry.parts.length > 0
    let isCommitted = false
    try {
      source.watchAlso(origin, loaded.included)
      if (!accepted) {
        this.#refuse(entry, source, offer.label, describe(problems, 'error'))
        return false
      }
      // Room of versions that readers have left since makes room for this one.
      directory.reclaim()
      const serials = yield* this.#textSerials(entry, source, offer.version, builder)
      const text = { rank: source.rank, builder }
      const touched = live === undefined ? undefined : loaded.touched
      yield* served.setText(text, touched, serials, () => {
        isCommitted = true
        entry.owesRemoval = false
        entry.retryMs = 0
        entry.live = loaded.live === undefined ? undefined : { source, text: loaded.live }
        onCommit()
      })
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
      if (isCommitted && !keep) served.releaseText()
      if (!(isCommitted && keep) && builder !== live?.builder) builder.release()
    }
  }

  /** A file's serial is its author's business, as long as nothing else makes the zone change. */
  *#textSerials(
    entry: Entry,
    source: ZoneSource,
    version: string | undefined,
    builder: ZoneBuilder,
  ): Steps<(wanted: number) => number> {
    if (version === undefined && entry.parts.length === 0) return (wanted) => wanted
    const content = version ?? (yield* contentVersion(builder))
    return (wanted) => {
      entry.versions.set(source, content)
      return this.#serials(entry, nowSeconds())(wanted)
    }
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
    const { directory } = this.#options
    directory.reclaim()
    try {
      change()
      this.#told(entry)
    } catch (thrown) {
      this.#cannotChange(entry, thrown)
    }
  }

  #told(entry: Entry): void {
    this.#tell(entry)
    this.#tellSigned(entry)
  }

  #cannotChange({ origin }: Entry, thrown: unknown): void {
    const message = `Cannot change names of ${origin}: ${messageOf(thrown)}; it stays as it is`
    this.#options.report({ kind: 'problem', message })
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

/** Of work on names: those that follow a primary come first. */
function laneOf({ parts }: Entry): Lane {
  return parts.some(({ isUrgent }) => isUrgent) ? 'urgent' : 'names'
}

function describe(problems: readonly ZoneFileProblem[], severity: ZoneFileProblem['severity']): string[] {
  return problems
    .filter((problem) => problem.severity === severity)
    .slice(0, PROBLEMS_SHOWN)
    .map((problem) => formatProblem(problem))
}

interface GuardedOffer {
  readonly offer: ZoneOffer
  readonly isBarred: boolean
}

interface JobOptions<Result> {
  /** The source whose text is read. */
  readonly source: ZoneSource | undefined
  readonly lane: Lane
  readonly steps: (onCommit: () => void) => Steps<Result>
  readonly onDone: (result: Result) => void
  readonly onFailure: (thrown: unknown) => void
  /** It was given up before it changed anything. */
  readonly onDropped: () => void
}

/** Differs for different records. */
function* contentVersion(builder: ZoneBuilder): Steps<string> {
  const hash = createHash('sha256')
  for (const { buffer } of [builder.nameBytes, builder.rdataBytes, ...builder.recordColumns()])
    for (let at = 0; at < buffer.byteLength; at += HASHED_BYTES) {
      hash.update(new Uint8Array(buffer, at, Math.min(HASHED_BYTES, buffer.byteLength - at)))
      yield
    }
  return hash.digest('base64url').slice(0, 16)
}

/** In one step. */
const HASHED_BYTES = 1 << 18

function digest(pieces: readonly BinaryLike[]): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('base64url').slice(0, 16)
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
