// Which zones are in service and where each comes from. Sources offer texts for origins, or names to add to them; of
// several texts for one origin the source with the lowest rank wins. A text that is refused changes nothing: the last
// good version stays, and where there is none the zone answers SERVFAIL until there is.
//
// Texts are read, and zones made, in steps between other events (work-queue.ts), one job for a zone at a time
// (zone-jobs.ts). Names of parts go into the version in service at once, also meanwhile.

import type { Steps } from '../dns/steps.ts'
import { messageOf } from '../lib/errors.ts'
import type { Arena } from '../zone/arena.ts'
import type { Directory } from '../zone/directory.ts'
import { chosenOf, compileOptionsOf, type Entry, keyOfZone, namesLaneOf, newEntry } from './catalog-entry.ts'
import { CatalogReports } from './catalog-reports.ts'
import { GuardedOffers } from './guarded-offers.ts'
import type { LoaderReport } from './loader-messages.ts'
import type { PartOptions, ZoneOffer, ZoneSource } from './offer.ts'
import { PartChanges } from './part-changes.ts'
import type { ZonePart } from './part.ts'
import { type NamesListener, ServedZone } from './served-zone.ts'
import type { SerialStore } from './serials.ts'
import type { WorkQueue } from './work-queue.ts'
import { ZoneJobs } from './zone-jobs.ts'
import { loadIntoService } from './zone-loading.ts'
import { nowSeconds, serialsOf } from './zone-serials.ts'

export interface CatalogOptions {
  readonly arena: Arena
  readonly directory: Directory
  readonly serials: SerialStore
  readonly report: (report: LoaderReport) => void
  readonly work: WorkQueue
  /** Hears which names the zones of a space have. */
  readonly listener: (space: number, origin: string) => NamesListener | undefined
}

/** How long to wait after a version could not be made, at first and at most. */
const RETRY_MS = { first: 1000, most: 60_000 } as const

export class Catalog {
  readonly #options: CatalogOptions
  readonly #reports: CatalogReports
  readonly #entries = new Map<string, Entry>()
  /** By zone, also of those that are gone, so that they find their counters again. Slot 0 counts what is in no zone. */
  readonly #slots = new Map<string, number>()
  readonly #guarded: GuardedOffers

