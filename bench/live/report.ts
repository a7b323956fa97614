// The tables of a run, what is wanted held against it, and the section of docs/benchmarks.md they make.

import { machine } from '../document.ts'
import { HEADINGS } from '../section.ts'
import { percentile, type Spread, spread } from '../statistics.ts'
import { formatTable } from '../table.ts'
import type { LatencyResult } from './latency.ts'
import type { Options } from './options.ts'
import type { QueryResult } from './queries.ts'
import type { StartResult } from './starts.ts'
import { SUBJECTS } from './subjects.ts'

const WANTED_MS = 10
const WANTED_RATIO = 20

export interface Run {
  readonly options: Options
  readonly versions: string
  readonly latencies: readonly LatencyResult[]
  readonly queries: readonly QueryResult[]
  readonly starts: readonly StartResult[]
}

export function formatRun({ latencies, queries, starts }: Run): string {
  const parts = [
    ['From put acknowledged to the new answer', formatLatencies(latencies)],
    ['SkyDNS questions per CPU second', formatQueries(queries)],
    ['Starts', formatStarts(starts)],
    ['Wanted', formatWanted(latencies, queries)],
  ]
  return parts
    .filter(([, table]) => table !== '')
    .map(([title, table]) => `### ${title}\n\n${table}`)
    .join('\n')
}

function formatLatencies(results: readonly LatencyResult[]): string {
  const rows = results.map(({ title, kind, condition, samples, resolutions }) => {
    const sorted = samples.toSorted((a, b) => a - b)
    const shown = (percent: number) => percentile(sorted, percent).toFixed(2)
    const resolution = spread(resolutions.map(({ median }) => median)).median
    return [
      ...[title, kind === 'zone' ? 'a zone of 10,000 records' : 'one SkyDNS key', condition, String(samples.length)],
      ...[shown(50), shown(90), shown(99), shown(100)],
      resolutions.length === 0 ? '–' : resolution.toFixed(2),
    ]
  })
  return formatTable(
    ['who', 'what changes', 'server', 'changes', 'p50 ms', 'p90', 'p99', 'max', 'asked every ms'],
    rows,
  )
}

function formatQueries(results: readonly QueryResult[]): string {
  const median = (values: readonly number[]) => spread(values).median
  const rows = results.map(({ title, mix, samples }) => {
    const own = spread(samples.map((sample) => sample.perCpuSecond))
    const ours = results.find((other) => other.mix === mix)?.samples.map((sample) => sample.perCpuSecond) ?? []
    return [
      ...[title, mix, range(own), `${(median(ours) / own.median).toFixed(1)}×`],
      count(median(samples.map((sample) => sample.perCpuSecondWithEtcd))),
      count(median(samples.map((sample) => sample.queriesPerSecond))),
    ]
  })
  return formatTable(
    ['server', 'questions', 'per CPU second', 'ours to it', 'with the CPU of etcd', 'per second'],
    rows.toSorted((a, b) => a[1].localeCompare(b[1])),
  )
}

function formatStarts(results: readonly StartResult[]): string {
  const rows = results.map(({ what, from, samples }) => {
    const median = (value: (sample: (typeof samples)[number]) => number) => spread(samples.map(value)).median
    return [
      ...[what, from, median((s) => s.wallSeconds).toFixed(2), median((s) => s.cpuSeconds).toFixed(2)],
      ...[count(median((s) => s.pssBytes / 2 ** 20)), count(median((s) => s.peakBytes / 2 ** 20))],
    ]
  })
  return formatTable(['what', 'from', 'wall s', 'CPU s', 'memory MB', 'peak MB'], rows)
}

function formatWanted(latencies: readonly LatencyResult[], queries: readonly QueryResult[]): string {
  const ours = (title: string) => title.startsWith('Holdfast')
  const p99 = latencies
    .filter(({ title, condition }) => ours(title) && condition === 'idle')
    .map(({ kind, samples }) => ({
      kind,
      ms: percentile(
        samples.toSorted((a, b) => a - b),
        99,
      ),
    }))
  const ratios = queries
    .filter(({ title }) => ours(title))
    .flatMap(({ mix, samples }) => {
      const theirs = queries.find((other) => !ours(other.title) && other.mix === mix)
      const rate = (list: QueryResult['samples']) => spread(list.map((sample) => sample.perCpuSecond)).median
      return theirs === undefined ? [] : [{ mix, ratio: rate(samples) / rate(theirs.samples) }]
    })
  const rows = [
    ...p99.map(({ kind, ms }) => [
      `p99 under ${WANTED_MS} ms, idle: ${kind}`,
      yes(ms < WANTED_MS),
      `${ms.toFixed(2)} ms`,
    ]),
    ...ratios.map(({ mix, ratio }) => [
      `at least ${WANTED_RATIO}× the SkyDNS questions per CPU second of CoreDNS: ${mix}`,
      yes(ratio >= WANTED_RATIO),
      `${ratio.toFixed(1)}×`,
    ]),
  ]
  return formatTable(['wanted', 'met', 'measured'], rows)
}

const yes = (met: boolean): string => (met ? 'yes' : 'no')
const count = (value: number): string => Math.round(value).toLocaleString('en')
const range = ({ median, min, max }: Spread): string => `${count(median)} (${count(min)}–${count(max)})`

export function formatSection(run: Run, commandLine: string): string {
  const { rounds, rate, seconds } = run.options
  return `${HEADINGS.live}

Written by \`${commandLine}\` on ${new Date().toISOString().slice(0, 10)}; run it again to get this section for your machine.

${formatRun(run).trim()}

### How it was made

- Machine: ${machine()}. ${run.versions}. One etcd member without TLS; everything on the same machine, with a prefix of its own for each
  server.
- Latency: a client puts change after change, each a few milliseconds after the last was seen. A thread with blocking system calls asks for the
  changing name and sleeps in between; the last column is the median time between two of its answers, and nothing is subtracted. In the zone,
  one record and the serial change, and the whole text is put. The time runs from the acknowledgement as the client reads it: a negative value means
  that the new answer was on the wire before. ${rounds} rounds, in each of which all take turns in random order; *loaded* is with ${count(rate)}
  questions per second from dnsperf. *A bare watch* is the time until etcd itself tells a watching client, in the process that puts.
- Questions: 10,000 keys; *hit* are A questions, *mixed* 70 % of these, 10 % SRV, 10 % AAAA without data and 10 % names that are not there. Each server
  has one worker on the first core, dnsperf the last core; ${seconds} s after a warm-up, medians of ${rounds} rounds with minimum and maximum.
- Starts: until the last name is answered (wall), and until the CPU is at rest (CPU, memory; peak is the highest resident size).

The servers and their settings:

${SUBJECTS.map(({ title, settings }) => `- ${title}: ${settings}`).join('\n')}
`
}
