// One subject through everything that is measured: started for the first time, started again after changes that it has not
// seen, left alone, timed change by change, and kept busy. Only one subject is up at a time.

import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds, type Memory, treeCpu, treeMemory } from '../proc.ts'
import { sample, untilRight } from './asking.ts'
import { slowDelays, timedChanges } from './delays.ts'
import { type LoadSample, underLoad } from './load.ts'
import type { Population } from './objects.ts'
import type { Options } from './options.ts'
import type { Stand, Subject, Worker, World } from './subjects.ts'
import { type Unfinished, UnfinishedError } from './unfinished.ts'

export interface StartSample extends Memory {
  readonly wallSeconds: number
  readonly cpuSeconds: number
  /** Of the name server too, where it is another process. */
  readonly allPssBytes: number
}

export interface Result {
  readonly subject: Pick<Subject, 'id' | 'title' | 'kind' | 'settings' | 'slowSeconds'>
  readonly firstStarts: StartSample[]
  readonly laterStarts: StartSample[]
  readonly idleSecondsPerMinute: number[]
  readonly delaysMs: number[]
  readonly loads: LoadSample[]
  /** Of those who were given up: how long they were waited for, and how many of the names asked for were not right. */
  readonly unfinished: Unfinished[]
}

/** Asked for again and again until they are right; then all are, once. */
const PROBED = 200
const SETTLE_MS = 10_000
const CHECK_LIMIT_MS = 120_000
/** While nobody looks. */
const MISSED_CHANGES = 100

export async function measure(
  world: World,
  subject: Subject,
  objects: Population,
  options: Options,
  result: Result,
  progress: (line: string) => void,
): Promise<void> {
  const { phases, rounds } = options
  const tell = (line: string) => progress(`${subject.id}: ${line}`)
  const stand = await subject.open(world, await mkdtemp(join(world.place.directory, `${subject.id}-`)))
  let worker: Worker | undefined
  try {
    const first = await start(stand, objects, sample(objects, PROBED), options)
    worker = first.worker
    tell(`start in ${first.sample.wallSeconds.toFixed(2)} s, ${(first.sample.pssBytes / 2 ** 20).toFixed(0)} MB`)
    await checkAll(stand, objects)
    if (phases.includes('starts')) {
      result.firstStarts.push(first.sample)
      await worker.stop()
      const again = await start(stand, objects, await changeSome(objects), options)
      worker = again.worker
      tell(`start again in ${again.sample.wallSeconds.toFixed(2)} s`)
      result.laterStarts.push(again.sample)
    }
    if (phases.includes('idle')) {
      const spent = await idle(worker.pid, options.idleSeconds)
      tell(`idle, ${spent.toFixed(2)} CPU s per minute`)
      result.idleSecondsPerMinute.push(spent)
    }
    if (phases.includes('latency')) {
      const { slowSeconds } = subject
      const changes = Math.ceil((slowSeconds === undefined ? options.changes : options.slowChanges) / rounds)
      const delays =
        slowSeconds === undefined
          ? await timedChanges(stand.port, objects, changes)
          : await slowDelays(stand.shippedPort ?? stand.port, objects, changes, slowSeconds)
      tell(`${delays.length} changes, median ${delays.toSorted((a, b) => a - b)[delays.length >> 1].toFixed(1)} ms`)
      result.delaysMs.push(...delays)
    }
    if (phases.includes('load')) {
      const load = await underLoad(stand, worker, objects, options)
      tell(`${load.changes} changes, ${((1000 * load.workerCpuSeconds) / load.changes).toFixed(2)} CPU ms each`)
      result.loads.push(load)
    }
  } catch (error) {
    if (!(error instanceof UnfinishedError)) throw error
    tell(`given up: ${error.message}`)
    result.unfinished.push(error.result)
  } finally {
    await worker?.stop()
    await stand.close()
  }
}

async function start(
  stand: Stand,
  objects: Population,
  probed: readonly number[],
  { startMinutes }: Options,
): Promise<{ worker: Worker; sample: StartSample }> {
  const started = performance.now()
  const worker = await stand.begin()
  try {
    await untilRight(stand.port, objects, probed, (wrong) => {
      if (worker.ended) throw new Error(`Cannot start: it ended; it said:\n${worker.lastWords()}`)
      const seconds = (performance.now() - started) / 1000
      if (seconds > startMinutes * 60)
        throw new UnfinishedError({ phase: 'start', seconds, asked: probed.length, wrong })
    })
  } catch (error) {
    await worker.stop()
    throw error
  }
  const wallSeconds = (performance.now() - started) / 1000
  const spent = cpuSeconds(treeCpu(worker.pid))
  await sleep(SETTLE_MS)
  const memory = treeMemory(worker.pid)
  const serverPss = stand.serverPid === undefined ? 0 : treeMemory(stand.serverPid).pssBytes
  const sample = { wallSeconds, cpuSeconds: spent, ...memory, allPssBytes: memory.pssBytes + serverPss }
  return { worker, sample }
}

async function changeSome(objects: Population): Promise<number[]> {
  const which = sample(objects, MISSED_CHANGES)
  for (const i of which) await objects.change(i)
  return which
}

async function idle(pid: number, seconds: number): Promise<number> {
  const before = cpuSeconds(treeCpu(pid))
  await sleep(seconds * 1000)
  return ((cpuSeconds(treeCpu(pid)) - before) * 60) / seconds
}

async function checkAll({ port }: Stand, objects: Population): Promise<void> {
  const started = performance.now()
  await untilRight(port, objects, sample(objects, objects.count), (left) => {
    if (performance.now() - started > CHECK_LIMIT_MS) throw new Error(`Cannot go on: ${left} names are not right`)
  })
}
