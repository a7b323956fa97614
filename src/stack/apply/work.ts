// What every step of an apply has at hand, and the steps that are the same for every kind of machine.

import type { MemberPlace } from '../../clusters/etcd/settings.ts'
import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type { Machine, MachineKind } from '../../machine/machine.ts'
import type { ExistingMachine, MachineState, Target } from '../../targets/target.ts'
import { allOrFirstFailure } from '../all-or-first-failure.ts'
import type { Clients } from '../clients.ts'
import type { MachinePlan } from '../plan.ts'
import type { Progress } from '../progress.ts'
import type { Stack } from '../stack.ts'

export interface Work {
  readonly stack: Stack
  readonly target: Target
  readonly clients: Clients
  /** As they should be, in start order. */
  readonly machines: readonly Machine[]
  /** An etcd machine as it has to be made when the cluster has these members. */
  readonly renderMember: (name: string, members: readonly MemberPlace[]) => Machine
  readonly plans: ReadonlyMap<string, MachinePlan>
  readonly existing: ReadonlyMap<string, ExistingMachine>
  /** How services stood when the work began. */
  readonly states: ReadonlyMap<string, MachineState>
  /** The last run did not come to its end. */
  readonly isResumed: boolean
  readonly progress: Progress
  readonly signal: AbortSignal
  /** For a cluster to become ready. */
  readonly timeoutMs: number
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
  const updated = all.filter((machine) => actionOf(machine) === 'update')
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

/** Why a service of a machine is to be started that was started before. */
export const NOT_RUNNING = 'not running'
export const STARTED_OTHERWISE = 'started in another way'

/** Whether applying the plan of a machine takes one of its services away for a moment. */
export function needsRestart({ plans }: Work, { name }: Machine): boolean {
  return plans.get(name)?.details.some(({ effect }) => effect === 'restart') ?? false
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
    ...details.filter(({ what, why }) => what === 'service' && why === STARTED_OTHERWISE).map(({ name }) => name),
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

/** How a step ends that was asked for something it will never do (EX_CONFIG of sysexits.h): it says what. */
const REFUSED = /^exit code 78: (?<reason>.*)$/su

/** Steps that are done once: those that have not been yet. Throws when one of them never will be. */
export async function unfinishedSteps({ target }: Work, machines: readonly Machine[]): Promise<string[]> {
  const states = await target.observe({ names: machines.map(({ name }) => name) })
  const unfinished = machines.flatMap(({ name, services }) =>
    services
      .filter(({ once }) => once)
      .map((step) => ({ what: `${step.name} on ${name}`, state: states.get(name)?.services.get(step.name) }))
      .filter(({ state }) => state?.state !== 'done'),
  )
  return unfinished.map(({ what, state }) => {
    const error = state?.lastError
    const reason = REFUSED.exec(error ?? '')?.groups?.reason
    if (reason !== undefined)
      throw new HoldfastError('StepRefused', reason, {
        hint: `said by ${what}; mend the stack file, then run "up" again`,
      })
    return error === undefined ? what : `${what} (${error})`
  })
}

export function interrupted(): HoldfastError {
  return new HoldfastError(
    'Interrupted',
    'Cannot go on: interrupted; what was done so far stays, and "up" goes on from there',
  )
}
