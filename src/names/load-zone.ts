// One zone file to records: read, checked, accepted or refused as a whole.

import { dirname, isAbsolute, join } from 'node:path'
import { formatProblem, parseZoneFile } from '../dns/zonefile/parse.ts'
import { HoldfastError } from '../lib/errors.ts'
import { FileSource } from '../lib/file-source.ts'
import { ZoneBuilder } from '../zone/build.ts'
import { checkZone } from '../zone/check.ts'
import type { CheckOptions } from '../zone/check.ts'

export interface LoadedZone {
  /** Undefined when the file was refused. */
  readonly zone: ZoneBuilder | undefined
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
  /** Files that were read beside the zone file itself. */
  readonly included: readonly string[]
}

export function loadZone(file: string, origin: Uint8Array, options: CheckOptions): LoadedZone {
  const zone = new ZoneBuilder(origin)
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
    const problems = parseZoneFile(open(file), { file, origin, openInclude }, zone)
    const errors = problems.filter(({ severity }) => severity === 'error').map(formatProblem)
    const warnings = problems.filter(({ severity }) => severity === 'warning').map(formatProblem)
    // What holds between records is only worth saying once every record could be read.
    const findings = errors.length > 0 ? [] : checkZone(zone, options)
    for (const { severity, line, message } of findings)
      (severity === 'error' ? errors : warnings).push(line > 0 ? `${file}:${line}: ${message}` : `${file}: ${message}`)
    return { zone: errors.length > 0 ? undefined : zone, errors, warnings, included }
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown
    return { zone: undefined, errors: [thrown.message], warnings: [], included }
  } finally {
    for (const source of sources) source.close()
  }
}
