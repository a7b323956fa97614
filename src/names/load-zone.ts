// One zone to records, from a file or from text in memory: read, checked, accepted or refused as a whole.

import { dirname, isAbsolute, join } from 'node:path'
import { textSource } from '../dns/zonefile/format.ts'
import { finish, type Steps } from '../dns/steps.ts'
import { generatedProblem } from '../dns/zonefile/limits.ts'
import { type ByteSource, type ParseOptions, parseZoneFileSteps } from '../dns/zonefile/parse.ts'
import type { ZoneFileProblem } from '../dns/zonefile/problem.ts'
import { HoldfastError } from '../lib/errors.ts'
import { FileSource } from '../lib/file-source.ts'
import { ZoneBuilder } from '../zone/build.ts'
import { checkZoneSteps } from '../zone/check.ts'
import type { CheckOptions } from '../zone/check.ts'

export interface LoadedZone {
  /** Complete only when the zone was accepted. */
  readonly zone: ZoneBuilder
  readonly accepted: boolean
  readonly problems: readonly ZoneFileProblem[]
  /** Files that were read beside the zone file itself. */
  readonly included: readonly string[]
}

export interface LoadOptions extends CheckOptions {
  /** How many records the zone may have; no limit unless given. */
  readonly maxRecords?: number
  /** How many bytes of names and rdata; LARGEST_ZONE_BYTES unless given. */
  readonly maxBytes?: number
}

export function loadZone(file: string, origin: Uint8Array, options: LoadOptions): LoadedZone {
  return finish(loadZoneSteps(file, origin, options))
}

/** The same in steps. */
export function* loadZoneSteps(file: string, origin: Uint8Array, options: LoadOptions): Steps<LoadedZone> {
  const included: string[] = []
  const sources: FileSource[] = []
  const open = (path: string): FileSource => {
    const source = new FileSource(path)
    sources.push(source)
    return source
  }
  const openInclude = (path: string, from: string): FileSource => {
    const resolved = isAbsolute(path) ? path : join(dirname(from), path)
    included.push(resolved)
    return open(resolved)
  }
  try {
    const loaded = yield* load(() => open(file), { file, origin, openInclude }, options)
    return { ...loaded, included }
  } finally {
    for (const source of sources) source.close()
  }
}

/** A zone that is no file: `label` names it in problems, and $INCLUDE is refused. */
export function loadZoneText(text: Uint8Array, label: string, origin: Uint8Array, options: LoadOptions): LoadedZone {
  return finish(loadZoneTextSteps(text, label, origin, options))
}

/** The same in steps. */
export function* loadZoneTextSteps(
  text: Uint8Array,
  label: string,
  origin: Uint8Array,
  options: LoadOptions,
): Steps<LoadedZone> {
  const tooMany = yield* generatedProblem(text, label)
  if (tooMany !== undefined)
    return { zone: new ZoneBuilder(origin), accepted: false, problems: [tooMany], included: [] }
  const loaded = yield* load(() => textSource(text), { file: label, origin }, options)
  return { ...loaded, included: [] }
}

function* load(
  open: () => ByteSource,
  parsing: ParseOptions,
  { maxRecords, maxBytes, ...options }: LoadOptions,
): Steps<Omit<LoadedZone, 'included'>> {
  const { file } = parsing
  const zone = new ZoneBuilder(parsing.origin, maxBytes)
  const problems: ZoneFileProblem[] = []
  const limits = maxRecords === undefined ? {} : { maxRecords }
  try {
    problems.push(...(yield* parseZoneFileSteps(open(), { ...parsing, ...limits }, zone)))
    // What holds between records is only worth saying once every record could be read.
    if (problems.every(isWarning))
      for (const finding of yield* checkZoneSteps(zone, options))
        problems.push({ ...finding, file: finding.file ?? file, column: 0, token: '' })
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown
    problems.push({ file, line: 0, column: 0, token: '', message: thrown.message, severity: 'error' })
  }
  return { zone, accepted: problems.every(isWarning), problems }
}

function isWarning({ severity }: ZoneFileProblem): boolean {
  return severity === 'warning'
}
