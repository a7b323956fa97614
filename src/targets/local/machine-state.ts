// The states of the services of a machine, from what is desired, what the supervisor has observed, and what really runs.

import type { MachineState, ServiceState } from '../target.ts'
import type { Manifest } from './files/manifest.ts'
import type { DesiredMachine } from './supervisor/desired.ts'
import type { ObservedMachine, ObservedService } from './supervisor/observed.ts'
import { bootId, isRunning } from './supervisor/process-table.ts'

export interface Known {
  readonly desired: DesiredMachine | undefined
  readonly observed: ObservedMachine | undefined
  /** A supervisor runs: it starts again what ended. */
  readonly isSupervised: boolean
}

export function machineState({ desired, observed, isSupervised }: Known): MachineState {
  const states = new Map<string, ServiceState>()
  for (const { service } of desired?.services ?? []) states.set(service.name, NEVER_STARTED)
  const isSameBoot = observed?.bootId === bootId()
  for (const record of observed?.services ?? [])
    states.set(record.startedAs.service.name, serviceState(record, isSameBoot, isSupervised))
  return { services: states, ...(desired !== undefined && { wanted: desired.wanted }) }
}

const NEVER_STARTED: ServiceState = { state: 'stopped', pid: undefined, since: 0, restarts: 0, failure: undefined }

function serviceState(record: ObservedService, isSameBoot: boolean, isSupervised: boolean): ServiceState {
  const { process, since, restarts, failure } = record
  const isAlive = process !== undefined && isSameBoot && isRunning(process)
  const state = isAlive ? 'running' : record.state === 'done' || record.state === 'stopped' ? record.state : 'waiting'
  const isAbandoned = state === 'waiting' && !isSupervised
  return {
    state: isAbandoned ? 'stopped' : state,
    pid: isAlive ? process.pid : undefined,
    since,
    restarts,
    // When it ended is not known: at the earliest since it was seen last.
    failure: isAbandoned && process !== undefined ? { kind: 'unwatched', at: since } : failure,
  }
}

/** Services that run and have not read what was written for them since. */
export function pendingOf(
  { services }: Manifest,
  observed: ObservedMachine | undefined,
): Map<string, 'reload' | 'restart'> {
  const pending = new Map<string, 'reload' | 'restart'>()
  for (const { service, digests } of services) {
    const record = observed?.services.find(({ startedAs }) => startedAs.service.name === service.name)
    // A step is done again by starting the machine.
    if (record === undefined || record.state === 'stopped' || service.once === true) continue
    const read = record.startedAs.digests
    if (read.restart !== digests.restart) pending.set(service.name, 'restart')
    else if (read.reload !== digests.reload) pending.set(service.name, 'reload')
  }
  return pending
}
