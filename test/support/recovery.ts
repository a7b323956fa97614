// Waiting until a stack that something was done to is as it should be again.

import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../src/lib/errors.ts'
import type { MemberLab } from './member-lab.ts'
import type { PrimaryWriter } from './primary-writer.ts'
import { until } from './until.ts'

const TIMEOUT_MS = 180_000
const LOOK_MS = 300

/** Ready, every service running, and a write has been acknowledged since. */
export async function untilRecovered(lab: MemberLab, writer: PrimaryWriter): Promise<void> {
  let problems: string[] = []
  const isReady = async () => {
    problems = await lab.problems()
    if (problems.length > 0) await sleep(LOOK_MS)
    return problems.length === 0
  }
  try {
    await until('the stack is ready again', isReady, TIMEOUT_MS)
    const readyAt = performance.now()
    await until('a write is acknowledged', () => writer.lastAt > readyAt, TIMEOUT_MS)
  } catch (cause) {
    throw new Error(`${messageOf(cause)}; ${problems.join('; ')}`, { cause })
  }
}
