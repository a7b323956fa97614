// Processes of this host as /proc has them. A process is known by its id and the moment it was started: ids are given
// again, both together are not, as long as the host runs.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface ProcessId {
  readonly pid: number
  /** In clock ticks since the host was started. */
  readonly startTime: number
}

export interface ProcessEntry extends ProcessId {
  readonly parent: number
  readonly session: number
  readonly hasTerminal: boolean
}

/** Undefined when it has ended, even if nobody has collected it yet. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const text = read(pid, 'stat')
  if (text === undefined) return undefined
  // The name stands in parentheses and may have any character in it. proc(5): the state is field 3.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent, , session, terminal] = fields
  if (state === 'Z' || state === 'X') return undefined
  return {
    pid,
    parent: Number(parent),
    session: Number(session),
    hasTerminal: terminal !== '0',
    startTime: Number(fields[19]),
  }
}

export function isRunning({ pid, startTime }: ProcessId): boolean {
  return readProcess(pid)?.startTime === startTime
}

export function allProcesses(): ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? [])
}

/** The words it was started with, or has written over them; none for a thread of the kernel. */
export function commandOf(pid: number | 'self'): string[] {
  return (read(pid, 'cmdline') ?? '').split('\0').slice(0, -1)
}

/** As it was when the program was started; undefined where we may not look. */
export function environmentOf(pid: number): Map<string, string> | undefined {
  const text = read(pid, 'environ')
  if (text === undefined) return undefined
  return new Map(
    text.split('\0').map((entry) => {
      const [name] = entry.split('=', 1)
      return [name, entry.slice(name.length + 1)]
    }),
  )
}

/** Undefined where we may not look. */
export function workingDirectoryOf(pid: number): string | undefined {
  return readLink(pid, 'cwd')
}

/** The file of the program; undefined where we may not look. */
export function programOf(pid: number): string | undefined {
  return readLink(pid, 'exe')
}

/** The user it runs as: who has started it, whatever rights the program has beyond that. */
export function userOf(pid: number): number | undefined {
  const match = /^Uid:\s+(\d+)/mu.exec(read(pid, 'status') ?? '')
  return match === null ? undefined : Number(match[1])
}

/** Changes with every start of the host; process ids from before then mean nothing. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

/** False when it is not there any more. */
export function sendSignal(process_: ProcessId, signal: NodeJS.Signals): boolean {
  if (!isRunning(process_)) return false
  try {
    return process.kill(process_.pid, signal)
  } catch {
    return false
  }
}

function read(pid: number | 'self', file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

function readLink(pid: number, file: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/${file}`)
  } catch {
    return undefined
  }
}
