// `holdfast zone check`: reads zone files exactly as the server does and says what it would say, without serving them.

import { dirname, isAbsolute, join } from 'node:path'
import type { Writable } from 'node:stream'
import { formatName, NameError, parseName, ROOT } from '../dns/name.ts'
import { formatRecord } from '../dns/zonefile/format.ts'
import { parseZoneFile } from '../dns/zonefile/parse.ts'
import { formatProblem, type ZoneFileProblem } from '../dns/zonefile/problem.ts'
import { HoldfastError } from '../lib/errors.ts'
import { FileSource } from '../lib/file-source.ts'
import { ZoneBuilder } from '../zone/build.ts'
import { checkZone } from '../zone/check.ts'
import { command, EXIT, type Io } from './command.ts'
import { guessOrigin } from './zone-origin.ts'

const PRINT_CHUNK = 1 << 16

export const zoneCheckCommand = command({
  name: 'zone check',
  summary: 'Check zone files and say what is wrong, with line and column',
  usage: 'FILE... [--origin NAME] [--json] [--print]',
  positionals: ['FILE...'],
  options: {
    origin: {
      value: 'NAME',
      summary: 'the zone; otherwise db.NAME or NAME.zone, the SOA, or the name of the file says it',
    },
    json: { summary: 'print one JSON object for each file' },
    print: { summary: 'print the records of good zones in canonical order' },
  },
  async run({ positionals, options }, io) {
    const origin = options.origin === undefined ? undefined : parseOrigin(options.origin)
    let code: number = EXIT.done
    for (const file of positionals) {
      const report = checkFile(file, origin)
      if (report.errors.length > 0) code = EXIT.invalidInput
      if (options.json) io.stdout.write(`${JSON.stringify(toJson(report))}\n`)
      else print(report, { records: options.print, originGiven: origin !== undefined }, io)
    }
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

function parseOrigin(text: string): Uint8Array {
  try {
    return parseName(text, ROOT)
  } catch (error) {
    if (!(error instanceof NameError)) throw error
    throw new HoldfastError('Usage', error.message, { cause: error })
  }
}

function checkFile(file: string, origin: Uint8Array | undefined): Report {
  let zone: ZoneBuilder | undefined
  let problems: ZoneFileProblem[]
  try {
    const source = new FileSource(file)
    const builder = new ZoneBuilder(origin ?? guessOrigin(file))
    problems = parseZoneFile(source, { file, origin: builder.origin, openInclude }, builder)
    // What holds between records is only worth saying once every record could be read.
    if (problems.every((problem) => problem.severity === 'warning')) {
      for (const finding of checkZone(builder, { requireNs: true }))
        problems.push({ file, column: 0, token: '', ...finding })
    }
    zone = builder
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    problems = [{ file, line: 0, column: 0, token: '', message: error.message, severity: 'error' }]
  }
  const errors = problems.filter((problem) => problem.severity === 'error')
  const warnings = problems.filter((problem) => problem.severity === 'warning')
  return { file, zone, errors, warnings }
}

function openInclude(path: string, from: string): FileSource {
  return new FileSource(isAbsolute(path) ? path : join(dirname(from), path))
}

function toJson({ file, zone, errors, warnings }: Report): object {
  const strip = ({ severity: _, ...problem }: ZoneFileProblem) => problem
  return {
    ok: errors.length === 0,
    file,
    origin: zone === undefined ? null : formatName(zone.origin),
    serial: zone?.serial ?? null,
    records: zone?.recordCount ?? 0,
    errors: errors.map(strip),
    warnings: warnings.map(strip),
  }
}

function print(report: Report, options: { records: boolean; originGiven: boolean }, io: Io): void {
  const { file, zone, errors, warnings } = report
  for (const problem of [...errors, ...warnings]) io.stderr.write(`${describe(problem)}\n`)
  if (zone === undefined) return
  const origin = formatName(zone.origin)
  if (errors.length > 0) {
    const guess = options.originGiven ? '' : ' (a guess; --origin NAME says otherwise)'
    io.stderr.write(`${file}: refused as zone ${origin}${guess}\n`)
  } else if (options.records) {
    printRecords(zone, io.stdout)
  } else {
    io.stdout.write(`${file}: zone ${origin}, serial ${zone.serial}, ${zone.recordCount} records\n`)
  }
}

/** What concerns the zone as a whole has no line, what concerns a record no column. */
function describe(problem: ZoneFileProblem): string {
  if (problem.column > 0) return formatProblem(problem)
  const at = problem.line > 0 ? `${problem.file}:${problem.line}` : problem.file
  return `${at}: ${problem.severity === 'warning' ? 'warning: ' : ''}${problem.message}`
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
