// What every step of an apply has at hand, and the steps that are the same for every kind of machine.

import type { EtcdOperator } from '../../clusters/etcd/cluster.ts'
import type { MemberPlace } from '../../clusters/etcd/settings.ts'
import type { ClusterStatus } from '../../clusters/member-status.ts'
import type { PatroniAccess } from '../../clusters/postgres/access.ts'
import type { EtcdClient } from '../../etcd/client.ts'
import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Machine, MachineKind } from '../../machine/machine.ts'
import { describeFailure } from '../../targets/service-failure.ts'
import type { ExistingMachine, MachineState, Target } from '../../targets/target.ts'
import { allOrFirstFailure } from '../all-or-first-failure.ts'
import { type MachinePlan, restartsCluster } from '../plan.ts'
import type { Progress } from '../progress.ts'
import type { Stack } from '../stack.ts'

/** How the clusters of the stack are reached. */
export interface WorkClients {
  etcd(): EtcdCalls
  patroni(): PatroniAccess
  /** Of the role that Patroni has in PostgreSQL. */
  postgresPassword(): Secret
  status(kind: MachineKind, signal: AbortSignal): Promise<ClusterStatus>
}

export type EtcdCalls = EtcdOperator & Pick<EtcdClient, 'delete' | 'isAuthEnabled' | 'userList' | 'userRoles'>

export interface Work {
  readonly stack: Stack
  readonly target: Target
  readonly clients: WorkClients
  /** As they should be, in start order. */
  readonly machines: readonly Machine[]
  /** An etcd machine as it has to be made when the cluster has these members. */
  readonly renderMember: (name: string, members: readonly MemberPlace[]) => Machine
  readonly plans: ReadonlyMap<string, MachinePlan>
  /** Of PostgreSQL, for parameters. */
  readonly restarts: PlannedRestarts
  readonly existing: ReadonlyMap<string, ExistingMachine>
  /** How services stood when the work began. */
  readonly states: ReadonlyMap<string, MachineState>
  readonly progress: Progress
  readonly signal: AbortSignal
  /** For a cluster to become ready. */
  readonly timeoutMs: number
}

export interface PlannedRestarts {
  /** Machines whose PostgreSQL the plan restarts. */
  readonly machines: ReadonlySet<string>
  /** Machines that wait for a restart which is not the stack's business. */
  readonly foreign: ReadonlySet<string>
}

/** Machines of a kind: those to make, those to bring up to date, and those to take away. */
export interface Sorted {
  readonly all: readonly Machine[]
  readonly created: readonly Machine[]
  /** All of its services stand still, steps that are done aside: it can be brought up to date without taking anything away from anybody. */
  readonly stopped: readonly Machine[]
  /** Running, with changes to be made. */
  readonly changed: readonly Machine[]
  /** To be made anew, whether they run or not. */
  readonly replaced: readonly Machine[]
  /** Of those, the ones that stand still. */
  readonly standing: readonly Machine[]
  readonly gone: readonly ExistingMachine[]
}

export function sortMachines({ machines, plans, existing, states }: Work, kind: MachineKind): Sorted {
  const all = machines.filter((machine) => machine.kind === kind)
  const actionOf = ({ name }: Machine) => plans.get(name)?.action
  const isStopped = ({ name }: Machine) =>
    [...(states.get(name)?.services.values() ?? [])].every(({ state }) => state === 'stopped' || state === 'done')
  // A parameter of PostgreSQL changes nothing of the machine itself.
  const isTouched = ({ name }: Machine) => plans.get(name)?.details.some(({ what }) => what !== 'parameter') === true
  const updated = all.filter((machine) => actionOf(machine) === 'update' && isTouched(machine))
  const replaced = all.filter((machine) => actionOf(machine) === 'replace')
  return {
    all,
    created: all.filter((machine) => actionOf(machine) === 'create'),
    stopped: updated.filter(isStopped),
    changed: updated.filter((machine) => !isStopped(machine)),
    replaced,
    standing: replaced.filter(isStopped),
    gone: [...existing.values()].filter(
      (machine) => machine.kind === kind && plans.get(machine.name)?.action === 'delete',
    ),
  }
}

/** Whether applying the plan of a machine interrupts its cluster's service for a moment. */
export function needsRestart({ plans }: Work, { name }: Machine): boolean {
  return plans.get(name)?.details.some(restartsCluster) ?? false
}

/** Files in place, services running as they should: the same for a new machine and a changed one. */
export async function applyMachine({ target, plans, existing, progress }: Work, machine: Machine): Promise<void> {
  const { name } = machine
  const plan = plans.get(name)
  progress({ machine: name, state: 'working', message: plan?.action === 'update' ? 'updating' : 'starting' })
  await target.write(machine)
  // Starts what does not run, what is started in another way now, and steps whose files have changed.
  await target.start(machine)
  const before = existing.get(name)
  if (plan?.action !== 'update' || before === undefined) return
  const { restarts, reloads } = laterReaders(machine, plan, before)
  for (const service of restarts) await target.restart(name, service)
  for (const service of reloads) await target.reload(name, service)
}

