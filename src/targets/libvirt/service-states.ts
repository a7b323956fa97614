// How the services of a machine stand, from what systemd says about their units.

import type { Service } from '../../machine/machine.ts'
import type { MachineState, ServiceState } from '../target.ts'
import type { UnitState } from './cloud-init/apply-program.ts'
import { unitName } from '../../machine/unit-name.ts'

const NOT_STARTED: ServiceState = { state: 'stopped', pid: undefined, since: 0, restarts: 0, lastError: undefined }

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

/** It runs, and nobody in it answers: what its services do is not known. */
export function silentState(services: readonly Service[], reason: string): MachineState {
  const state: ServiceState = { ...NOT_STARTED, state: 'waiting', lastError: reason }
  return { services: new Map(services.map(({ name }) => [name, state])) }
}

/** All that can be started has been tried: what comes after a step waits for that. */
export function areStarted(services: readonly Service[], { services: states }: MachineState): boolean {
  for (const { name, once } of services) {
    const state = states.get(name)
    if (state === undefined || (state.state === 'stopped' && state.lastError === undefined)) return false
    if (once === true && state.state !== 'done') return true
  }
  return true
}

function serviceState(unit: UnitState | undefined): ServiceState {
  if (unit === undefined) return NOT_STARTED
  const { pid, since, restarts, error } = unit
  return {
    state: stateOf(unit),
    pid: pid === 0 ? undefined : pid,
    since,
    restarts,
    lastError: error ?? undefined,
  }
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
