// `holdfast zone check`: reads zones exactly as the server does and says what it would say, without serving them.

import { DEFAULT_MAX_RECORDS, MAX_ZONE_BYTES } from '../dns/zonefile/limits.ts'
import type { Writable } from 'node:stream'
import { formatName } from '../dns/name.ts'
import { formatRecord } from '../dns/zonefile/format.ts'
import { formatProblem, type ZoneFileProblem } from '../dns/zonefile/problem.ts'
import { HoldfastError } from '../lib/errors.ts'
import { loadZone, loadZoneText } from '../names/load-zone.ts'
import type { ZoneBuilder } from '../zone/build.ts'
import { countRecords } from '../zone/count-records.ts'
import { command, type Io } from './command.ts'
import { EXIT } from './exit-code.ts'
import { printable } from './table.ts'
import { guessOrigin } from './zone-origin.ts'
import { parseOrigin, type StoredZone, withZoneStore, ZONE_FLAGS } from './zone-store.ts'

const PRINT_CHUNK = 1 << 16

export const zoneCheckCommand = command({
  name: 'zone check',
  summary: 'Check zone files; errors have line and column',
  usage: 'FILE... [--origin NAME] | --etcd [ORIGIN...]',
  positionals: ['[FILE...]'],
  options: {
    origin: {
      value: 'NAME',
      summary: 'the zone; otherwise db.NAME or NAME.zone, the SOA, or the name of the file says it',
    },
    json: { summary: 'print one JSON object for each zone' },
    print: { summary: 'print the records of good zones in canonical order' },
    etcd: { summary: 'check zones stored in etcd: the named ones, or all' },
    ...ZONE_FLAGS,
  },
  async run({ positionals, options }, io) {
    const origin = options.origin === undefined ? undefined : parseOrigin(options.origin)
    if (options.etcd && origin !== undefined)
      throw new HoldfastError('Usage', 'Cannot use --origin with --etcd: a key says which zone it holds')
    if (!options.etcd && positionals.length === 0)
      throw new HoldfastError('Usage', 'Cannot run "holdfast zone check": FILE... is missing, or --etcd')
    let code: number = EXIT.done
    const show = (report: Report) => {
      if (report.errors.length > 0) code = EXIT.invalidInput
      if (options.json) io.stdout.write(`${JSON.stringify(toJson(report))}\n`)
      else print(report, { records: options.print, guessed: !options.etcd && origin === undefined }, io)
    }
    if (!options.etcd) for (const file of positionals) show(checkFile(file, origin))
    else
      await withZoneStore(options, io, async (store) => {
        for await (const zone of positionals.length === 0 ? store.list() : await store.require(positionals))
          show(checkStored(zone, store.prefix))
      })
    return code
  },
})

interface Report {
  readonly file: string
  /** Absent when the file could not be read. */
  readonly zone: ZoneBuilder | undefined
  readonly errors: readonly ZoneFileProblem[]
  readonly warnings: readonly ZoneFileProblem[]
}

function checkFile(file: string, origin: Uint8Array | undefined): Report {
  try {
    const { zone, problems } = loadZone(file, origin ?? guessOrigin(file), { requireNs: true })
    return reportOf(file, zone, problems)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    return reportOf(file, undefined, [
      { file, line: 0, column: 0, token: '', message: error.message, severity: 'error' },
    ])
  }
}

function checkStored({ name, origin, text }: StoredZone, prefix: string): Report {
  const label = `etcd:${prefix}${name}`
  if (origin !== undefined) {
    const { zone, problems } = loadZoneText(text, label, origin, {
      requireNs: true,
      maxRecords: DEFAULT_MAX_RECORDS,
      maxBytes: MAX_ZONE_BYTES,
    })
    return reportOf(label, zone, problems)
  }
  const message = 'the key is not a domain name'
  return reportOf(label, undefined, [{ file: label, line: 0, column: 0, token: '', message, severity: 'error' }])
}

function reportOf(file: string, zone: ZoneBuilder | undefined, problems: readonly ZoneFileProblem[]): Report {
  const { error: errors = [], warning: warnings = [] } = Object.groupBy(problems, ({ severity }) => severity)
  return { file, zone, errors, warnings }
}

function toJson({ file, zone, errors, warnings }: Report): object {
  const strip = ({ severity: _, ...problem }: ZoneFileProblem) => problem
  return {
    ok: errors.length === 0,
    file,
    origin: zone === undefined ? null : formatName(zone.origin),
    serial: zone?.serial ?? null,
    records: zone === undefined ? 0 : countRecords(zone),
    errors: errors.map(strip),
    warnings: warnings.map(strip),
  }
}

function print(report: Report, options: { records: boolean; guessed: boolean }, io: Io): void {
  const { file, zone, errors, warnings } = report
  for (const problem of [...errors, ...warnings]) io.stderr.write(`${printable(formatProblem(problem))}\n`)
  if (zone === undefined) return
  const origin = formatName(zone.origin)
  if (errors.length > 0) {
    const guess = options.guessed ? '; the origin was inferred from the file name, override it with --origin' : ''
    io.stderr.write(`${printable(file)}: rejected as zone ${origin}${guess}\n`)
  } else if (options.records) {
    printRecords(zone, io.stdout)
  } else {
    io.stdout.write(`${printable(file)}: zone ${origin}, serial ${zone.serial}, ${countRecords(zone)} records\n`)
  }
}

function printRecords(zone: ZoneBuilder, out: Writable): void {
  let text = ''
  zone.forEachRecord((owner, ttl, type, rdata) => {
    text += `${formatRecord(owner, ttl, type, rdata)}\n`
    if (text.length < PRINT_CHUNK) return
    out.write(text)
    text = ''
  })
  out.write(text)
}
