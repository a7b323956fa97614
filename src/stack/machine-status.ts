// The status of one machine: what its cluster says of it next to what the target says of its processes and its disk.

import type { MemberStatus } from '../clusters/member-status.ts'
import type { Machine } from '../machine/machine.ts'
import { diskProblem } from '../targets/disk-space.ts'
import { describeFailure } from '../targets/service-failure.ts'
import type { ExistingMachine, MachineState } from '../targets/target.ts'
import type { MachineError, MachineStatus } from './status.ts'

export interface MachineSight {
  readonly existing: ExistingMachine | undefined
  readonly state: MachineState | undefined
  readonly member: MemberStatus | undefined
  readonly expires: Date | undefined
  /** The hypervisor of the machine did not answer: nothing is known of it. */
  readonly isUnread: boolean
  /** `down` stopped the stack. */
  readonly isStackStopped: boolean
}

export function machineStatus({ name, kind, address }: Machine, sight: MachineSight): MachineStatus {
  const { existing, state, member, expires } = sight
  const isStopped = isStoppedOnPurpose(sight)
  const problem = isStopped ? undefined : problemOf(sight)
  const services = [...(state?.services.values() ?? [])]
  return {
    ...{ machine: name, kind, address },
    state: isStopped ? 'stopped' : stateOf(sight),
    role: isStopped ? undefined : member?.role,
    version: member?.version,
    lagBytes: member?.lagBytes,
    certificateExpires: expires?.toISOString(),
    restarts: isStopped ? 0 : services.reduce((sum, { restarts }) => sum + restarts, 0),
    problem,
    lastError: isStopped || existing === undefined ? undefined : lastErrorOf(state),
    disk: state?.disk,
  }
}

/** No process of it runs, and none should. */
export function isStoppedOnPurpose({
  state,
  existing,
  isUnread,
  isStackStopped,
}: Omit<MachineSight, 'member'>): boolean {
  const isMeant =
    existing === undefined ? isStackStopped : (state?.wanted ?? (isStackStopped ? 'stopped' : 'running')) === 'stopped'
  return isMeant && !isUnread && isStill({ state, existing })
}

/** A step that was done stays done. */
function isStill({ state, existing }: Pick<MachineSight, 'state' | 'existing'>): boolean {
  const services = [...(state?.services.values() ?? [])]
  return existing === undefined || services.every((service) => /^(?:stopped|done)$/u.test(service.state))
}

function stateOf(sight: MachineSight): 'ready' | 'degraded' | 'down' {
  const { member, state, isUnread } = sight
  if (member?.isReady !== true || (isStill(sight) && !isUnread)) return 'down'
  return member.isDegraded === true || diskProblem(state?.disk) !== undefined ? 'degraded' : 'ready'
}

function problemOf(sight: MachineSight): string | undefined {
  const { existing, state, member, isUnread } = sight
  if (isUnread) return member?.problem ?? 'its hypervisor does not answer'
  if (existing === undefined) return 'not created yet; "holdfast up" creates it'
  if (isStill(sight)) return 'not running; "holdfast up" starts it'
  return state?.problem ?? diskProblem(state?.disk) ?? member?.problem
}

function lastErrorOf(state: MachineState | undefined): MachineError | undefined {
  const failures = [...(state?.services ?? [])].flatMap(([service, { failure }]) =>
    failure === undefined ? [] : [{ service, failure }],
  )
  const last = failures.toSorted((a, b) => b.failure.at - a.failure.at).at(0)
  if (last === undefined) return undefined
  const { at, kind, exitCode, signal } = last.failure
  return {
    ...{ at: new Date(at).toISOString(), service: last.service, kind },
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
    message: describeFailure(last.failure),
  }
}
