// Which zones are in service and where each comes from. Sources offer files for origins; the source named first wins
// an origin that several offer. A file that is refused changes nothing: the last good version stays, and where there
// is none the zone answers SERVFAIL until there is.

import { performance } from 'node:perf_hooks'
import { parseName } from '../dns/name.ts'
import { formatProblem } from '../dns/zonefile/problem.ts'
import type { ZoneFileProblem } from '../dns/zonefile/problem.ts'
import { messageOf } from '../lib/errors.ts'
import type { Arena } from '../zone/arena.ts'
import { compileFailedZone, compileZone } from '../zone/compile.ts'
import type { CompiledZone } from '../zone/compile.ts'
import type { Directory } from '../zone/directory.ts'
import { loadZone } from './load-zone.ts'
import type { LoaderReport } from './loader-messages.ts'

export interface ZoneSource {
  /** The server block it belongs to. */
  readonly space: number
  /** `auto` or `file`, as metrics name it. */
  readonly plugin: string
  readonly fallthrough: boolean
  /** Tells the source which other files the zone depends on. */
  watchAlso(origin: string, files: readonly string[]): void
}

interface Entry {
  readonly space: number
  readonly origin: string
  readonly slot: number
  /** What each source offers, in order of the sources; the first one counts. */
  readonly offers: Map<ZoneSource, string>
  serving: { compiled: CompiledZone; serial: number | undefined } | undefined
}

/** More problems than this say nothing new. */
const PROBLEMS_SHOWN = 5

export class Catalog {
  readonly #arena: Arena
  readonly #directory: Directory
  readonly #requireNs: boolean
  readonly #report: (report: LoaderReport) => void
  readonly #order: ZoneSource[] = []
  readonly #entries = new Map<string, Entry>()
  /** Slot 0 counts what is in no zone. */
  #slots = 1

  constructor(arena: Arena, directory: Directory, requireNs: boolean, report: (report: LoaderReport) => void) {
    this.#arena = arena
    this.#directory = directory
    this.#requireNs = requireNs
    this.#report = report
  }

  /** Makes a source known; earlier ones have precedence. */
  add(source: ZoneSource): void {
    this.#order.push(source)
  }

  /** A source has a file, or new content in it, for an origin. */
  offer(source: ZoneSource, origin: string, file: string): void {
    const entry = this.#entry(source.space, origin)
    entry.offers.set(source, file)
    const chosen = this.#chosen(entry)
    if (chosen === source) this.#load(entry, source, file)
    else
      this.#report({
        kind: 'problem',
        message: `Cannot use "${file}" for ${origin}: "${chosen && entry.offers.get(chosen)}" comes first; remove one of them`,
      })
  }

  /** A source should have the origin, but its file cannot be read: the zone is known, and fails until it can. */
  miss(source: ZoneSource, origin: string, file: string): void {
    const entry = this.#entry(source.space, origin)
    if (entry.serving === undefined) this.#refuse(entry, source, file, [])
  }

  /** A source no longer has the origin. */
  withdraw(source: ZoneSource, origin: string): void {
    const entry = this.#entry(source.space, origin)
    const wasChosen = this.#chosen(entry) === source
    entry.offers.delete(source)
    if (!wasChosen) return
    const next = this.#chosen(entry)
    if (next !== undefined) return this.#load(entry, next, entry.offers.get(next) ?? '')
    if (entry.serving !== undefined) this.#directory.remove(entry.serving.compiled.zone)
    this.#entries.delete(keyOf(source.space, origin))
    this.#directory.reclaim()
    this.#report({
      kind: 'gone',
      space: source.space,
      origin,
      arenaUsedBytes: this.#arena.usedBytes,
      arenaBytes: this.#arena.buffer.byteLength,
    })
  }

  #entry(space: number, origin: string): Entry {
    const key = keyOf(space, origin)
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      entry = { space, origin, slot: this.#slots++, offers: new Map(), serving: undefined }
      this.#entries.set(key, entry)
    }
    return entry
  }

  #chosen(entry: Entry): ZoneSource | undefined {
    return this.#order.find((source) => entry.offers.has(source))
  }

  /** Whatever goes wrong concerns this zone; the others must go on being followed. */
  #load(entry: Entry, source: ZoneSource, file: string): void {
    try {
      this.#tryLoad(entry, source, file)
    } catch (thrown) {
      this.#refuse(entry, source, file, [`${file}: ${messageOf(thrown)}`])
    }
  }

  #tryLoad(entry: Entry, source: ZoneSource, file: string): void {
    const started = performance.now()
    const { space, origin, slot } = entry
    const previousSerial = entry.serving?.serial
    const { zone, accepted, problems, included } = loadZone(file, parseName(origin), {
      requireNs: this.#requireNs,
      ...(previousSerial === undefined ? {} : { previousSerial }),
    })
    try {
      source.watchAlso(origin, included)
      if (!accepted) return this.#refuse(entry, source, file, describe(problems, 'error'))
      // Room of versions that readers have left since makes room for this one.
      this.#directory.reclaim()
      const { serial, recordCount } = zone
      const compiled = compileZone(zone, this.#arena, { space, slot, fallthrough: source.fallthrough })
      this.#directory.publish(compiled)
      entry.serving = { compiled, serial }
      this.#directory.reclaim()
      this.#report({
        kind: 'zone',
        space,
        origin,
        slot,
        plugin: source.plugin,
        file,
        serial,
        serialChanged: previousSerial !== serial,
        records: recordCount,
        warnings: describe(problems, 'warning'),
        milliseconds: performance.now() - started,
        arenaUsedBytes: this.#arena.usedBytes,
        arenaBytes: this.#arena.buffer.byteLength,
      })
    } finally {
      zone.release()
    }
  }

  #refuse(entry: Entry, source: ZoneSource, file: string, errors: readonly string[]): void {
    const { space, origin, slot } = entry
    if (entry.serving === undefined) {
      const { fallthrough } = source
      const compiled = compileFailedZone(parseName(origin), this.#arena, { space, slot, fallthrough })
      this.#directory.publish(compiled)
      entry.serving = { compiled, serial: undefined }
    }
    const kept = entry.serving.serial
    this.#report({
      kind: 'refused',
      space,
      origin,
      slot,
      file,
      errors,
      keptSerial: kept,
    })
  }
}

function describe(problems: readonly ZoneFileProblem[], severity: ZoneFileProblem['severity']): string[] {
  return problems
    .filter((problem) => problem.severity === severity)
    .slice(0, PROBLEMS_SHOWN)
    .map((problem) => formatProblem(problem))
}

function keyOf(space: number, origin: string): string {
  return `${space} ${origin}`
}
