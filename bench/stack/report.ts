// The tables of a run, what is wanted held against it, and the section of docs/benchmarks.md they make.

import { machine } from '../document.ts'
import { HEADINGS } from '../section.ts'
import { type Spread, spread } from '../statistics.ts'
import { formatTable } from '../table.ts'
import type { FailoverResult } from './failover.ts'
import type { IdleCost } from './idle.ts'
import type { Options } from './options.ts'
import type { PlanResult } from './plan.ts'
import { MOMENTS, type Start } from './starts.ts'

const WANTED_START_SECONDS = 20
const WANTED_NAME_MS = 1000
const WANTED_PLAN_SECONDS = 1

export interface Run {
  readonly options: Options
  /** Load averages when it began. */
  readonly load: readonly number[]
  readonly starts: readonly Start[]
  readonly failover: FailoverResult | undefined
  readonly idle: readonly IdleCost[]
  readonly plan: PlanResult | undefined
}

export function formatRun({ starts, failover, idle, plan }: Run): string {
  const parts = [
    ['From nothing to a healthy lab', formatStarts(starts)],
    ['The primary gone', failover === undefined ? '' : formatFailovers(failover)],
    ['A lab that nobody uses', formatIdle(idle)],
    ['A plan for 1,000 machines', plan === undefined ? '' : formatPlan(plan)],
    ['Wanted', formatWanted(starts, failover, plan)],
  ]
  return parts
    .filter(([, table]) => table !== '')
    .map(([title, table]) => `### ${title}\n\n${table}`)
    .join('\n')
}

function formatStarts(starts: readonly Start[]): string {
  if (starts.length === 0) return ''
  const moments = Object.keys(MOMENTS) as (keyof Start)[]
  const rows = moments.map((moment) => [MOMENTS[moment], range(spread(starts.map((start) => start[moment])), 1)])
  return formatTable(['reached', 'seconds after the command'], rows)
}

function formatFailovers({ failovers, outcome }: FailoverResult): string {
  const rows = failovers.map(({ what, samples }) => {
    const delays = samples.flatMap(({ nameDelaysMs }) => nameDelaysMs)
    return [
      what,
      range(spread(samples.map(({ gapSeconds }) => gapSeconds)), 1),
      range(spread(samples.map(({ recoverySeconds }) => recoverySeconds)), 1),
      delays.length === 0 ? '–' : range(spread(delays), 0),
    ]
  })
  const table = formatTable(['what happens', 'no writes for s', 'then all ready after s', 'name behind by ms'], rows)
  const { acknowledged, unknown, lost, doubled } = outcome
  return `${table}
${count(acknowledged)} writes were acknowledged and ${unknown} were of unknown outcome; ${lost.length} of the acknowledged were lost, ${doubled.length} stored twice.
`
}

function formatIdle(costs: readonly IdleCost[]): string {
  if (costs.length === 0) return ''
  const sum = (of: (cost: IdleCost) => number) => costs.reduce((total, cost) => total + of(cost), 0)
  const row = (kind: string, processes: number, cpu: number, bytes: number) => [
    ...[kind, String(processes), cpu.toFixed(2), count(bytes / 2 ** 20)],
  ]
  return formatTable(
    ['what', 'processes', 'CPU s per minute', 'memory MB'],
    [
      ...costs.map((cost) => row(cost.kind, cost.processes, cost.cpuSecondsPerMinute, cost.pssBytes)),
      row(
        'all',
        sum((cost) => cost.processes),
        sum((cost) => cost.cpuSecondsPerMinute),
        sum((cost) => cost.pssBytes),
      ),
    ],
  )
}

function formatPlan({ wallSeconds, shares }: PlanResult): string {
  const rows = shares.map(({ what, ms }) => [`of it, ${what}`, (ms / 1000).toFixed(2)])
  return formatTable(['what', 'seconds'], [['`holdfast plan`', range(spread(wallSeconds), 2)], ...rows])
}

function formatWanted(
  starts: readonly Start[],
  failover: FailoverResult | undefined,
  plan: PlanResult | undefined,
): string {
  const rows: [wanted: string, met: boolean, measured: string][] = []
  if (starts.length > 0) {
    const { median } = spread(starts.map(({ total }) => total))
    rows.push([
      `the whole lab within ${WANTED_START_SECONDS} s`,
      median <= WANTED_START_SECONDS,
      `${median.toFixed(1)} s`,
    ])
  }
  if (failover !== undefined) {
    const { failovers, outcome } = failover
    const delays = failovers.flatMap(({ samples }) => samples.flatMap(({ nameDelaysMs }) => nameDelaysMs))
    const longest = Math.max(0, ...delays)
    rows.push(
      ['no acknowledged write is lost', outcome.lost.length === 0, `${outcome.lost.length} lost`],
      [
        `the name follows within ${WANTED_NAME_MS / 1000} s`,
        longest < WANTED_NAME_MS,
        `at most ${longest.toFixed(0)} ms`,
      ],
    )
  }
  if (plan !== undefined) {
    const { median } = spread(plan.wallSeconds)
    rows.push([
      `a plan for 1,000 machines within ${WANTED_PLAN_SECONDS} s`,
      median < WANTED_PLAN_SECONDS,
      `${median.toFixed(2)} s`,
    ])
  }
  return formatTable(
    ['wanted', 'met', 'measured'],
    rows.map(([wanted, isMet, measured]) => [wanted, isMet ? 'yes' : 'no', measured]),
  )
}

const count = (value: number): string => Math.round(value).toLocaleString('en')
const range = ({ median, min, max }: Spread, digits: number): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`

export function formatSection(run: Run, commandLine: string): string {
  const { rounds, idleSeconds } = run.options
  return `${HEADINGS.stack}

Written by \`${commandLine}\` on ${new Date().toISOString().slice(0, 10)}; run it again to get this section for your machine.

${formatRun(run).trim()}

### How it was made

- Machine: ${machine()}; load averages before the run: ${run.load.map((load) => load.toFixed(1)).join(', ')}. Medians of ${rounds} rounds, with minimum and maximum.
- The lab is \`examples/lab\`: 3 etcd members, 2 name servers, 3 PostgreSQL servers under Patroni with its default settings, TLS and
  authentication everywhere, all on this machine. Packages are installed before.
- From nothing: \`holdfast up --yes --detach\` with an empty state directory; times are those at which its progress lines come.
- The primary gone: a client inserts numbers one by one, and for each connection asks the stack's name servers for \`primary.pg.lab.test\` and checks
  the certificate for that name. *No writes* is the longest time between two acknowledgements. A lost machine is one whose processes are
  all killed while nobody starts them again; it comes back when writes go on. *Name behind* is the time from the change of Patroni's leader key, as a
  watch in etcd tells it, to the answer of each name server, asked every 5 ms.
- A lab that nobody uses: CPU time over ${idleSeconds} s from \`/proc/PID/stat\`; memory is the proportional set size.
- The plan: ${run.plan?.machines ?? 'not measured'}; none of them exists yet. Shares are from one more run under V8's profiler.
`
}