/** All at once. One that fails is told at once; the others come to their end, which may take as long as a boot. */
export function applyAll(work: Work, machines: readonly Machine[]): Promise<void> {
  const apply = async (machine: Machine) => {
    try {
      await applyMachine(work, machine)
    } catch (error) {
      work.progress({ machine: machine.name, state: 'failed', message: messageOf(error) })
      throw error
    }
  }
  return allOrFirstFailure(machines.map(apply))
}

/** Files in place, and read again by services that can do so while they run. What has to be restarted for them goes on as it is. */
export async function reloadMachine({ target, plans, existing }: Work, machine: Machine): Promise<void> {
  const { name, services } = machine
  const [plan, before] = [plans.get(name), existing.get(name)]
  if (plan === undefined || before === undefined) return
  await target.write(machine)
  const asked = new Set(askedBy(machine, plan, before, 'reload'))
  for (const service of services) if (asked.has(service.name)) await target.reload(name, service.name)
}

/** The names of steps that have to be done again, as their files have changed. */
export function stepsToRepeat({ plans, existing }: Work, { name, files, services }: Machine): string[] {
  // A step that is new to the machine is done when that is started.
  const known = new Set(existing.get(name)?.services.map((service) => service.name))
  const changed = new Set(plans.get(name)?.details.map((detail) => detail.name))
  const asked = files.flatMap(({ path, onChange }) =>
    changed.has(path) && onChange !== 'nothing' && 'restart' in onChange ? [onChange.restart] : [],
  )
  return services
    .filter((service) => service.once === true && known.has(service.name) && asked.includes(service.name))
    .map((step) => step.name)
}

/** Services that go on running, but have to read their files again. */
function laterReaders(machine: Machine, plan: MachinePlan, before: ExistingMachine) {
  const { details } = plan
  const handled = new Set([
    ...machine.services.filter(({ once }) => once).map(({ name }) => name),
    ...details.filter(({ what, effect }) => what === 'service' && effect === 'start').map(({ name }) => name),
    ...details.filter(({ reason }) => reason === 'started-otherwise').map(({ name }) => name),
  ])
  const asked = (how: 'reload' | 'restart') => new Set(askedBy(machine, plan, before, how)).difference(handled)
  const restarts = asked('restart')
  return { restarts, reloads: asked('reload').difference(restarts) }
}

/** Services that files which have changed, now or in a run that was cut short, are read by in that way. */
function askedBy(
  machine: Machine,
  { details }: MachinePlan,
  { pending }: ExistingMachine,
  how: 'reload' | 'restart',
): string[] {
  const changed = new Set(details.filter(({ change }) => change !== 'remove').map((detail) => detail.name))
  const changes = machine.files.filter(({ path }) => changed.has(path)).map(({ onChange }) => onChange)
  return [
    ...changes.flatMap((change) => (change !== 'nothing' && how in change ? Object.values(change) : [])),
    ...[...pending].filter(([, late]) => late === how).map(([service]) => service),
  ]
}

/** The machine is gone, and made anew by whoever goes on. Disks that the stack file names itself stay, with what is on them. */
export async function discardMachine({ target, progress }: Work, { name }: Machine): Promise<void> {
  progress({ machine: name, state: 'working', message: 'removing, to make it anew' })
  await target.remove(name, { keepData: false })
}

export async function removeMachine({ target, progress }: Work, { name }: ExistingMachine): Promise<void> {
  progress({ machine: name, state: 'working', message: 'removing' })
  await target.remove(name, { keepData: false })
  progress({ machine: name, state: 'ready', message: 'removed' })
}

/** How a step exits that was asked for something it will never do (EX_CONFIG of sysexits.h); its last line says what. */
const REFUSED = 78

/** Steps that are done once: those that have not been yet. Throws when one of them never will be. */
export async function unfinishedSteps({ target }: Work, machines: readonly Machine[]): Promise<string[]> {
  const states = await target.observe({ names: machines.map(({ name }) => name) })
  const unfinished = machines.flatMap(({ name, services }) =>
    services
      .filter(({ once }) => once)
      .map((step) => ({
        what: `${step.name} on ${name}`,
        state: states.get(name)?.services.get(step.name),
        problem: states.get(name)?.problem,
      }))
      .filter(({ state }) => state?.state !== 'done'),
  )
  return unfinished.map(({ what, state, problem }) => {
    const failure = state?.failure
    if (failure?.exitCode === REFUSED)
      throw new HoldfastError('StepRefused', failure.detail ?? describeFailure(failure), {
        hint: `reported by ${what}; fix what it names, then run "holdfast up" again`,
      })
    const reason = failure === undefined ? problem : describeFailure(failure)
    return reason === undefined ? what : `${what} (${reason})`
  })
}

export function interrupted(): HoldfastError {
  return new HoldfastError(
    'Interrupted',
    'Cannot continue: interrupted; what was done so far stays, and "up" continues from there',
  )
}
