// What the main thread knows of the zones, from the loader's reports: for the log, for /ready and for metrics.

import type { Log } from '../lib/log.ts'
import type { LoaderReport } from '../names/loader-messages.ts'
import type { SourceStatus, ZoneStatus } from './server-status.ts'

interface ZoneRow {
  readonly space: number
  readonly origin: string
  readonly slot: number
  plugin: string
  /** Undefined while no version of the zone was good. */
  serial: number | undefined
  /** File or key, for zones that are texts. */
  from: string | undefined
  /** What is wrong with the newest text; empty when it is in service. */
  errors: readonly string[]
  /** Since when its changes are counted, how many were logged since, and how many not. */
  countedSince: number
  logged: number
  unlogged: number
}

type SourceReport = Extract<LoaderReport, { kind: 'source' }>

interface SourceRow extends SourceReport {
  /** When it came to be as it is, and what went wrong last (Unix milliseconds). */
  readonly since: number
  readonly lastError: { readonly at: number; readonly message: string } | undefined
}

/** A zone that changes often is not logged more often than this. */
const LOG_MS = 1000
const LOG_LINES = 3
/** As metrics name the sources of whole zones. */
const TEXT_PLUGINS: readonly string[] = ['file', 'auto', 'etcd']
/** Beyond this many zones at the start, single ones are not announced. */
const ANNOUNCED = 20

export class ZoneTable {
  readonly #log: Log
  readonly #rows = new Map<string, ZoneRow>()
  readonly #bySlot = new Map<number, ZoneRow>()
  /** Directories that could not be read at the start. */
  readonly #unreadable: string[] = []
  readonly #sources = new Map<string, SourceRow>()
  #ready = false
  /** Every zone that there was at the start has been read. */
  #isLoaded = false
  /** Some were still being read when serving began. */
  #isLate = false
  #records = 0
  #loadErrors = 0
  arenaUsedBytes = 0
  arenaBytes = 0

  constructor(log: Log) {
    this.#log = log
  }

  get slots(): number {
    return this.#bySlot.size + 1
  }

  get loadErrorsTotal(): number {
    return this.#loadErrors
  }

