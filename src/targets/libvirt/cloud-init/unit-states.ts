// How the services of a machine stand, from what apply.py says of their units.

import type { ServiceState } from '../../target.ts'
import type { UnitState } from './apply-program.ts'

const UNIT = /^holdfast-(.+)\.service$/u

/** `text`: what `apply.py state` has printed. By the name of the service. */
export function readServiceStates(text: string): ReadonlyMap<string, ServiceState> {
  const units = JSON.parse(text) as readonly UnitState[]
  return new Map(
    units.map((unit) => [
      UNIT.exec(unit.name)?.[1] ?? unit.name,
      {
        state: stateOf(unit),
        pid: unit.pid === 0 ? undefined : unit.pid,
        since: unit.since,
        restarts: unit.restarts,
        lastError: unit.error ?? undefined,
      },
    ]),
  )
}

function stateOf({ active, sub }: UnitState): ServiceState['state'] {
  if (sub === 'exited' && active === 'active') return 'done'
  if (sub === 'auto-restart') return 'waiting'
  return active === 'active' || active === 'activating' || active === 'reloading' ? 'running' : 'stopped'
}
