// What the main thread knows of the zones, from the loader's reports: for the log, for /ready and for metrics.

import type { Log } from '../lib/log.ts'
import type { LoaderReport } from '../names/loader-messages.ts'

interface ZoneRow {
  readonly space: number
  readonly origin: string
  readonly slot: number
  plugin: string
  /** Undefined while no version of the zone was good. */
  serial: number | undefined
}

/** Beyond this many zones at the start, single ones are not announced. */
const ANNOUNCED = 20

export class ZoneTable {
  readonly #log: Log
  readonly #rows = new Map<string, ZoneRow>()
  readonly #bySlot = new Map<number, ZoneRow>()
  /** Directories that could not be read at the start. */
  readonly #unreadable: string[] = []
  #ready = false
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

  /** Zones in service there that are none here, although nobody took them away: their files cannot be used. */
  lostFrom(previous: ZoneTable): string[] {
    const here = new Map([...this.#rows.values()].map(({ origin, serial }) => [origin, serial]))
    const lost = ({ zone }: { zone: string }) =>
      here.has(zone) ? here.get(zone) === undefined : this.#unreadable.length > 0
    return previous
      .serving()
      .filter(lost)
      .map(({ zone }) => zone)
  }

  slot(space: number, slot: number): { zone: string; plugin: string } | undefined {
    const row = this.#bySlot.get(slot)
    return row === undefined || row.space !== space ? undefined : { zone: row.origin, plugin: row.plugin }
  }

  notReady(): string[] {
    return this.#ready ? [] : ['zones are being loaded']
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
        this.#log.info(`Zone ${report.origin} is gone: its file was removed`)
        return
      }
      case 'problem':
        this.#log.warning(report.message)
        return
      case 'unreadable':
        this.#unreadable.push(report.path)
        return
      case 'ready': {
        this.#ready = true
        const zones = this.serving().length
        const failed = this.#rows.size - zones
        const refused = failed === 0 ? '' : `, ${failed} refused`
        this.#log.info(
          `${zones} zone${zones === 1 ? '' : 's'} with ${this.#records} records loaded in ${(report.milliseconds / 1000).toFixed(2)} s${refused}`,
        )
      }
    }
  }

  #row(report: Extract<LoaderReport, { slot: number }>): ZoneRow {
    const key = `${report.space} ${report.origin}`
    let row = this.#rows.get(key)
    if (row === undefined) {
      row = { space: report.space, origin: report.origin, slot: report.slot, plugin: '', serial: undefined }
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
    this.arenaUsedBytes = report.arenaUsedBytes
    this.arenaBytes = report.arenaBytes
    this.#records += report.records
    for (const warning of report.warnings) this.#log.warning(warning)
    if (!this.#ready && this.#rows.size > ANNOUNCED) return
    const unchanged =
      known && !report.serialChanged ? ' (content changed, serial did not: secondaries will not notice)' : ''
    const milliseconds = report.milliseconds.toFixed(report.milliseconds < 10 ? 1 : 0)
    this.#log.info(
      `Zone ${report.origin} serial ${report.serial}, ${report.records} records from ${report.file} in ${milliseconds} ms${unchanged}`,
    )
  }

  #refused(report: Extract<LoaderReport, { kind: 'refused' }>): void {
    this.#row(report)
    this.#loadErrors++
    for (const error of report.errors) this.#log.error(error)
    const kept =
      report.keptSerial === undefined ? 'it is answered with SERVFAIL' : `serial ${report.keptSerial} stays in service`
    this.#log.error(`Zone ${report.origin} refused: ${kept} until ${report.file} is mended`)
  }
}
