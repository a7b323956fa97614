// One zone to records, from a file or from text in memory: read, checked, accepted or refused as a whole.

import { dirname, isAbsolute, join } from 'node:path'
import { textSource } from '../dns/zonefile/format.ts'
import { type ByteSource, type ParseOptions, parseZoneFile } from '../dns/zonefile/parse.ts'
import type { ZoneFileProblem } from '../dns/zonefile/problem.ts'
import { HoldfastError } from '../lib/errors.ts'
import { FileSource } from '../lib/file-source.ts'
import { ZoneBuilder } from '../zone/build.ts'
import { checkZone } from '../zone/check.ts'
import type { CheckOptions } from '../zone/check.ts'

export interface LoadedZone {
  /** Complete only when the zone was accepted. */
  readonly zone: ZoneBuilder
  readonly accepted: boolean
  readonly problems: readonly ZoneFileProblem[]
  /** Files that were read beside the zone file itself. */
  readonly included: readonly string[]
}

export function loadZone(file: string, origin: Uint8Array, options: CheckOptions): LoadedZone {
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
    return { ...load(() => open(file), { file, origin, openInclude }, options), included }
  } finally {
    for (const source of sources) source.close()
  }
}

/** A zone that is no file: `label` names it in problems, and $INCLUDE is refused. */
export function loadZoneText(text: Uint8Array, label: string, origin: Uint8Array, options: CheckOptions): LoadedZone {
  return { ...load(() => textSource(text), { file: label, origin }, options), included: [] }
}

function load(open: () => ByteSource, parsing: ParseOptions, options: CheckOptions): Omit<LoadedZone, 'included'> {
  const { file } = parsing
  const zone = new ZoneBuilder(parsing.origin)
  const problems: ZoneFileProblem[] = []
  try {
    problems.push(...parseZoneFile(open(), parsing, zone))
    // What holds between records is only worth saying once every record could be read.
    if (problems.every(isWarning))
      for (const finding of checkZone(zone, options))
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
