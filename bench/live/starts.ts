// Starts with much to load, from etcd and, with etcd down, from the last good state on disk: wall time until the last name
// is answered, CPU time and memory once the server has come to rest.

import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds, type Memory, treeCpu, treeMemory } from '../proc.ts'
import { untilAtRest } from '../server.ts'
import type { Entry } from './data.ts'
import { Etcd } from './etcd.ts'
import { type Stage, serve } from './stage.ts'
import { ORIGIN, type Subject, SUBJECTS } from './subjects.ts'

export interface StartResult {
  readonly what: string
  readonly from: 'etcd' | 'disk, etcd down'
  readonly samples: StartSample[]
}

interface StartSample extends Memory {
  readonly wallSeconds: number
  readonly cpuSeconds: number
}

export interface StartPlan {
  readonly rounds: number
  readonly keys: number
  readonly zones: number
}

/** The state on disk is written behind what is served. */
const SAVE_MS = 2000

export async function startRounds(
  stage: Omit<Stage, 'etcd'>,
  plan: StartPlan,
  progress: (line: string) => void,
): Promise<StartResult[]> {
  const results: StartResult[] = []
  for (const load of loads(plan)) {
    const { what, subject, last } = load
    const etcd = await Etcd.start(stage.place, stage.cores)
    await etcd.putAll(load.entries())
    const full = { ...stage, etcd }
    const fromEtcd: StartResult = { what, from: 'etcd', samples: [] }
    const fromDisk: StartResult = { what, from: 'disk, etcd down', samples: [] }
    for (let round = 1; round <= plan.rounds; round++) {
      const directory = await mkdtemp(join(stage.place.directory, 'start-'))
      fromEtcd.samples.push(await startOnce(full, subject, last, directory))
      await etcd.stop()
      fromDisk.samples.push(await startOnce(full, subject, last, directory))
      await etcd.restart()
      for (const { from, samples } of [fromEtcd, fromDisk])
        progress(`start ${round}/${plan.rounds} ${what} from ${from}: ${samples.at(-1)?.wallSeconds.toFixed(2)} s`)
    }
    etcd.close()
    await etcd.stop()
    results.push(fromEtcd, fromDisk)
  }
  return results
}

async function startOnce(stage: Stage, subject: Subject, last: string, directory: string): Promise<StartSample> {
  const started = performance.now()
  const served = await serve(stage, subject, last, directory)
  const wallSeconds = (performance.now() - started) / 1000
  await sleep(SAVE_MS)
  await untilAtRest(served.server.pid)
  const { pid } = served.server
  const sample = { wallSeconds, cpuSeconds: cpuSeconds(treeCpu(pid)), ...treeMemory(pid) }
  await served.stop()
  return sample
}

function loads({ keys, zones }: StartPlan) {
  const [zone, skydns] = SUBJECTS
  const name = (i: number) => `h${i}.r${i % 100}.${ORIGIN}`
  const path = (i: number) => name(i).split('.').filter(Boolean).toReversed().join('/')
  return [
    {
      what: `${keys.toLocaleString('en')} SkyDNS keys`,
      subject: skydns,
      last: name(keys - 1),
      *entries(): Generator<Entry> {
        for (let i = 0; i < keys; i++) yield [`${skydns.prefix}/${path(i)}`, `{"host":"${address(i)}"}`]
      },
    },
    {
      what: `${zones.toLocaleString('en')} zones of 20 records`,
      subject: zone,
      last: `www.z${zones - 1}.example.`,
      *entries(): Generator<Entry> {
        for (let i = 0; i < zones; i++) yield [`${zone.prefix}z${i}.example`, zoneText(i)]
      },
    },
  ]
}

function zoneText(i: number): string {
  const hosts = Array.from({ length: 16 }, (_, host) => `h${host} A ${address(i * 16 + host)}\n`)
  const apex = '$TTL 3600\n@ SOA ns hostmaster 1 7200 3600 1209600 300\n@ NS ns\nns A 192.0.2.53\n'
  return `${apex}www A ${address(i)}\n${hosts.join('')}`
}

function address(i: number): string {
  return `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
}
