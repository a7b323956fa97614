// Changes at a fixed rate, one object after the other: what they cost until the last of them is answered.

import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds, type Memory, treeCpu, treeMemory } from '../proc.ts'
import { untilRight } from './asking.ts'
import type { Population } from './objects.ts'
import type { Options } from './options.ts'
import type { Stand, Worker } from './subjects.ts'
import { UnfinishedError } from './unfinished.ts'

export interface LoadSample extends Memory {
  readonly changes: number
  /** As many as were asked for, unless the API server is slower. */
  readonly perSecond: number
  readonly workerCpuSeconds: number
  /** Of the name server, where it is another process, while the changes come. */
  readonly serverCpuSeconds: number | undefined
  /** From the last change to the answer with it. */
  readonly behindSeconds: number
}

export async function underLoad(
  { port, serverPid }: Stand,
  worker: Worker,
  objects: Population,
  { rate, seconds, startMinutes }: Pick<Options, 'rate' | 'seconds' | 'startMinutes'>,
): Promise<LoadSample> {
  const spent = (pid: number | undefined) => (pid === undefined ? 0 : cpuSeconds(treeCpu(pid)))
  const before = [spent(worker.pid), spent(serverPid)]
  const started = performance.now()
  const changes = rate * seconds
  const running: Promise<number>[] = []
  for (let n = 0; n < changes; n++) {
    await sleep(Math.max(0, started + (1000 * n) / rate - performance.now()))
    running.push(objects.change(n % objects.count))
  }
  await Promise.all(running)
  const changedAt = performance.now()
  // Before the questions below, which are ours: the longer somebody is behind, the more there are.
  const serverSpent = spent(serverPid) - before[1]
  // The last ones first: whoever has seen those has mostly seen the others.
  const changed = Array.from({ length: Math.min(changes, objects.count) }, (_, n) => (changes - 1 - n) % objects.count)
  await untilRight(port, objects, changed, (left) => {
    if (worker.ended) throw new Error(`Cannot see ${left} changes: it ended; it said:\n${worker.lastWords()}`)
    const waited = (performance.now() - changedAt) / 1000
    if (waited > startMinutes * 60)
      throw new UnfinishedError({ phase: 'changes', seconds: waited, asked: changed.length, wrong: left })
  })
  const workerSpent = spent(worker.pid) - before[0]
  // Nobody sees changes for nothing: whoever is looked at here is not who saw them.
  if (workerSpent === 0) throw new Error(`Cannot tell what ${changes} changes cost: process ${worker.pid} took no time`)
  const behindSeconds = (performance.now() - changedAt) / 1000
  return {
    changes,
    perSecond: (1000 * changes) / (changedAt - started),
    workerCpuSeconds: workerSpent,
    serverCpuSeconds: serverPid === undefined ? undefined : serverSpent,
    behindSeconds,
    ...treeMemory(worker.pid),
  }
}
