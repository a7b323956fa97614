// The plan of a whole stack, from what there is and what there should be. Pure: the same facts and the same machines make
// the same plan, so that the plan which is shown and the one which is applied can be compared.

import type { PostgresFacts } from '../clusters/postgres/facts.ts'
import { ROOM_HINT, roomProblem } from '../clusters/postgres/unusable-data.ts'
import { checkParameters } from '../clusters/postgres/parameters/check-parameters.ts'
import type { Machine } from '../machine/machine.ts'
import type { ExistingMachine, HardwareChange, MachineState } from '../targets/target.ts'
import { compareMachine, detail, removedMachine, withDetails } from './compare.ts'
import {
  type Detail,
  type MachinePlan,
  makePlan,
  type Plan,
  type PlannedCredential,
  type PlannedHardware,
  restartsCluster,
} from './plan.ts'
import { planRestarts, type RestartPlan } from './plan-restarts.ts'
import { refuseLoss } from './refuse-impossible.ts'
import type { Stack } from './stack.ts'

/** What was found before a change, read once for the plan and its application. */
export interface StackFacts {
  readonly existing: ReadonlyMap<string, ExistingMachine>
  readonly states: ReadonlyMap<string, MachineState>
  readonly hardware: ReadonlyMap<string, readonly HardwareChange[]>
  /** Undefined where there is no machine with PostgreSQL. */
  readonly postgres: PostgresFacts | undefined
  /** The last `up` did not come to its end. */
  readonly isResumed: boolean
}

/** Of PostgreSQL that does not run. */
export const NO_POSTGRES: PostgresFacts = {
  ...{ primary: undefined, canSwitchOver: false, shared: undefined },
  ...{ servers: new Map(), pending: new Set() },
}

export interface PlanInput {
  readonly stack: Stack
  /** As they should be, with the credentials that there are. */
  readonly machines: readonly Machine[]
  readonly facts: StackFacts
  /** Files get their owners. */
  readonly withOwners: boolean
  /** etcd was ready once; before, nothing can be lost there. */
  readonly isEtcdFormed: boolean
  readonly hardwareOf: (machine: Machine) => PlannedHardware | undefined
  readonly credentials: readonly PlannedCredential[]
  /** Worth a word to the user. */
  readonly remarks: readonly string[]
}

export interface PlannedStack {
  readonly plan: Plan
  /** Machines that wait for a restart that the stack file does not ask for. */
  readonly foreignRestarts: readonly string[]
}

export function planStack(input: PlanInput): PlannedStack {
  const { stack, machines, facts, withOwners, isEtcdFormed, hardwareOf, remarks } = input
  const { existing, states, hardware } = facts
  const options = { withOwners, shown: new WeakMap() }
  const staying = machines.map((machine) => {
    const { name } = machine
    const changes = hardware.get(name) ?? []
    const plan = compareMachine(machine, existing.get(name), states.get(name), { ...options, hardware: changes })
    const made = plan.action === 'create' || plan.action === 'replace' ? hardwareOf(machine) : undefined
    return made === undefined ? plan : { ...plan, hardware: made }
  })
  const gone = [...existing.values()].filter(({ name }) => !machines.some((machine) => machine.name === name))
  const plans = [...staying, ...gone.map(removedMachine)]
  const { restarts, details, foreign } = restartsOf(stack, facts, plans)
  const plan = makePlan({
    stack: stack.name,
    file: stack.file,
    machines: plans.map((each) => {
      const more = [...(details.get(each.machine) ?? []), ...copiesOf(each, facts)]
      return handingOver(withDetails(each, more), facts.postgres)
    }),
    restarts,
    credentials: operatorCredentials(input),
    remarks: [...remarks, ...foreign.map(foreignRestart), ...crampedMembers(facts)],
  })
  refuseLoss(plan, ({ machine, kind }) => (kind === 'etcd' ? isEtcdFormed : existing.get(machine)?.isUnborn !== true))
  return { plan, foreignRestarts: foreign }
}

/** A restart of its Patroni stops PostgreSQL. */
function handingOver(plan: MachinePlan, postgres: PostgresFacts | undefined): MachinePlan {
  const { machine, action, details } = plan
  const isStopped = action === 'replace' || details.some(restartsCluster)
  const isLeading = postgres?.primary === machine && postgres.canSwitchOver
  return isLeading && isStopped ? { ...plan, handsOver: true } : plan
}

/** Those of machines are among their files; a stack that does not exist yet has none that could be lost. */
function operatorCredentials({ credentials, machines, facts }: PlanInput): PlannedCredential[] {
  if (facts.existing.size === 0) return []
  return credentials.filter(({ id }) => !machines.some(({ name }) => id.startsWith(`${name}/`)))
}

function restartsOf({ postgres: spec }: Stack, facts: StackFacts, plans: readonly MachinePlan[]): RestartPlan {
  const { postgres } = facts
  const servers = postgres?.servers ?? new Map<string, never>()
  if (spec !== undefined) checkParameters(spec.params, servers.get(postgres?.primary ?? '') ?? [...servers.values()][0])
  if (spec === undefined || postgres === undefined) return { restarts: [], details: new Map(), foreign: [] }
  return planRestarts({ ...facts, spec, facts: postgres, plans })
}

/** Of a machine that stays as it is: another one gets its data anyway. */
function copiesOf({ machine, action }: MachinePlan, { postgres }: StackFacts): Detail[] {
  const isCopied = postgres?.unusable?.has(machine) === true && (action === 'none' || action === 'update')
  return isCopied ? [detail('data', 'of PostgreSQL', 'change', 'unusable', 'start')] : []
}

/** Their data is left alone: it may be repaired. */
function crampedMembers({ postgres }: StackFacts): string[] {
  return [...(postgres?.cramped ?? [])].map(
    ([machine, missing]) =>
      `PostgreSQL does not start with its data on ${machine}, and "up" does not replace it: ${roomProblem(missing)}; ${ROOM_HINT}`,
  )
}

function foreignRestart(machine: string): string {
  return `PostgreSQL on ${machine} waits for a restart that the stack file does not ask for; "up" leaves it alone`
}
