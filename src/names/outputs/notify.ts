// Tells somebody that files have changed, by running a command until it succeeds or its retries are used up.

import { setTimeout as sleep } from 'node:timers/promises'
import { exec } from '../../lib/exec.ts'
import type { Log } from '../../lib/log.ts'

export interface NotifyOptions {
  /** Program and arguments; no shell reads them. */
  readonly command: readonly string[]
  readonly retries: number
  /** Before the first retry; twice as long before each further one, up to a minute. */
  readonly retryMs: number
  readonly timeoutMs: number
}

const LONGEST_PAUSE_MS = 60_000

/** False when it has not succeeded. */
export async function notify(options: NotifyOptions, log: Log, signal: AbortSignal): Promise<boolean> {
  const { command, retries, timeoutMs } = options
  const [program] = command
  const onLine = (line: string) => log.info(`${program}: ${line}`)
  for (let attempt = 0; ; attempt++) {
    const reason = await exec(command, { timeoutMs, signal, onLine })
    if (reason === undefined) return true
    if (signal.aborted) return false
    if (attempt === retries) {
      log.error(`Cannot notify with "${command.join(' ')}": ${reason}; it is tried again after the next change`)
      return false
    }
    log.warning(`Notification "${command.join(' ')}" failed: ${reason}; retry ${attempt + 1} of ${retries} follows`)
    await sleep(pauseMs(options.retryMs, attempt), undefined, { signal }).catch(() => undefined)
  }
}

/** Somewhere in the upper half of the time meant, so that many do not retry at once. */
export function pauseMs(firstMs: number, attempt: number): number {
  return Math.min(firstMs * 2 ** attempt, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2)
}
