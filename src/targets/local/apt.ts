// apt-get as we run it: never asking, in English (its messages are read), and patient while somebody else has its locks.

import { setTimeout as sleep } from 'node:timers/promises'
import { exec } from '../../lib/exec.ts'

export interface AptOptions {
  /** Beside what apt itself needs; proxies, for instance. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** A few words for each step: `downloading etcd-server`. */
  readonly onProgress: (step: string) => void
}

/** Programs of the system, even when the caller's PATH has no sbin. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

const TIMEOUT_MS = 30 * 60_000
/** How long another apt or dpkg is waited for. */
const LOCK_WAIT_MS = 5 * 60_000
const LOCK_RETRY_MS = 2000
const NEVER = new AbortController().signal

const WAITING = 'waiting for another program that installs packages'
const LOCKED = /^Could not get lock|^Unable to (?:acquire|lock)/u
const FAULT = /^(?<kind>[EW]): (?<text>.*)$/u
const STEP = /^(?:Get:\d+ \S+ \S+ \S+ (?<download>[a-z0-9]\S*) \S+ \S+ \[|Setting up (?<setup>[^ :]+))/u

export interface AptResult {
  readonly isDone: boolean
  /** In apt's own words, errors before warnings. Success may come with warnings. */
  readonly faults: readonly string[]
}

/** Some of apt's locks it waits for itself; for the others it is run again. */
export async function aptGet(args: readonly string[], options: AptOptions): Promise<AptResult> {
  const deadline = Date.now() + LOCK_WAIT_MS
  const { signal } = options
  const onProgress = withoutRepetition(options.onProgress)
  for (;;) {
    const result = await runOnce(args, { ...options, onProgress })
    if (!result.faults.some((fault) => LOCKED.test(fault)) || Date.now() > deadline) return result
    onProgress(WAITING)
    await sleep(LOCK_RETRY_MS * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined)
  }
}

/** Puts downloaded packages in place. Not to be interrupted: dpkg stopped halfway leaves packages that somebody has to mend. */
export function aptInstall(packages: readonly string[], options: AptOptions): Promise<AptResult> {
  return aptGet(['install', '--no-install-recommends', ...packages], { ...options, signal: NEVER })
}

async function runOnce(args: readonly string[], { env, signal, onProgress }: AptOptions): Promise<AptResult> {
  const errors: string[] = []
  const warnings: string[] = []
  const settings = [
    `DPkg::Lock::Timeout=${LOCK_WAIT_MS / 1000}`,
    'Dpkg::Use-Pty=0',
    // A file of the administrator's that is in the way stays.
    'Dpkg::Options::=--force-confdef',
    'Dpkg::Options::=--force-confold',
  ]
  const { reason } = await exec(['apt-get', '--yes', '--quiet', ...settings.flatMap((each) => ['-o', each]), ...args], {
    timeoutMs: TIMEOUT_MS,
    signal,
    env: {
      ...env,
      PATH: SYSTEM_PATH,
      LC_ALL: 'C',
      DEBIAN_FRONTEND: 'noninteractive',
      APT_LISTCHANGES_FRONTEND: 'none',
      NEEDRESTART_SUSPEND: '1',
    },
    onLine: (line) => {
      const { kind, text } = FAULT.exec(line)?.groups ?? {}
      if (text !== undefined) (kind === 'E' ? errors : warnings).push(text)
      const { download, setup } = STEP.exec(line)?.groups ?? {}
      if (download !== undefined) onProgress(`downloading ${download}`)
      if (setup !== undefined) onProgress(`setting up ${setup}`)
      if (line.startsWith('Waiting for cache lock')) onProgress(WAITING)
    },
  })
  if (reason === undefined) return { isDone: true, faults: [...errors, ...warnings] }
  return { isDone: false, faults: [...errors, `apt-get: ${reason}`, ...warnings] }
}

function withoutRepetition(tell: (step: string) => void): (step: string) => void {
  let last: string | undefined
  return (step) => {
    if (step !== last) tell(step)
    last = step
  }
}
