// The tables of a run, what is wanted held against it, and the section of docs/benchmarks.md they make.

import { machine } from '../document.ts'
import { HEADINGS } from '../section.ts'
import { percentile, spread } from '../statistics.ts'
import { formatTable } from '../table.ts'
import type { LoadSample } from './load.ts'
import type { Result, StartSample } from './measure.ts'
import type { Kind } from './objects.ts'
import type { Options } from './options.ts'

const WANTED_MS = 100

export interface Run {
  readonly options: Options
  /** Load averages when it began. */
  readonly load: readonly number[]
  readonly versions: string
  readonly results: readonly Result[]
}

export function formatRun(run: Run): string {
  const { results, options } = run
  const parts = [
    ['From change acknowledged to the new answer', formatDelays(results)],
    [`Starts with ${count(options.objects)} objects`, formatStarts(results)],
    [`${options.rate} changes a second`, formatLoads(results)],
    ['Given up', formatUnfinished(results)],
    ['Wanted', formatWanted(results)],
  ]
  return parts
    .filter(([, table]) => table !== '')
    .map(([title, table]) => `### ${title}\n\n${table}`)
    .join('\n')
}

function formatDelays(results: readonly Result[]): string {
  const rows = results
    .filter(({ delaysMs }) => delaysMs.length > 0)
    .map(({ subject, delaysMs }) => {
      const sorted = delaysMs.toSorted((a, b) => a - b)
      const shown = (percent: number) => milliseconds(percentile(sorted, percent))
      return [
        ...[subject.title, KIND_TITLES[subject.kind], String(sorted.length)],
        ...[shown(50), shown(90), shown(99), shown(100)],
      ]
    })
  return formatTable(['who', 'objects', 'changes', 'p50 ms', 'p90', 'p99', 'max'], rows)
}

function formatStarts(results: readonly Result[]): string {
  const rows = results
    .filter(({ firstStarts }) => firstStarts.length > 0)
    .map(({ subject, firstStarts, laterStarts }) => {
      const ours = oursOf(results, subject.kind)?.laterStarts ?? []
      return [
        ...[subject.title, KIND_TITLES[subject.kind]],
        ...[seconds(medianOf(firstStarts, wall)), seconds(medianOf(firstStarts, cpu))],
        ...[seconds(medianOf(laterStarts, wall)), seconds(medianOf(laterStarts, cpu))],
        ratio(medianOf(laterStarts, cpu), medianOf(ours, cpu)),
        ...[megabytes(medianOf(laterStarts, memory)), ratio(medianOf(laterStarts, memory), medianOf(ours, memory))],
        megabytes(medianOf(laterStarts, (sample) => sample.allPssBytes)),
        megabytes(medianOf(firstStarts, (sample) => sample.peakBytes)),
      ]
    })
  const columns = [
    'first s',
    'CPU s',
    'again s',
    'CPU s',
    'to ours',
    'memory MB',
    'to ours',
    'with name server',
    'peak MB',
  ]
  return formatTable(['who', 'objects', ...columns], rows)
}

function formatUnfinished(results: readonly Result[]): string {
  const rows = results.flatMap(({ subject, unfinished }) =>
    unfinished.map(({ phase, seconds, asked, wrong }) => [
      ...[subject.title, KIND_TITLES[subject.kind], phase, count(seconds), `${wrong} of ${asked}`],
    ]),
  )
  return formatTable(['who', 'objects', 'at', 'after s', 'names not right'], rows)
}

function formatLoads(results: readonly Result[]): string {
  const rows = results
    .filter(({ loads }) => loads.length > 0)
    .map(({ subject, loads, idleSecondsPerMinute }) => {
      const perChange = medianOf(loads, milliPerChange)
      const ours = oursOf(results, subject.kind)
      const servers = loads.map(({ serverCpuSeconds }) => serverCpuSeconds).filter((each) => each !== undefined)
      return [
        ...[subject.title, KIND_TITLES[subject.kind], perChange.toFixed(2)],
        ratio(perChange, medianOf(ours?.loads ?? [], milliPerChange)),
        servers.length === 0 ? '–' : ((1000 * spread(servers).median) / loads[0].changes).toFixed(2),
        medianOf(loads, (s) => s.behindSeconds).toFixed(1),
        megabytes(medianOf(loads, (s) => s.pssBytes)),
        idleSecondsPerMinute.length === 0 ? '–' : spread(idleSecondsPerMinute).median.toFixed(2),
      ]
    })
  return formatTable(
    [
      ...['who', 'objects', 'CPU ms/change', 'to ours', 'name server, CPU ms/change'],
      ...['last one after s', 'memory MB', 'idle, CPU s per minute'],
    ],
    rows,
  )
}