  /** Zones in service. */
  serving(): { zone: string; serial: number }[] {
    const serving: { zone: string; serial: number }[] = []
    for (const { origin, serial } of this.#rows.values())
      if (serial !== undefined) serving.push({ zone: origin, serial })
    return serving
  }

  /**
   * Zones in service there that are none here, although nobody took them away: their files cannot be used, or nobody
   * knows what there is, since a source could not be read.
   */
  lostFrom(previous: ZoneTable): string[] {
    const here = new Map([...this.#rows.values()].map(({ origin, serial }) => [origin, serial]))
    const isBlind = this.#unreadable.length > 0 || this.#sources.values().some(knowsNothing)
    return previous
      .serving()
      .filter(({ zone }) => (here.has(zone) ? here.get(zone) === undefined : isBlind))
      .map(({ zone }) => zone)
  }

  /** Zones whose newest text was refused. */
  refused(): string[] {
    return [...this.#rows.values()].filter(({ errors }) => errors.length > 0).map(({ origin }) => origin)
  }

  sources(): { name: string; up: boolean; keys: number }[] {
    return [...this.#sources.values()].map(({ name, up, keys }) => ({ name, up, keys }))
  }

  /** For people and programs that want to know at once what is wrong. */
  status(): { readonly sources: readonly SourceStatus[]; readonly zones: readonly ZoneStatus[] } {
    return {
      sources: Array.from(this.#sources.values(), sourceStatus),
      zones: Array.from(this.#rows.values(), zoneStatus),
    }
  }

  slot(space: number, slot: number): { zone: string; plugin: string } | undefined {
    const row = this.#bySlot.get(slot)
    return row === undefined || row.space !== space ? undefined : { zone: row.origin, plugin: row.plugin }
  }

  /** A source that was never seen, by us or an earlier run, has names that we would deny. */
  notReady(): string[] {
    if (!this.#isLoaded) return ['zones are being loaded']
    return Array.from(this.#sources.values())
      .filter(knowsNothing)
      .map(({ name }) => `nothing is known of ${name} yet`)
  }

  apply(report: LoaderReport): void {
    switch (report.kind) {
      case 'zone':
        this.#loaded(report)
        return
      case 'refused':
        this.#refused(report)
        return
      case 'gone': {
        const row = this.#rows.get(`${report.space} ${report.origin}`)
        this.#rows.delete(`${report.space} ${report.origin}`)
        if (row !== undefined) this.#bySlot.delete(row.slot)
        this.arenaUsedBytes = report.arenaUsedBytes
        this.arenaBytes = report.arenaBytes
        this.#log.info(`Zone ${report.origin} is gone: ${row?.from ?? 'its file'} was removed`)
        return
      }
      case 'awaited':
        this.#row(report).plugin = report.plugin
        return
      case 'names': {
        const row = this.#row(report)
        row.plugin = report.plugin
        row.serial = report.serial
        if (!report.hasText) {
          row.from = undefined
          row.errors = []
        }
        this.arenaUsedBytes = report.arenaUsedBytes
        this.arenaBytes = report.arenaBytes
        return
      }
      case 'source':
        this.#sourceChanged(report)
        return
      case 'problem':
        this.#log.warning(report.message)
        return
      case 'unreadable':
        this.#unreadable.push(report.path)
        return
      case 'loaded':
        this.#isLoaded = true
        if (this.#isLate) this.#log.info(`All zones are loaded after ${(report.milliseconds / 1000).toFixed(2)} s`)
        return
      case 'ready': {
        this.#ready = true
        const zones = this.serving().length
        const states = Map.groupBy(this.#rows.values(), (row) => zoneStatus(row).state)
        const others = (['refused', 'failed', 'awaited'] as const)
          .filter((state) => states.has(state))
          .map((state) => `, ${states.get(state)?.length} ${state}`)
        this.#isLate = states.get('awaited')?.some(({ plugin }) => TEXT_PLUGINS.includes(plugin)) ?? false
        this.#log.info(
          `${zones} zone${zones === 1 ? '' : 's'} with ${this.#records} records loaded in ${(report.milliseconds / 1000).toFixed(2)} s${others.join('')}`,
        )
      }
    }
  }

  #row(report: Extract<LoaderReport, { slot: number }>): ZoneRow {
    const key = `${report.space} ${report.origin}`
    let row = this.#rows.get(key)
    if (row === undefined) {
      const { space, origin, slot } = report
      row = {
        space,
        origin,
        slot,
        plugin: '',
        serial: undefined,
        from: undefined,
        errors: [],
        countedSince: 0,
        logged: 0,
        unlogged: 0,
      }
      this.#rows.set(key, row)
      this.#bySlot.set(row.slot, row)
    }
    return row
  }

  #loaded(report: Extract<LoaderReport, { kind: 'zone' }>): void {
    const row = this.#row(report)
    const known = row.serial !== undefined
    row.plugin = report.plugin
    row.serial = report.serial
    row.from = report.file
    row.errors = []
    this.arenaUsedBytes = report.arenaUsedBytes
    this.arenaBytes = report.arenaBytes
    this.#records += report.records
    for (const warning of report.warnings) this.#log.warning(warning)
    if (!this.#ready && this.#rows.size > ANNOUNCED) return
    const others = this.#mayLog(row)
    if (others === undefined) return
    const unchanged =
      report.serial !== report.writtenSerial
        ? ` (its text says ${report.writtenSerial}, which is not newer than what was served)`
        : known && !report.serialChanged
          ? ' (content changed, serial did not: secondaries will not notice)'
          : others
    const milliseconds = report.milliseconds.toFixed(report.milliseconds < 10 ? 1 : 0)
    this.#log.info(
      `Zone ${report.origin} serial ${report.serial}, ${report.records} records from ${report.file} in ${milliseconds} ms${unchanged}`,
    )
  }

  /** What to say of changes that were not logged; undefined when this one should not be either. */
  #mayLog(row: ZoneRow): string | undefined {
    const now = Date.now()
    if (now - row.countedSince >= LOG_MS) {
      row.countedSince = now
      row.logged = 0
    } else if (row.logged >= LOG_LINES) {
      row.unlogged++
      return undefined
    }
    const others = row.unlogged === 0 ? '' : ` (${row.unlogged} changes before it)`
    row.logged++
    row.unlogged = 0
    return others
  }

  #sourceChanged(report: SourceReport): void {
    const { space, type, name, prefix, endpoints, up, error } = report
    const key = JSON.stringify([space, type, name, prefix, endpoints])
    const before = this.#sources.get(key)
    const now = Date.now()
    const isNew = before?.up !== up || before.error !== error
    const lastError = isNew && error !== undefined ? { at: now, message: error } : before?.lastError
    this.#sources.set(key, { ...report, since: isNew ? now : before.since, lastError })
    if (!isNew) return
    if (up) this.#following(report)
    else if (error !== undefined) {
      const stays = knowsNothing(report) ? 'nothing is known of it yet' : 'what was known stays in service'
      this.#log.error(`Source ${name}: ${error}; ${stays}`)
      if (report.hint !== undefined) this.#log.error(`Source ${name}: ${report.hint}`)
    }
  }

  #following({ type, name, prefix, keys, revision }: SourceReport): void {
    const isInEtcd = type !== 'kubevirt' && type !== 'kubernetes'
    const [noun, version, where] = isInEtcd ? ['key', 'revision', ' in etcd'] : ['object', 'version', '']
    this.#log.info(`Following ${name}${where}: ${keys} ${noun}${keys === 1 ? '' : 's'} at ${version} ${revision}`)
    if (isInEtcd && keys === 0) this.#log.warning(`Nothing is stored under "${prefix}" in etcd yet`)
  }

  #refused(report: Extract<LoaderReport, { kind: 'refused' }>): void {
    const row = this.#row(report)
    row.plugin = report.plugin
    row.from = report.file
    row.errors = report.errors.length > 0 ? report.errors : [`Cannot read ${report.file}`]
    this.#loadErrors++
    for (const error of report.errors) this.#log.error(error)
    const kept =
      report.keptSerial === undefined ? 'it is answered with SERVFAIL' : `serial ${report.keptSerial} stays in service`
    this.#log.error(`Zone ${report.origin} rejected: ${kept}; fix ${report.file} to load the new version`)
  }
}

/** It has neither seen etcd nor a state on disk. */
function knowsNothing({ up, revision }: SourceReport): boolean {
  return !up && revision === '0'
}

function sourceStatus(source: SourceRow): SourceStatus {
  const { name, type, prefix, endpoints, up, error, hint, doubted, keys, revision, problems, problemCount } = source
  const { since, lastError, startedFrom } = source
  return {
    ...{ name, type, prefix, endpoints },
    state: !up ? (error === undefined ? 'starting' : 'away') : doubted ? 'doubted' : 'following',
    since: new Date(since).toISOString(),
    keys,
    revision: Number(revision),
    ...(error !== undefined && { error }),
    ...(hint !== undefined && { hint }),
    ...(lastError !== undefined && {
      lastError: { at: new Date(lastError.at).toISOString(), message: lastError.message },
    }),
    ...(startedFrom !== undefined && { startedFrom: new Date(startedFrom).toISOString() }),
    ...(problemCount > 0 && { problemCount, problems }),
  }
}

function zoneStatus({ origin, plugin, serial, from, errors }: ZoneRow): ZoneStatus {
  const state =
    errors.length > 0 ? (serial === undefined ? 'failed' : 'refused') : serial === undefined ? 'awaited' : 'ok'
  return {
    ...{ zone: origin, plugin, state },
    ...(serial !== undefined && { serial }),
    ...(from !== undefined && { from }),
    ...(errors.length > 0 && { errors }),
  }
}
