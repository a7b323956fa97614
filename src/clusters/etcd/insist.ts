// Changing a cluster's members, again and again: etcd refuses a change while it is still settling after the last one,
// and a call whose outcome is unknown is decided by looking again, with which every attempt begins.

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../../lib/errors.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2000

/** What etcd says of a state that passes, beside what may be tried again anyway. */
const PASSING =
  /not enough started members|can only promote a learner|Peer URLs already exists|member not found|not leader/u

export interface InsistOptions {
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** The attempt has to look first what is left to do. Rejects with its last error. */
export async function insist(attempt: () => Promise<void>, { signal, timeoutMs }: InsistOptions): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error) || performance.now() > deadline) throw error
    }
    await sleep(pauseMs * (1 - Math.random() / 2), undefined, { signal })
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof HoldfastError && (error.retryable || PASSING.test(error.message))
}