function formatWanted(results: readonly Result[]): string {
  const rows = results
    .filter(({ subject, delaysMs }) => subject.slowSeconds === undefined && delaysMs.length > 0)
    .map(({ subject, delaysMs }) => {
      const p99 = percentile(
        delaysMs.toSorted((a, b) => a - b),
        99,
      )
      const who = `${subject.title}, ${KIND_TITLES[subject.kind]}`
      return [`p99 under ${WANTED_MS} ms: ${who}`, p99 < WANTED_MS ? 'yes' : 'no', `${milliseconds(p99)} ms`]
    })
  return formatTable(['wanted', 'met', 'measured'], rows)
}

const KIND_TITLES: Readonly<Record<Kind, string>> = { ingress: 'ingresses', vmi: 'virtual machines' }

const wall = (sample: StartSample): number => sample.wallSeconds
const cpu = (sample: StartSample): number => sample.cpuSeconds
const memory = (sample: StartSample): number => sample.pssBytes
const milliPerChange = ({ workerCpuSeconds, changes }: LoadSample): number => (1000 * workerCpuSeconds) / changes

/** The first that follows such objects. */
function oursOf(results: readonly Result[], kind: Kind): Result | undefined {
  return results.find(({ subject }) => subject.kind === kind && subject.title.startsWith('Holdfast'))
}

function medianOf<Sample>(samples: readonly Sample[], value: (sample: Sample) => number): number {
  return samples.length === 0 ? Number.NaN : spread(samples.map(value)).median
}

function ratio(theirs: number, ours: number): string {
  return Number.isFinite(theirs / ours) ? `${(theirs / ours).toFixed(2)}×` : '–'
}

const count = (value: number): string => Math.round(value).toLocaleString('en')
const megabytes = (bytes: number): string => (Number.isFinite(bytes) ? count(bytes / 2 ** 20) : '–')
const seconds = (value: number): string => (Number.isFinite(value) ? value.toFixed(2) : '–')
const milliseconds = (value: number): string => (value < 1000 ? value.toFixed(1) : count(value))

/** Where others take less. */
function formatLess(results: readonly Result[]): string {
  const others = results.filter(({ subject }) => !subject.title.startsWith('Holdfast'))
  const less = others.flatMap(({ subject, laterStarts, loads }) => {
    const ours = oursOf(results, subject.kind)
    const compared = [
      ['CPU time to start again', medianOf(laterStarts, cpu) / medianOf(ours?.laterStarts ?? [], cpu)],
      ['memory', medianOf(laterStarts, memory) / medianOf(ours?.laterStarts ?? [], memory)],
      ['CPU time per change', medianOf(loads, milliPerChange) / medianOf(ours?.loads ?? [], milliPerChange)],
    ] as const
    return compared
      .filter(([, share]) => share < 1)
      .map(([what, share]) => `${subject.title}: ${share.toFixed(2)}× of our ${what}`)
  })
  return less.length === 0 ? 'Nobody takes less than ours.' : `Who takes less than ours: ${less.join('; ')}.`
}

/** Small clusters are told of apart: for whoever cannot cope with a large one. */
export function sectionOf({ objects }: Options): 'kube' | 'kubeSmall' {
  return objects < 10_000 ? 'kubeSmall' : 'kube'
}

export function formatSection(run: Run, commandLine: string): string {
  const { rounds, objects, rate, seconds: loadSeconds, idleSeconds } = run.options
  return `${HEADINGS[sectionOf(run.options)]}

Written by \`${commandLine}\` on ${new Date().toISOString().slice(0, 10)}; run it again to get this section for your machine.

${formatRun(run).trim()}

${formatLess(run.results)}

### How it was made

- Machine: ${machine()}; load averages before the run: ${run.load.map((load) => load.toFixed(1)).join(', ')}. ${run.versions}. Medians of ${rounds} rounds, in
  each of which everybody takes a turn, in random order and alone. ${count(objects)} ingresses of one host and ${count(objects)} virtual machines of one
  secondary interface in one cluster, whose API server has an etcd of its own; publishers write to another one, without TLS.
- Delays: from the acknowledgement of a PATCH of the status, as the client reads it, to the first right answer by UDP. At once: one object changes
  again and again, its name is asked for a thousand times a second. In seconds or minutes: objects change at random moments of the period after which
  a change should be seen, and are asked for every 50 ms; there are fewer of them.
- Starts: *first* finds nothing on disk or in etcd and ends when 200 names spread over all objects are right, *again* when 100 objects are right that
  have changed meanwhile; afterwards all names are asked for once. CPU time is that of the program until then, memory its proportional set size 10 s later,
  peak its highest resident size. Zone files are read every 2 s here, as CoreDNS would hide everything else with the 45 s that are timed above.
- Changes: ${rate} a second for ${loadSeconds} s, one object after the other; CPU time, with that of the API client in it, until the last one is answered. A name server that is another
  process stands in a column of its own, for the time in which the changes come. Idle is looked at for ${idleSeconds} s.
- *To ours* is what they take of what our server takes that is fed directly, which is the whole name server; ours runs from its TypeScript sources here.

Who was measured:

${run.results.map(({ subject }) => `- ${subject.title} (${KIND_TITLES[subject.kind]}): ${subject.settings}`).join('\n')}
`
}
