// In which order the members of a PostgreSQL cluster restart for their parameters.
//
//   standbys first, then the primary, which hands over to one of them before: writes pause for a switchover only
//   a smaller limit that standbys must not undercut: the primary first, in place, then the standbys
//   both at once: standbys for the larger limits, the primary in place, standbys again for the smaller ones

import { STANDBY_PARAMETERS } from './known-parameters.ts'
import type { ParameterChange } from './parameter-changes.ts'

export interface MemberChanges {
  readonly machine: string
  readonly changes: readonly ParameterChange[]
  /** Patroni reports a restart as pending for something else. */
  readonly isPending?: boolean
}

export interface PlannedRestart {
  readonly machine: string
  /** Empty: Patroni reports a restart as pending, and the reason is not known. */
  readonly parameters: readonly string[]
  /** Undefined while no member leads. */
  readonly isPrimary: boolean | undefined
  /** `switchover`: it hands over to a standby first, and restarts as one. */
  readonly how: 'restart' | 'switchover'
}

export interface RestartSight {
  readonly primary: string | undefined
  /** Another member can lead. */
  readonly canSwitchOver: boolean
}

export function orderRestarts(
  members: readonly MemberChanges[],
  { primary, canSwitchOver }: RestartSight,
): PlannedRestart[] {
  const waiting = members.filter(({ changes, isPending }) => changes.length > 0 || isPending === true)
  const leading = waiting.find(({ machine }) => machine === primary)
  const standbys = waiting.filter((each) => each !== leading)
  const isPrimary = primary === undefined ? undefined : false
  const restart = ({ machine, changes }: MemberChanges, only = changes): PlannedRestart => {
    return { machine, parameters: only.map(({ name }) => name), isPrimary, how: 'restart' }
  }
  if (leading === undefined) return standbys.map((each) => restart(each))
  if (!leading.changes.some(isLowered)) {
    const how = canSwitchOver ? 'switchover' : 'restart'
    return [...standbys.map((each) => restart(each)), { ...restart(leading), isPrimary: true, how }]
  }
  const first = standbys.filter(({ changes }) => changes.some(isRaised))
  const later = standbys.filter((each) => !first.includes(each) || each.changes.some(isLowered))
  return [
    ...first.map((each) =>
      restart(
        each,
        each.changes.filter((change) => !isLowered(change)),
      ),
    ),
    { ...restart(leading), isPrimary: true },
    ...later.map((each) => restart(each, first.includes(each) ? each.changes.filter(isLowered) : each.changes)),
  ]
}

export function isLowered({ name, from, to }: ParameterChange): boolean {
  return STANDBY_PARAMETERS.has(name) && Number(to) < Number(from)
}

function isRaised({ name, from, to }: ParameterChange): boolean {
  return STANDBY_PARAMETERS.has(name) && Number(to) > Number(from)
}
