// Whether a server answers with the numbers that objects have by now.

import { setTimeout as sleep } from 'node:timers/promises'
import { exchangeUdp } from '../../test/support/dns-client.ts'
import { question } from '../../test/support/fault-server.ts'
import { valueOf } from '../live/prober.ts'
import type { Population } from './objects.ts'

const POLL_MS = 20
const BATCH = 100

/** Of these objects those whose names have another answer, or none. */
export async function wrongOnes(port: number, objects: Population, which: readonly number[]): Promise<number[]> {
  const queries = which.map((i) => question(objects.name(i)))
  const answers = await exchangeUdp(port, queries, { window: 16, timeoutMs: 300, attempts: 1 })
  return which.filter((i, at) => {
    const answer = answers[at]
    return answer === undefined || valueOf(answer) !== objects.value(i)
  })
}

/** Waits until all of them are right; `check` throws when that is in vain. */
export async function untilRight(
  port: number,
  objects: Population,
  which: readonly number[],
  check: (wrong: number) => void,
): Promise<void> {
  let left = [...which]
  while (left.length > 0) {
    const asked = left.slice(0, BATCH)
    const wrong = await wrongOnes(port, objects, asked)
    left = [...wrong, ...left.slice(BATCH)]
    if (wrong.length === 0) continue
    check(left.length)
    await sleep(POLL_MS)
  }
}

/** Evenly spread, first and last included. */
export function sample(objects: Population, size: number): number[] {
  const step = Math.max(1, (objects.count - 1) / (size - 1))
  return Array.from({ length: Math.min(size, objects.count) }, (_, n) => Math.round(n * step))
}
