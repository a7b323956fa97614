// The zone directory of a stack file. Every file is checked as a name server would check it, and taken as text: the servers
// get copies.

import { statSync } from 'node:fs'
import { basename } from 'node:path'
import type { ZoneFile } from '../../clusters/dns/spec.ts'
import { parseName } from '../../dns/name.ts'
import { formatProblem } from '../../dns/zonefile/problem.ts'
import type { Path } from '../../document/located.ts'
import { quote } from '../../document/values.ts'
import { reasonOf } from '../../lib/errors.ts'
import { readRegularFile } from '../../lib/file-source.ts'
import { loadZoneText } from '../../names/load-zone.ts'
import { originReader } from '../../names/sources/zone-directory-origin.ts'
import { scanDirectory } from '../../names/sources/zone-directory-scan.ts'
import { everyZoneOf } from '../../server/corefile/zones-config.ts'
import type { StackResolver } from './resolver.ts'

/** `ownZones`, absolute, are made by the stack. */
export function readZoneFiles(
  directory: string,
  path: Path,
  ownZones: readonly string[],
  resolver: StackResolver,
): ZoneFile[] {
  const root = resolver.path(directory)
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) {
    resolver.problem(path, `there is no directory ${quote(directory)}; expected one with zone files`)
    return []
  }
  const { files, unreadable } = scanDirectory(root, () => {})
  for (const { directory: unread, reason } of unreadable)
    resolver.problem(path, `${quote(unread)} cannot be read (${reason}); expected a directory with zone files`)
  const originOf = originReader(everyZoneOf(root, 0))
  const fileOf = new Map<string, string>()
  for (const file of files) {
    const zone = originOf(basename(file))
    if (zone === undefined) continue
    const tell = (message: string) => resolver.problem(path, `${file}: ${message}`)
    if ('invalid' in zone) {
      tell(`${quote(zone.invalid)} is not a domain name; expected db.ZONE, ZONE.zone or ZONE`)
      continue
    }
    const other = fileOf.get(zone.origin)
    if (other !== undefined) tell(`it is the zone of ${other}, too; expected one file for a zone`)
    if (ownZones.includes(zone.origin))
      tell(`${zone.origin} is a zone of the stack itself, which holds its machines; expected another zone`)
    fileOf.set(zone.origin, file)
  }
  if (fileOf.size === 0) resolver.notice(path, `there is no zone file in ${quote(directory)}`)
  return [...fileOf].map(([origin, file]) => ({
    name: basename(file),
    text: readChecked(file, origin, path, resolver) ?? '',
  }))
}

function readChecked(file: string, origin: string, path: Path, resolver: StackResolver): string | undefined {
  try {
    const bytes = readRegularFile(file)
    const { problems } = loadZoneText(bytes, file, parseName(origin), { requireNs: true })
    for (const problem of problems) {
      if (problem.severity === 'error') resolver.problem(path, formatProblem(problem))
      else resolver.notice(path, formatProblem(problem))
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    const reason = error instanceof TypeError ? 'not UTF-8' : reasonOf(error)
    resolver.problem(path, `${file} is not a readable zone file (${reason}); expected text`)
    return undefined
  }
}
