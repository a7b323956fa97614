// Turns measurements into the tables people read. Servers are ranked by CPU time per query, not by queries per second:
// on a shared machine the latter swings with whatever else runs.

import type { LoadResult } from './loading.ts'
import type { PeerName } from './peers.ts'
import type { QueryResult } from './rounds.ts'
import { type Spread, spread } from './statistics.ts'
import { formatTable } from './table.ts'

export type Titles = Readonly<Partial<Record<PeerName, string>>>

const OURS: PeerName = 'holdfast'

const range = ({ median, min, max }: Spread, digits: number): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`

const ratio = (value: number, ours: number | undefined): string =>
  ours === undefined ? '–' : `${(value / ours).toFixed(2)}×`

/** Each group of results that share a heading, in the order they were measured. */
function grouped<T>(results: readonly T[], heading: (result: T) => string): [string, T[]][] {
  return [...Map.groupBy(results, heading)]
}

export function formatQueries(results: readonly QueryResult[], titles: Titles): string {
  return grouped(results, (r) => `${r.records.toLocaleString('en')} records, ${r.transport.toUpperCase()}, ${r.mix}`)
    .map(([heading, group]) => {
      const rows = group.map(({ peer, samples }) => ({
        peer,
        cpu: spread(samples.map((s) => s.cpuMicros)),
        user: spread(samples.map((s) => s.userMicros)).median,
        system: spread(samples.map((s) => s.systemMicros)).median,
        rate: spread(samples.map((s) => s.queriesPerSecond / 1000)),
        busy: spread(samples.map((s) => s.busyCores)).median,
        lost: samples.reduce((sum, s) => sum + s.lost, 0),
      }))
      const ours = rows.find(({ peer }) => peer === OURS)?.cpu.median
      rows.sort((a, b) => a.cpu.median - b.cpu.median)
      const table = formatTable(
        ['server', 'CPU µs/query', 'user / sys', 'to ours', '1,000 queries/s', 'busy cores', 'lost'],
        rows.map((row) => [
          titles[row.peer] ?? row.peer,
          range(row.cpu, 2),
          `${row.user.toFixed(1)} / ${row.system.toFixed(1)}`,
          ratio(row.cpu.median, ours),
          range(row.rate, 0),
          row.busy.toFixed(2),
          String(row.lost),
        ]),
      )
      return `### ${heading}\n\n${table}`
    })
    .join('\n')
}

export function formatLoads(results: readonly LoadResult[], titles: Titles): string {
  return grouped(results, (r) => r.what)
    .map(([what, group]) => {
      const rows = group.map(({ peer, samples }) => ({
        peer,
        cpu: spread(samples.map((s) => s.cpuSeconds)),
        wall: spread(samples.map((s) => s.wallSeconds)),
        memory: spread(samples.map((s) => s.pssBytes / 2 ** 20)).median,
        peak: spread(samples.map((s) => s.peakBytes / 2 ** 20)).median,
      }))
      const ours = rows.find(({ peer }) => peer === OURS)
      rows.sort((a, b) => a.cpu.median - b.cpu.median)
      const table = formatTable(
        ['server', 'CPU s', 'to ours', 'wall s', 'memory MB', 'to ours', 'peak MB'],
        rows.map((row) => [
          titles[row.peer] ?? row.peer,
          range(row.cpu, 2),
          ratio(row.cpu.median, ours?.cpu.median),
          range(row.wall, 2),
          row.memory.toFixed(0),
          ratio(row.memory, ours?.memory),
          row.peak.toFixed(0),
        ]),
      )
      return `### Loading ${what}\n\n${table}`
    })
    .join('\n')
}

/** Every mix in one table: median CPU µs per query of each server, in the order of the servers given. */
export function formatSummary(results: readonly QueryResult[], titles: Titles): string {
  const peers = [...new Set(results.map(({ peer }) => peer))]
  const rows = grouped(results, (r) => `${r.records.toLocaleString('en')} ${r.transport.toUpperCase()} ${r.mix}`).map(
    ([heading, group]) => [
      heading,
      ...peers.map((peer) => {
        const result = group.find((each) => each.peer === peer)
        return result === undefined ? '–' : spread(result.samples.map((s) => s.cpuMicros)).median.toFixed(2)
      }),
    ],
  )
  return formatTable(['CPU µs/query', ...peers.map((peer) => titles[peer] ?? peer)], rows)
}
