// What the supervisor's controllers need of the host: clocks, processes, logs and the files of what was observed. Tests
// bring their own.

import { performance } from 'node:perf_hooks'
import type { Layout } from '../layout.ts'
import { launch, type Launch } from './launch.ts'
import { lastLines, sizeOf } from './log-tail.ts'
import { processesOf, type Whose } from './machine-processes.ts'
import { type ObservedMachine, saveObserved } from './observed.ts'
import { isRunning, type ProcessEntry, type ProcessId, readProcess, sendSignal } from './process-table.ts'

export interface System {
  /** Milliseconds that only grow; for pauses and deadlines. */
  readonly now: () => number
  /** Unix milliseconds. */
  readonly time: () => number
  /** Its process id; undefined when `onEnd` will say why there is none. */
  readonly launch: (launch: Launch) => number | undefined
  /** Undefined when it has ended. */
  readonly startTimeOf: (pid: number) => number | undefined
  readonly isRunning: (process: ProcessId) => boolean
  readonly sendSignal: (process: ProcessId, signal: NodeJS.Signals) => void
  readonly processesOf: (whose: Whose) => ProcessEntry[]
  readonly logSize: (path: string) => number
  readonly lastLines: (path: string, from: number) => string[]
  readonly save: (layout: Layout, observed: ObservedMachine) => void
}

export const HOST: System = {
  now: () => performance.now(),
  time: () => Date.now(),
  launch,
  startTimeOf: (pid) => readProcess(pid)?.startTime,
  isRunning,
  sendSignal,
  processesOf: (whose) => processesOf(whose),
  logSize: sizeOf,
  lastLines,
  save: saveObserved,
}
