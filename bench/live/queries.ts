// SkyDNS questions per second of CPU time: dnsperf keeps one server after the other saturated, in random order per round.
// CoreDNS asks etcd at every question, so etcd's CPU time over the same span is counted beside it.

import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { dnsperf, type Sample } from '../load.ts'
import { cpuSeconds, treeCpu } from '../proc.ts'
import type { Workplace } from '../processes.ts'
import { seededRandom, shuffle } from '../random.ts'
import { coreList } from '../server.ts'
import { Data, LIVE_NAME } from './data.ts'
import { type Served, type Stage, serve } from './stage.ts'
import { ORIGIN, type Subject } from './subjects.ts'

const KEYS = 10_000
const QUESTIONS = 100_000
const WARM_UP_SECONDS = 1
const RCODE_TOLERANCE = 0.03

export const QUESTION_MIXES = {
  hit: () => 'hit',
  /** Mostly hits, a tenth each of services, names without IPv6 and names that are not there. */
  mixed: (share: number) => (share < 70 ? 'hit' : share < 80 ? 'srv' : share < 90 ? 'nodata' : 'nxdomain'),
} as const
export type QuestionMix = keyof typeof QUESTION_MIXES

export interface QueryResult {
  readonly title: string
  readonly mix: QuestionMix
  readonly samples: QuerySample[]
}

interface QuerySample extends Pick<Sample, 'queriesPerSecond'> {
  readonly perCpuSecond: number
  /** With etcd's CPU time counted as well. */
  readonly perCpuSecondWithEtcd: number
}

export async function queryRounds(
  stage: Stage,
  subjects: readonly Subject[],
  plan: { readonly rounds: number; readonly seconds: number },
  progress: (line: string) => void,
): Promise<QueryResult[]> {
  const pinned = { ...stage, workers: 1, cores: coreList(1) }
  const contestants: Served[] = []
  for (const subject of subjects) {
    await stage.etcd.putAll(new Data('skydns', subject.prefix, KEYS).entries())
    contestants.push(await serve(pinned, subject, LIVE_NAME))
  }
  const random = seededRandom(Date.now())
  const results = contestants.flatMap(({ subject: { title } }) =>
    MIXES.map((mix): QueryResult => ({ title, mix, samples: [] })),
  )
  for (let round = 1; round <= plan.rounds; round++)
    for (const mix of MIXES) {
      const file = await writeQuestions(stage.place, mix)
      for (const served of shuffle(contestants, random)) {
        const { title } = served.subject
        const sample = await measure(stage, served, mix, file, plan.seconds)
        results.find((result) => result.title === title && result.mix === mix)?.samples.push(sample)
        progress(`round ${round}/${plan.rounds} ${title}, ${mix}: ${sample.perCpuSecond.toFixed(0)} per CPU second`)
      }
    }
  for (const served of contestants) await served.stop()
  return results
}

const MIXES = Object.keys(QUESTION_MIXES) as QuestionMix[]

async function measure(
  { place, etcd }: Stage,
  { port, server, subject }: Served,
  mix: QuestionMix,
  queryFile: string,
  seconds: number,
): Promise<QuerySample> {
  const load = { port, transport: 'udp', queryFile, cores: String(availableParallelism() - 1) } as const
  await dnsperf(place, { ...load, seconds: WARM_UP_SECONDS })
  const cpu = () => [server.pid, etcd.pid].map((pid) => cpuSeconds(treeCpu(pid)))
  const before = cpu()
  const report = await dnsperf(place, { ...load, seconds })
  const [ours, etcds] = cpu().map((after, i) => after - before[i])
  const absent = mix === 'hit' ? 0 : 0.1
  if (
    Math.abs((report.rcodes.NXDOMAIN ?? 0) - absent) + Math.abs((report.rcodes.NOERROR ?? 0) - 1 + absent) >
    RCODE_TOLERANCE
  )
    throw new Error(`Cannot measure ${subject.title}: wrong answers: ${JSON.stringify(report.rcodes)}`)
  return {
    perCpuSecond: report.completed / ours,
    perCpuSecondWithEtcd: report.completed / (ours + etcds),
    queriesPerSecond: report.completed / report.seconds,
  }
}

async function writeQuestions(place: Workplace, mix: QuestionMix): Promise<string> {
  const random = seededRandom(KEYS)
  const pick = (below: number) => Math.floor(random() * below)
  const lines = Array.from({ length: QUESTIONS }, () => {
    const host = `h${pick(KEYS)}.${ORIGIN}`
    const kind = QUESTION_MIXES[mix](pick(100))
    if (kind === 'nxdomain') return `missing${pick(KEYS)}.${ORIGIN} A\n`
    return `${host} ${kind === 'srv' ? 'SRV' : kind === 'nodata' ? 'AAAA' : 'A'}\n`
  })
  const path = join(place.directory, `${mix}.queries`)
  await writeFile(path, lines.join(''))
  return path
}
