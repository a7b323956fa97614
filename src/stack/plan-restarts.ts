// Restarts of PostgreSQL that a change of its parameters takes, before anything is changed: which members, for which
// parameters, in which order. Pure: what the servers say is read before (clusters/postgres/facts.ts).

import type { PostgresFacts } from '../clusters/postgres/facts.ts'
import { SETTINGS_SERVICE } from '../clusters/postgres/machines.ts'
import {
  isLowered,
  type MemberChanges,
  orderRestarts,
  type PlannedRestart,
} from '../clusters/postgres/parameters/order-restarts.ts'
import {
  changesOf,
  expectedChanges,
  type ParameterChange,
  type Wanted,
} from '../clusters/postgres/parameters/parameter-changes.ts'
import { PATHS } from '../clusters/postgres/paths.ts'
import { sharedParameters } from '../clusters/postgres/settings.ts'
import type { PostgresSpec } from '../clusters/postgres/spec.ts'
import type { ExistingMachine, MachineState } from '../targets/target.ts'
import { type Detail, type MachinePlan, restartsCluster } from './plan.ts'

export interface RestartInput {
  readonly spec: PostgresSpec
  readonly facts: PostgresFacts
  /** Of all machines of the stack. */
  readonly plans: readonly MachinePlan[]
  readonly existing: ReadonlyMap<string, ExistingMachine>
  readonly states: ReadonlyMap<string, MachineState>
  /** The last `up` did not come to its end: what it left pending is done now. */
  readonly isResumed: boolean
}

export interface RestartPlan {
  readonly restarts: readonly PlannedRestart[]
  /** By machine: a line for each parameter that it restarts for. */
  readonly details: ReadonlyMap<string, readonly Detail[]>
  /** Machines that wait for a restart that the stack file does not ask for. */
  readonly foreign: readonly string[]
}

export function planRestarts(input: RestartInput): RestartPlan {
  const { facts, plans, isResumed } = input
  const wanted = wantedParameters(input)
  const members = plans
    .filter(({ kind }) => kind === 'postgres')
    // One that leaves restarts only while it leads: the others cannot go before it.
    .filter(({ machine, action }) => action !== 'delete' || machine === facts.primary)
    .map((plan) => memberChanges(plan, wanted, input))
  const unexplained = members
    .filter(({ machine, changes, isFresh }) => facts.pending.has(machine) && changes.length === 0 && !isFresh)
    .map(({ machine }) => machine)
  const waiting = members.map(({ machine, changes, isFresh }) => ({
    machine,
    // A start is all that a parameter needs; a smaller limit still waits for the primary.
    changes: isFresh ? changes.filter(isLowered) : changes,
    isPending: isResumed && unexplained.includes(machine),
  }))
  return {
    restarts: orderRestarts(waiting, facts),
    details: new Map(
      members.map(({ machine, changes, isStarted }, index) => {
        const { changes: later, isPending } = waiting[index]
        const shown = (isStarted ? later : changes).map(parameterDetail)
        return [machine, isPending ? [...shown, PENDING] : shown] as const
      }),
    ),
    foreign: isResumed ? [] : unexplained,
  }
}

const PENDING: Detail = {
  ...{ what: 'parameter', name: 'of the last run', change: 'change', reason: 'parameter' },
  ...{ why: 'PostgreSQL waits for a restart', effect: 'restart', diff: [] },
}

interface Member extends MemberChanges {
  /** It is started, or its Patroni is restarted, after the parameters are set. */
  readonly isFresh: boolean
  readonly isStarted: boolean
}

function memberChanges({ machine, action, details }: MachinePlan, wanted: Wanted, input: RestartInput): Member {
  const { facts, existing, states } = input
  const isStarted = action === 'create' || action === 'replace' || !isRunning(states.get(machine))
  const settings = facts.servers.get(machine)
  if (isStarted) return { machine, isStarted, ...startChanges(wanted, input) }
  const before = facts.shared ?? writtenParameters(existing)
  const changes = settings === undefined ? expectedChanges(before, wanted) : changesOf(settings, wanted)
  // The restart of its Patroni is one of PostgreSQL, too.
  return { machine, isStarted, changes, isFresh: details.some(restartsCluster) }
}

/** Of one that is started: with what the cluster shares then. */
function startChanges(wanted: Wanted, { facts, existing, states }: RestartInput): Pick<Member, 'changes' | 'isFresh'> {
  const setter = [...existing.values()].find(({ services }) => services.some(({ name }) => name === SETTINGS_SERVICE))
  const leading = facts.servers.get(facts.primary ?? '') ?? [...facts.servers.values()][0]
  const before = facts.shared ?? writtenParameters(existing)
  const changes = leading === undefined ? expectedChanges(before, wanted) : changesOf(leading, wanted)
  // The step runs on a machine that runs before others are started.
  return { changes, isFresh: isRunning(states.get(setter?.name ?? '')) }
}

function isRunning(state: MachineState | undefined): boolean {
  return [...(state?.services.values() ?? [])].some(({ state: each }) => each === 'running' || each === 'waiting')
}

/**
 * What parameters will be. Where the step does not run, only those count that are shared already as the stack file has them: the rest was
 * changed by others.
 */
function wantedParameters(input: RestartInput): Wanted {
  const { spec, facts, existing } = input
  const file = lowerCase(sharedParameters(spec))
  const shared = lowerCase(facts.shared ?? writtenParameters(existing))
  const pending = [...facts.servers.values()].flatMap((settings) =>
    [...settings.values()].filter(({ isPending }) => isPending).map(({ name }) => name),
  )
  const names = new Set([...file.keys(), ...shared.keys(), ...pending])
  const isSet = (name: string) => setsParameters(input) || file.get(name) === shared.get(name)
  return new Map([...names].filter(isSet).map((name) => [name, file.get(name)]))
}

/** Whether the step that sets what members share runs: it is new, its files change, or it has not come to its end. */
function setsParameters({ plans, states }: RestartInput): boolean {
  const files: readonly string[] = [PATHS.settings, PATHS.settingsStep, PATHS.roles]
  const isTouched = plans.some(({ kind, details }) => {
    const names = details.map(({ name }) => name)
    return kind === 'postgres' && names.some((name) => name === SETTINGS_SERVICE || files.includes(name))
  })
  const step = [...states.values()].map(({ services }) => services.get(SETTINGS_SERVICE)).find((each) => each)
  return isTouched || step?.state !== 'done'
}

/** As the step was given them the last time. */
function writtenParameters(existing: ReadonlyMap<string, ExistingMachine>): Readonly<Record<string, string>> {
  for (const { files } of existing.values()) {
    const text = files.get(PATHS.settings)?.text
    if (text === undefined) continue
    try {
      const { postgresql } = JSON.parse(text) as { postgresql?: { parameters?: Record<string, string> } }
      return postgresql?.parameters ?? {}
    } catch {
      // It is written again by this change.
    }
  }
  return {}
}

function lowerCase(parameters: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(Object.entries(parameters).map(([name, value]) => [name.toLowerCase(), value]))
}

function parameterDetail({ name, from, to }: ParameterChange): Detail {
  return {
    ...{ what: 'parameter', name, change: 'change', reason: 'parameter' },
    ...{ why: 'needs a restart', effect: 'restart' },
    diff: [
      { sign: '-', text: from },
      { sign: '+', text: to },
    ],
  }
}
