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
  /** The environment of the program. */
  readonly env: Readonly<Record<string, string | undefined>>
}

const LONGEST_PAUSE_MS = 60_000
/** Of the output of one run; whoever prints more would fill the log. */
const MOST_LINES = 100

/** Why it has not succeeded; undefined when it has. */
export async function notify(options: NotifyOptions, log: Log, signal: AbortSignal): Promise<string | undefined> {
  const { command, retries } = options
  for (let attempt = 0; ; attempt++) {
    const reason = await run(options, log, signal)
    if (reason === undefined || signal.aborted || attempt === retries) return reason
    log.warning(`Notification "${command.join(' ')}" failed: ${reason}; retry ${attempt + 1} of ${retries} follows`)
    await sleep(pauseMs(options.retryMs, attempt), undefined, { signal }).catch(() => undefined)
  }
}

async function run(
  { command, timeoutMs, env }: NotifyOptions,
  log: Log,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [program] = command
  let lines = 0
  const onLine = (line: string) => {
    if (++lines <= MOST_LINES) log.info(`${program}: ${line}`)
  }
  const { reason } = await exec(command, { timeoutMs, signal, env, onLine })
  if (lines > MOST_LINES) log.info(`${program}: ${lines - MOST_LINES} more lines`)
  return reason
}

/** Somewhere in the upper half of the time meant, so that many do not retry at once. */
export function pauseMs(firstMs: number, attempt: number): number {
  return Math.min(firstMs * 2 ** attempt, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2)
}
