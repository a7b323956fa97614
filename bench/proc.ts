// CPU time and memory of a server with everything it forked, from /proc.

import { readdirSync, readFileSync } from 'node:fs'

/** USER_HZ, the unit of times in /proc/PID/stat; 100 on every Linux that Node supports. */
const TICKS_PER_SECOND = 100

export interface CpuTime {
  readonly userSeconds: number
  readonly systemSeconds: number
}

export interface Memory {
  /** Proportional set size of all of them: pages shared by forked processes count once. */
  readonly pssBytes: number
  /** Highest resident size of the largest process. */
  readonly peakBytes: number
}

function readProc(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return '' // the process has just ended
  }
}

/** A process and all that descend from it. */
export function processTree(pid: number): number[] {
  const tree = [pid]
  for (const parent of tree) {
    for (const thread of readThreads(parent)) {
      const children = readProc(`/proc/${parent}/task/${thread}/children`).trim()
      if (children !== '') tree.push(...children.split(' ').map(Number))
    }
  }
  return tree
}

/** The first 15 characters of a program's name. */
export function commandName(pid: number): string {
  return readProc(`/proc/${pid}/comm`).trim()
}

function readThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Of a server and everything it forked. */
export function treeCpu(pid: number): CpuTime {
  return processesCpu(processTree(pid))
}

/** Of all threads, ended ones included, and of children that were waited for. */
export function processesCpu(pids: readonly number[]): CpuTime {
  let user = 0
  let system = 0
  for (const pid of pids) {
    const stat = readProc(`/proc/${pid}/stat`)
    // The command name, in parentheses, may hold blanks: count fields after it. utime stime cutime cstime are 14 to 17.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields.length < 15) continue
    user += Number(fields[11]) + Number(fields[13])
    system += Number(fields[12]) + Number(fields[14])
  }
  return { userSeconds: user / TICKS_PER_SECOND, systemSeconds: system / TICKS_PER_SECOND }
}

export const cpuSeconds = (time: CpuTime): number => time.userSeconds + time.systemSeconds

export function treeMemory(pid: number): Memory {
  return processesMemory(processTree(pid))
}

export function processesMemory(pids: readonly number[]): Memory {
  let pssBytes = 0
  let peakBytes = 0
  for (const pid of pids) {
    pssBytes += kilobytes(readProc(`/proc/${pid}/smaps_rollup`), 'Pss:') * 1024
    peakBytes = Math.max(peakBytes, kilobytes(readProc(`/proc/${pid}/status`), 'VmHWM:') * 1024)
  }
  return { pssBytes, peakBytes }
}

function kilobytes(text: string, key: string): number {
  const line = text.split('\n').find((each) => each.startsWith(key))
  return line === undefined ? 0 : Number.parseInt(line.slice(key.length), 10)
}
