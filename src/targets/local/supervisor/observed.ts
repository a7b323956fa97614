// What runs on a machine, written down by the supervisor whenever it changes: for commands to see, and for the next
// supervisor to go on from.

import type { ServiceFailure } from '../../service-failure.ts'
import type { ServiceState } from '../../target.ts'
import type { Layout } from '../layout.ts'
import { isRecord, loadState, saveState, stateFile } from '../state-file.ts'
import { type DesiredService, isDesiredService } from './desired.ts'
import type { ProcessId } from './process-table.ts'

export interface ObservedMachine {
  readonly machine: string
  /** Of the desired state it has come to, or is on its way to. */
  readonly revision: number
  /** Process ids are from this run of the host. */
  readonly bootId: string
  /** Wanted so, and no process is left. */
  readonly isStopped: boolean
  readonly services: readonly ObservedService[]
}

export interface ObservedService {
  /** `starting` is written down before anything is started: what it was started as is known, whatever comes then. */
  readonly state: ServiceState['state'] | 'starting'
  readonly process: ProcessId | undefined
  readonly since: number
  readonly restarts: number
  /** How it failed last, since it was asked for. */
  readonly failure: ServiceFailure | undefined
  /** What was asked for when it was started, or was told to read its files again. */
  readonly startedAs: DesiredService
}

export function loadObserved({ observed }: Layout, machine: string): ObservedMachine | undefined {
  return loadState(stateFile(observed, machine), isObservedMachine)
}

export function saveObserved({ observed }: Layout, machine: ObservedMachine): void {
  saveState(stateFile(observed, machine.machine), machine, { isDurable: false })
}

function isObservedMachine(value: unknown): value is ObservedMachine {
  return (
    isRecord(value) &&
    typeof value.machine === 'string' &&
    typeof value.revision === 'number' &&
    typeof value.bootId === 'string' &&
    typeof value.isStopped === 'boolean' &&
    Array.isArray(value.services) &&
    value.services.every(
      (each) =>
        isRecord(each) && typeof each.state === 'string' && isDesiredService(each.startedAs) && isProcess(each.process),
    )
  )
}

function isProcess(value: unknown): boolean {
  return (
    value === undefined || (isRecord(value) && typeof value.pid === 'number' && typeof value.startTime === 'number')
  )
}
