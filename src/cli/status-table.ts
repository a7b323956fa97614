// A server's status for people: what is wrong stands first, what is well is only counted when there is much of it.

import type { ServerStatus, SourceStatus, ZoneStatus } from './server-status.ts'
import { formatTable } from './table.ts'

/** More good zones than this are not listed. */
const GOOD_ZONES_SHOWN = 20

/** Whether nothing is refused, away or missing. */
export function isWell({ ready, sources, zones }: ServerStatus): boolean {
  return ready && sources.every(isGoodSource) && zones.every(isGoodZone)
}

export function formatStatus(status: ServerStatus, nowMs: number): string {
  const { version, ready, sources, zones } = status
  const good = zones.filter(isGoodZone)
  const shown = [...zones.filter((zone) => !isGoodZone(zone)), ...(good.length > GOOD_ZONES_SHOWN ? [] : good)]
  const left = zones.length - shown.length
  const sections = [
    `holdfast ${version}${ready ? '' : ', still loading'}\n`,
    sources.length === 0 ? '' : sourceTable(sources, nowMs),
    shown.length === 0 ? '' : zoneTable(shown),
    left === 0 ? '' : `${left} ${shown.length === 0 ? '' : 'more '}zones are ok; --json lists them\n`,
  ]
  return sections.filter((section) => section !== '').join('\n')
}

function isGoodSource({ state, problemCount = 0 }: SourceStatus): boolean {
  return state === 'following' && problemCount === 0
}

function isGoodZone({ state }: ZoneStatus): boolean {
  return state === 'ok'
}

function sourceTable(sources: readonly SourceStatus[], nowMs: number): string {
  const rows = sources
    .toSorted((a, b) => Number(isGoodSource(a)) - Number(isGoodSource(b)))
    .flatMap((source) => {
      const { name, state, keys, revision, since } = source
      const [first = '', ...more] = remarks(source, nowMs)
      const row = [name, state, String(keys), String(revision), age(since, nowMs), first]
      return [row, ...more.map((remark) => ['', '', '', '', '', remark])]
    })
  return formatTable(['SOURCE', 'STATE', 'KEYS', 'REVISION', 'SINCE', 'REMARK'], rows, ['KEYS', 'REVISION', 'SINCE'])
}

function remarks(source: SourceStatus, nowMs: number): string[] {
  const { state, error, hint, lastError, problems = [], problemCount = 0, startedFrom } = source
  const found: string[] = []
  if (state === 'doubted')
    found.push(
      'there is nothing of it any more where it comes from; it stays in service until there is something again',
    )
  if (error !== undefined) found.push(hint === undefined ? error : `${error}; ${hint}`)
  else if (lastError !== undefined) found.push(`${age(lastError.at, nowMs)} ago: ${lastError.message}`)
  if (state === 'away' && startedFrom !== undefined) found.push(`serving what was known ${age(startedFrom, nowMs)} ago`)
  found.push(...problems)
  if (problemCount > problems.length) found.push(`and ${problemCount - problems.length} more`)
  return found
}

function zoneTable(zones: readonly ZoneStatus[]): string {
  const rows = zones.flatMap(({ zone, state, serial, from, plugin, errors = [] }) => {
    const [first = '', ...more] = errors
    const row = [zone, state, serial === undefined ? '-' : String(serial), from ?? plugin, first]
    return [row, ...more.map((error) => ['', '', '', '', error])]
  })
  return formatTable(['ZONE', 'STATE', 'SERIAL', 'FROM', 'ERROR'], rows, ['SERIAL'])
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const

/** How long ago, in its largest unit. */
function age(time: string, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(time)) / 1000))
  const [unit, size] = UNITS.find(([, each]) => seconds >= 2 * each) ?? (['s', 1] as const)
  return `${Math.floor(seconds / size)} ${unit}`
}
