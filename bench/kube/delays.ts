// From the API server's acknowledgement of a change to the first right answer.

import { setTimeout as sleep } from 'node:timers/promises'
import { Prober } from '../live/prober.ts'
import { wrongOnes } from './asking.ts'
import type { Population } from './objects.ts'

/** About a thousand questions per second. */
const PROBE_GAP_MICROS = 800
/** Changes do not come at the pace of the questions. */
const LONGEST_PAUSE_MS = 20
const SETTLE_MS = 300
const SLOW_POLL_MS = 50
/** Of what a change may take. */
const PATIENCE = 6

/** One object, changed again when the last change was seen. Milliseconds; negative when the answer was there before. */
export async function timedChanges(port: number, objects: Population, changes: number): Promise<number[]> {
  const prober = new Prober(port, objects.name(0), PROBE_GAP_MICROS)
  const delays: number[] = []
  await sleep(SETTLE_MS)
  for (let n = 0; n < changes; n++) {
    await sleep(Math.random() * LONGEST_PAUSE_MS)
    const value = await objects.change(0)
    const acknowledgedAt = process.hrtime.bigint()
    delays.push(Number((await prober.seen(value)) - acknowledgedAt) / 1e6)
  }
  await prober.stop()
  return delays
}

/** As many objects, each changed once at a random moment of the period after which everything should be seen. */
export async function slowDelays(
  port: number,
  objects: Population,
  changes: number,
  seconds: number,
): Promise<number[]> {
  const acknowledgedAt = new Map<number, number>()
  const delays: number[] = []
  const changing = Array.from({ length: changes }, async (_, i) => {
    await sleep(Math.random() * seconds * 1000)
    await objects.change(i)
    acknowledgedAt.set(i, performance.now())
  })
  const deadline = performance.now() + PATIENCE * seconds * 1000 + 60_000
  while (delays.length < changes) {
    await sleep(SLOW_POLL_MS)
    if (performance.now() > deadline) throw new Error(`Cannot see ${changes - delays.length} of ${changes} changes`)
    const asked = [...acknowledgedAt.keys()]
    const wrong = new Set(await wrongOnes(port, objects, asked))
    const now = performance.now()
    for (const i of asked.filter((each) => !wrong.has(each))) {
      delays.push(now - (acknowledgedAt.get(i) ?? now))
      acknowledgedAt.delete(i)
    }
  }
  await Promise.all(changing)
  return delays
}
