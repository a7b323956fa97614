// A server's status for people: what is wrong comes first; zones that are well are only counted when there are many.

import type { RefusedConfiguration, ServerStatus, SourceStatus, ZoneStatus } from './server-status.ts'
import { formatAge } from './status-units.ts'
import { formatTable, printable } from './table.ts'

/** More good zones than this are not listed. */
const GOOD_ZONES_SHOWN = 20

/** Whether nothing is refused, unreachable or missing. */
export function isWell({ ready, configuration, sources, zones }: ServerStatus): boolean {
  return ready && configuration === undefined && sources.every(isGoodSource) && zones.every(isGoodZone)
}

export function formatStatus(status: ServerStatus, nowMs: number, width?: number): string {
  const { version, ready, sources, zones } = status
  const good = zones.filter(isGoodZone)
  const shown = [...zones.filter((zone) => !isGoodZone(zone)), ...(good.length > GOOD_ZONES_SHOWN ? [] : good)]
  const left = zones.length - shown.length
  const sections = [
    `holdfast ${version}${ready ? '' : ', still loading'}\n`,
    status.configuration === undefined ? '' : configurationText(status.configuration, nowMs),
    sources.length === 0 ? '' : sourceTable(sources, nowMs, width),
    shown.length === 0 ? '' : zoneTable(shown, width),
    left === 0 ? '' : `${left} ${shown.length === 0 ? '' : 'more '}zones are ok; --json lists them\n`,
  ]
  return sections.filter((section) => section !== '').join('\n')
}

function configurationText({ since, errorCount, errors }: RefusedConfiguration, nowMs: number): string {
  const more = errorCount - errors.length
  const lines = [
    `The configuration was refused ${formatAge(since, nowMs)} ago; the one before it stays in service:`,
    ...errors.map(({ message }) => `  ${printable(message)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ]
  return `${lines.join('\n')}\n`
}

function isGoodSource({ state, problemCount = 0 }: SourceStatus): boolean {
  return state === 'following' && problemCount === 0
}

function isGoodZone({ state }: ZoneStatus): boolean {
  return state === 'ok'
}

function sourceTable(sources: readonly SourceStatus[], nowMs: number, width: number | undefined): string {
  const rows = sources
    .toSorted((a, b) => Number(isGoodSource(a)) - Number(isGoodSource(b)))
    .flatMap((source) => {
      const { name, state, keys, revision, since } = source
      const [first = '', ...more] = remarks(source, nowMs)
      const row = [name, state, String(keys), String(revision), formatAge(since, nowMs), first]
      return [row, ...more.map((remark) => ['', '', '', '', '', remark])]
    })
  return formatTable(
    ['SOURCE', 'STATE', 'KEYS', 'REVISION', 'SINCE', 'REMARK'],
    rows,
    ['KEYS', 'REVISION', 'SINCE'],
    width,
  )
}

function remarks(source: SourceStatus, nowMs: number): string[] {
  const { state, error, hint, lastError, problems = [], problemCount = 0, startedFrom } = source
  const found: string[] = []
  if (state === 'doubted')
    found.push(
      'there is nothing of it any more where it comes from; it stays in service until there is something again',
    )
  if (error !== undefined) found.push(hint === undefined ? error : `${error}; ${hint}`)
  else if (lastError !== undefined) found.push(`${formatAge(lastError.at, nowMs)} ago: ${lastError.message}`)
  if (state === 'away' && startedFrom !== undefined)
    found.push(`serving what was known ${formatAge(startedFrom, nowMs)} ago`)
  found.push(...problems)
  if (problemCount > problems.length) found.push(`and ${problemCount - problems.length} more`)
  return found
}

function zoneTable(zones: readonly ZoneStatus[], width: number | undefined): string {
  const rows = zones.flatMap(({ zone, state, serial, from, plugin, errors = [] }) => {
    const [first = '', ...more] = errors
    const row = [zone, state, serial === undefined ? '-' : String(serial), from ?? plugin, first]
    return [row, ...more.map((error) => ['', '', '', '', error])]
  })
  return formatTable(['ZONE', 'STATE', 'SERIAL', 'FROM', 'ERROR'], rows, ['SERIAL'], width)
}