  constructor(options: CatalogOptions) {
    this.#options = options
    this.#reports = new CatalogReports(options.arena, options.report)
    this.#guarded = new GuardedOffers({
      entries: this.#entries,
      onAllowed: (source, origin, offer) => void this.#offer(source, origin, offer),
      onBarred: (source, origin) => this.#withdraw(source, origin),
    })
  }

  /** A source has a text, or another one, for an origin. False when it is refused, or a newer one is accepted instead. */
  offer(source: ZoneSource, origin: string, offer: ZoneOffer): boolean | Promise<boolean> {
    if (source.guard === undefined) this.#claim(source, origin)
    else if (this.#guarded.isBarred(source, source.guard, origin, offer)) return false
    return this.#offer(source, origin, offer)
  }

  #offer(source: ZoneSource, origin: string, offer: ZoneOffer): boolean | Promise<boolean> {
    const entry = this.#entry(source.space, origin)
    entry.offers.set(source, offer)
    const chosen = chosenOf(entry)
    for (const [other, { label }] of entry.offers)
      if (other !== chosen)
        this.#reports.problemOnce(
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
    this.#entries.get(keyOfZone(source.space, origin))?.claims.delete(source)
    if (!this.#guarded.delete(source, origin)) this.#withdraw(source, origin)
    if (source.guard === undefined) this.#guarded.lookAgain(source, origin)
  }

  #withdraw(source: ZoneSource, origin: string): void {
    const entry = this.#entry(source.space, origin)
    const wasChosen = chosenOf(entry) === source
    entry.offers.delete(source)
    entry.versions.delete(source)
    entry.reported.clear()
    if (!wasChosen) return
    entry.live = undefined
    entry.jobs.abandon()
    const next = chosenOf(entry)
    const offer = next && entry.offers.get(next)
    if (next !== undefined && offer !== undefined) void this.#load(entry, next, offer)
    else if (entry.parts.length === 0) this.#remove(entry)
    else this.#dropText(entry)
  }

  #dropText(entry: Entry): void {
    entry.owesRemoval = true
    this.#renew(entry, (onCommit) =>
      entry.served.dropText(serialsOf(this.#options.serials, entry, nowSeconds()), () => {
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
    this.#guarded.lookAgain(source, origin)
  }

  /** The way for a source to add names to a zone. Before anything is offered for it. */
  part(options: PartOptions, origin: string): ZonePart {
    this.#claim(options, origin)
    const entry = this.#entry(options.space, origin)
    const changes = new PartChanges(options)
    entry.parts.push(options)
    entry.served.addPart(changes.names)
    return {
      set: (owner, records) => changes.set(owner, records),
      commit: (serial, version = String(serial)) => {
        if (changes.isEmpty && entry.served.serial !== undefined) return
        entry.versions.set(options, version)
        entry.partSerial = serial
        const serials = serialsOf(this.#options.serials, entry, serial)
        this.#publish(entry, () => entry.served.setNames(changes.names, changes.take(), serials))
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

  /** Reports changes of names at once. */
  reportChanged(): void {
    this.#reports.reportChanged()
  }

  #entry(space: number, origin: string): Entry {
    const key = keyOfZone(space, origin)
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const { arena, directory, listener, work } = this.#options
    const slot = this.#slots.get(key) ?? this.#slots.size + 1
    this.#slots.set(key, slot)
    const entry: Entry = newEntry({
      ...{ space, origin, slot },
      served: new ServedZone(
        origin,
        arena,
        directory,
        () => compileOptionsOf(entry),
        listener(space, origin),
        (message) => this.#reports.problem(message),
      ),
      jobs: new ZoneJobs(work, () => this.#settle(entry)),
    })
    this.#entries.set(key, entry)
    return entry
  }

  #remove(entry: Entry): void {
    const { space, origin, served } = entry
    const { directory, serials } = this.#options
    entry.jobs.stop()
    const steps = served.remove()
    if (steps !== undefined) this.#inBackground(steps)
    serials.forget(keyOfZone(space, origin))
    this.#reports.forget(entry)
    this.#entries.delete(keyOfZone(space, origin))
    // It is still known who should have it.
    for (const claim of entry.claims) this.#entry(space, origin).claims.add(claim)
    directory.reclaim()
    this.#reports.gone(entry)
  }

  /** Whatever goes wrong concerns this zone; the others are followed as before. */
  #load(entry: Entry, source: ZoneSource, offer: ZoneOffer): boolean | Promise<boolean> {
    let verdict: boolean | undefined
    const later = Promise.withResolvers<boolean>()
    const decide = (accepted: boolean) => {
      verdict = accepted
      later.resolve(accepted)
    }
    const isVersioned = offer.version !== undefined
    const { directory } = this.#options
    entry.jobs.begin({
      ...{ source, keepsText: isVersioned, lane: isVersioned ? 'etcd' : 'files' },
      steps: (onCommit) => {
        directory.reclaim()
        const onRefused = (errors: readonly string[]) => this.#refuse(entry, source, offer.label, errors)
        return loadIntoService(entry, source, offer, this.#options, { onCommit, onRefused })
      },
      onDone: (accepted) => {
        if (accepted) this.#reports.signed(entry)
        decide(accepted)
      },
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
    const { directory } = this.#options
    entry.jobs.begin({
      ...{ source: undefined, keepsText: false, lane: namesLaneOf(entry), onDropped: () => {} },
      *steps(onCommit) {
        directory.reclaim()
        yield* steps(onCommit)
        return true
      },
      onDone: () => {
        entry.retryMs = 0
        this.#reports.changed(entry)
      },
      onFailure: (thrown) => {
        this.#reports.cannotChange(entry, thrown)
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
      if (this.#entries.get(keyOfZone(entry.space, entry.origin)) === entry) this.#settle(entry)
    }, entry.retryMs).unref()
  }

  /** Makes the version that names of parts are waiting for, when no other job does. */
  #settle(entry: Entry): void {
    const { served, jobs } = entry
    if (jobs.isBusy || entry.isRetryPending) return
    if (entry.owesRemoval) this.#dropText(entry)
    else if (served.owesNames)
      this.#renew(entry, (onCommit) =>
        served.rebuild((written) => serialsOf(this.#options.serials, entry, entry.partSerial)(written), onCommit),
      )
  }

  #inBackground(steps: Steps<void>): void {
    const onFailure = (thrown: unknown) =>
      this.#reports.problem(`Cannot follow names: ${messageOf(thrown)}; this is a defect, please report it`)
    this.#options.work.add({ lane: 'names', steps, onDone: () => {}, onFailure })
  }

  /** Changes the names of a zone. What goes wrong concerns this zone alone, and the next change makes up for it. */
  #publish(entry: Entry, change: () => void): void {
    this.#options.directory.reclaim()
    try {
      change()
      this.#reports.changed(entry)
    } catch (thrown) {
      this.#reports.cannotChange(entry, thrown)
    }
  }

  #refuse(entry: Entry, source: ZoneSource, file: string, errors: readonly string[]): void {
    entry.served.fail()
    this.#reports.refused(entry, source, file, errors)
  }
}
