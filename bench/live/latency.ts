// From put acknowledged to the new answer on the wire. In each round every subject is measured once idle and once under
// questions at a fixed rate, in random order; changes come one by one, each after the last was seen.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom, shuffle } from '../random.ts'
import type { RunningServer } from '../processes.ts'
import { Data, LIVE_NAME } from './data.ts'
import type { Etcd } from './etcd.ts'
import { Prober, type Resolution } from './prober.ts'
import { type Served, type Stage, serve } from './stage.ts'
import type { Kind, Subject } from './subjects.ts'
import { WatchProbe } from './watch-probe.ts'

const RECORDS = 10_000
const PROBE_GAP_MICROS = 150
/** Changes do not come at the pace of the questions. */
const LONGEST_PAUSE_MS = 5
const SETTLE_MS = 300

export type Condition = 'idle' | 'loaded'

export interface LatencyResult {
  readonly title: string
  readonly kind: Kind
  readonly condition: Condition
  /** Milliseconds; negative when the answer was there before the acknowledgement was read. */
  readonly samples: number[]
  readonly resolutions: Resolution[]
}

export interface LatencyPlan {
  readonly rounds: number
  /** Of each subject and condition, over all rounds. */
  readonly changes: number
  readonly slowChanges: number
  /** Questions per second when loaded. */
  readonly rate: number
}

/** Somebody who sees changes. */
interface Probe {
  seen(number: number): Promise<bigint>
  stop(): Promise<Resolution | undefined>
}

interface Contestant {
  readonly title: string
  readonly kind: Kind
  readonly changes: number
  readonly conditions: readonly Condition[]
  readonly data: Data
  /** The last change made. */
  number: number
  readonly served: Served | undefined
  probe(): Probe
}

export async function latencyRounds(
  stage: Stage,
  subjects: readonly Subject[],
  plan: LatencyPlan,
  progress: (line: string) => void,
): Promise<LatencyResult[]> {
  const { etcd } = stage
  const contestants: Contestant[] = []
  for (const kind of ['zone', 'skydns'] as const) contestants.push(await watchAlone(etcd, kind, plan))
  for (const subject of subjects) contestants.push(await contestant(stage, subject, plan))
  const results = contestants.flatMap(({ title, kind, conditions }) =>
    conditions.map((condition): LatencyResult => ({ title, kind, condition, samples: [], resolutions: [] })),
  )
  const random = seededRandom(Date.now())
  for (let round = 1; round <= plan.rounds; round++) {
    const turns = contestants.flatMap((each) => each.conditions.map((condition) => [each, condition] as const))
    for (const [each, condition] of shuffle(turns, random)) {
      const load = condition === 'loaded' && each.served ? await underLoad(stage, each, plan.rate) : undefined
      const { samples, resolution } = await changeAndSee(etcd, each, Math.ceil(each.changes / plan.rounds), random)
      await load?.stop()
      const same = (result: LatencyResult) =>
        result.title === each.title && result.kind === each.kind && result.condition === condition
      const result = results.find(same)
      result?.samples.push(...samples)
      if (resolution !== undefined) result?.resolutions.push(resolution)
      const median = samples.toSorted((a, b) => a - b)[samples.length >> 1]
      const what = `${each.title}, ${each.kind}, ${condition}`
      progress(`round ${round}/${plan.rounds} ${what}: ${samples.length} changes, median ${median.toFixed(2)} ms`)
      await etcd.compact()
    }
  }
  for (const { served } of contestants) await served?.stop()
  return results
}

async function contestant(stage: Stage, subject: Subject, plan: LatencyPlan): Promise<Contestant> {
  const data = new Data(subject.kind, subject.prefix, RECORDS)
  await stage.etcd.putAll(data.entries())
  const served = await serve(stage, subject, LIVE_NAME)
  return {
    title: subject.title,
    kind: subject.kind,
    changes: subject.isSlow ? plan.slowChanges : plan.changes,
    conditions: ['idle', 'loaded'],
    data,
    number: 0,
    served,
    probe: () => new Prober(served.port, LIVE_NAME, PROBE_GAP_MICROS),
  }
}

/** What etcd itself takes: a client that only watches, in this process. */
async function watchAlone(etcd: Etcd, kind: Kind, plan: LatencyPlan): Promise<Contestant> {
  const data = new Data(kind, `/watched-${kind}`, RECORDS)
  const [key, value] = data.change(0)
  await etcd.put(key, value)
  const probe = () => new WatchProbe(etcd.endpoint, key)
  return {
    ...{ title: 'etcd, a bare watch', kind, changes: plan.changes, conditions: ['idle'] },
    ...{ data, number: 0, served: undefined, probe },
  }
}

async function changeAndSee(
  etcd: Etcd,
  each: Contestant,
  changes: number,
  random: () => number,
): Promise<{ samples: number[]; resolution: Resolution | undefined }> {
  const probe = each.probe()
  const samples: number[] = []
  await sleep(SETTLE_MS)
  for (let i = 0; i < changes; i++) {
    const [key, value] = each.data.change(++each.number)
    await sleep(random() * LONGEST_PAUSE_MS)
    await etcd.put(key, value)
    const acknowledgedAt = process.hrtime.bigint()
    samples.push(Number((await probe.seen(each.number)) - acknowledgedAt) / 1e6)
  }
  return { samples, resolution: await probe.stop() }
}

async function underLoad({ place, cores }: Stage, { served, data }: Contestant, rate: number): Promise<RunningServer> {
  const file = join(place.directory, 'live.queries')
  await data.writeQuestions(file)
  const target = ['-s', '127.0.0.1', '-p', String(served?.port), '-d', file]
  const args = [...target, '-Q', String(rate), '-c', '4', '-T', '1', '-l', '3600']
  const load = place.start({ file: 'dnsperf', args }, cores, join(place.directory, 'live.dnsperf'))
  await sleep(SETTLE_MS)
  return load
}
