// The one place that starts programs that outlive whoever starts them. Each gets a session of its own (no terminal
// takes it down), nothing to read, and a file for its output rather than a pipe, so that it does not notice when its
// starter ends.

import { spawn } from 'node:child_process'
import { getSystemErrorMessage } from 'node:util'

export interface DaemonOptions {
  readonly cwd: string
  /** All the environment it gets. */
  readonly env: Readonly<Record<string, string>>
  /** Descriptor that output and errors go to; the caller may close it as soon as this returns. */
  readonly output: number
  /** Called when it has ended, if the caller is still there. */
  readonly onEnd?: (end: DaemonEnd) => void
}

/** One of them is given: the exit code, the signal that killed it, or why it could not be started. */
export interface DaemonEnd {
  readonly exitCode?: number
  readonly signal?: string
  readonly problem?: string
}

/** Its process id; undefined when it could not be started, which `onEnd` reports. Does not keep the caller alive. */
export function startDaemon(command: readonly string[], options: DaemonOptions): number | undefined {
  const { cwd, env, output, onEnd } = options
  const [program, ...args] = command
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', output, output], detached: true })
  child.unref()
  child.once('error', (error: NodeJS.ErrnoException) => {
    const reason = error.errno === undefined ? error.message : getSystemErrorMessage(error.errno)
    onEnd?.({ problem: `${program}: ${reason}` })
  })
  child.once('exit', (code, signal) => {
    onEnd?.(code === null ? { signal: signal ?? 'SIGKILL' } : { exitCode: code })
  })
  return child.pid
}
