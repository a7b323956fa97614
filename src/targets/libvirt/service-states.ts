// The states of the services of a machine, from what systemd says about their units.

import type { Service } from '../../machine/machine.ts'
import { findDetail, type ServiceFailure } from '../service-failure.ts'
import type { MachineState, ServiceState } from '../target.ts'
import type { UnitEnd, UnitState } from './cloud-init/apply-program.ts'
import { unitName } from '../../machine/unit-name.ts'

const NOT_STARTED: ServiceState = { state: 'stopped', pid: undefined, since: 0, restarts: 0, failure: undefined }

export function machineState(services: readonly Service[], units: readonly UnitState[]): MachineState {
  const byName = new Map(units.map((unit) => [unit.name, unit]))
  return {
    services: new Map(services.map(({ name }) => [name, serviceState(byName.get(unitName(name)))])),
  }
}

/** A machine that is switched off. */
export function stoppedState(services: readonly Service[]): MachineState {
  return machineState(services, [])
}

/** It runs and does not answer: what its services do is not known. */
export function silentState(services: readonly Service[], problem: string): MachineState {
  const state: ServiceState = { ...NOT_STARTED, state: 'waiting' }
  return { services: new Map(services.map(({ name }) => [name, state])), problem }
}

/** All that can be started has been tried: what comes after a step waits for that. */
export function areStarted(services: readonly Service[], { services: states }: MachineState): boolean {
  for (const { name, once } of services) {
    const state = states.get(name)
    if (state === undefined || (state.state === 'stopped' && state.failure === undefined)) return false
    if (once === true && state.state !== 'done') return true
  }
  return true
}

function serviceState(unit: UnitState | undefined): ServiceState {
  if (unit === undefined) return NOT_STARTED
  const { pid, since, restarts, end = null } = unit
  return {
    state: stateOf(unit),
    pid: pid === 0 ? undefined : pid,
    since,
    restarts,
    failure: end === null ? undefined : unitFailure(end),
  }
}

export function unitFailure({ at, exitCode, signal, lines }: UnitEnd): ServiceFailure {
  const how: Omit<ServiceFailure, 'at'> =
    exitCode !== null ? { kind: 'exited', exitCode } : signal !== null ? { kind: 'killed', signal } : { kind: 'failed' }
  const detail = findDetail(lines, how)
  return { at, ...how, ...(detail !== undefined && { detail }) }
}

function stateOf({ active, sub }: UnitState): ServiceState['state'] {
  switch (active) {
    case 'active':
      return sub === 'exited' ? 'done' : 'running'
    case 'activating':
      return sub === 'auto-restart' ? 'waiting' : 'running'
    case 'reloading':
    case 'deactivating':
      return 'running'
    default:
      return 'stopped'
  }
}
