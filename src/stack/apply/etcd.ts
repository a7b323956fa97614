// Bringing an etcd cluster to its new shape without ever losing quorum:
//
//   start what is stopped ─▶ change one member at a time ─▶ new ones join as learners, one at a time
//     ─▶ others are recreated, one at a time ─▶ old ones leave
//
// What the cluster itself says about its members decides, not what an earlier run did: an interrupted run continues here. A
// member without its data is no member any more, whatever the others think: it leaves and joins again.

import { quorumOf } from '../../clusters/etcd/cluster.ts'
import { refuseFounding } from '../../clusters/etcd/check-founding.ts'
import { AUTH_STEP, startedMachine } from '../../clusters/etcd/machines.ts'
import { LOG, PATHS } from '../../clusters/etcd/settings.ts'
import type { EtcdSpec } from '../../clusters/etcd/spec.ts'
import { HoldfastError } from '../../lib/errors.ts'
import type { Machine } from '../../machine/machine.ts'
import { allOrFirstFailure } from '../all-or-first-failure.ts'
import { dropLost, join, leave, membersOf, writeStarted } from './etcd-members.ts'
import { withSettingsInUse } from './etcd-state.ts'
import { repeatSteps, untilAnswering, untilDone, untilReady, untilRestartable } from './wait.ts'
import {
  applyAll,
  applyMachine,
  discardMachine,
  needsRestart,
  removeMachine,
  type Sorted,
  sortMachines,
  type Work,
} from './work.ts'

export interface ChangeOptions {
  /** Gives the clusters that use etcd their new certificates, before the first member asks for them. */
  readonly clientsFirst?: (() => Promise<void>) | undefined
}

/** The first time: all members at once, as etcd expects it. */
export async function formEtcd(work: Work): Promise<void> {
  if (work.stack.etcd !== undefined) refuseFounding(work.stack.etcd)
  const { all, replaced, gone } = sortMachines(work, 'etcd')
  await allOrFirstFailure(replaced.map((machine) => discardMachine(work, machine)))
  await applyAll(work, all)
  await untilReady(work, 'etcd')
  await writeStarted(work, all)
  for (const machine of gone) await removeMachine(work, machine)
}

/** Steps that were done are to be done again: users and roles went with the data. */
async function formAgain(work: Work, known: readonly Machine[]): Promise<void> {
  const { target, progress, renderMember } = work
  progress({ machine: undefined, state: 'warning', message: 'the data of etcd is gone; it starts with nothing in it' })
  // As they are known, they would wait for their data, or for each other.
  const machines = known.map(({ name }) => renderMember(name, []))
  await applyAll(work, machines)
  for (const { name, services } of machines)
    for (const step of services.filter(({ once }) => once)) await target.restart(name, step.name)
  await untilReady(work, 'etcd')
  await writeStarted(work, machines)
}

/** Resolves when nothing is left to change; whether all members are ready is not waited for. */
export async function changeEtcd(work: Work, spec: EtcdSpec, { clientsFirst }: ChangeOptions = {}): Promise<void> {
  const sorted = sortMachines(work, 'etcd')
  const { all, created, stopped, changed, replaced, standing, gone } = sorted
  const filled = await withData(work, all)
  // Nothing is left of the cluster but that there was one.
  if (filled.length + gone.length === 0) {
    refuseFounding(spec)
    return formAgain(work, all)
  }
  // They may need each other to have quorum; those that are to be recreated only where the others have none.
  const needed = all.length - standing.length < quorumOf(all.length) ? standing : []
  // One that is created with its data has started before.
  const kept = created.map((machine) => startedMachine(spec, machine))
  const started = [...stopped, ...kept, ...needed].filter(isIn(filled))
  await applyAll(work, started)
  // A step asks the etcd of its own machine.
  for (const machine of changed.filter(isIn(filled)))
    await repeatSteps(work, clientsFirst === undefined ? machine : withSettingsInUse(work, machine))
  await clientsFirst?.()
  const voters = await readVoters(work, spec, sorted)
  // Without one that is lost, no other can be stopped: it comes back first.
  const lost = voters.filter((machine) => !filled.includes(machine))
  const updated = changed.filter(isIn(voters)).filter(isIn(filled))
  if (lost.length === 0) await changeOneByOne(work, updated)
  await dropLost(work, lost)
  const broken = standing.filter((machine) => !started.includes(machine))
  const staying = voters.filter((machine) => isIn(filled)(machine) && !isIn(broken)(machine)).map(({ name }) => name)
  const { joining, leaving } = await membersOf(work, spec)
  if (joining.length + gone.length > 0) await untilReady(work, 'etcd', { machines: staying })
  for (const member of joining) await join(work, spec, member)
  if (lost.length > 0) await changeOneByOne(work, updated)
  // A machine that was no member any more was recreated when it joined.
  const members = voters.filter((machine) => !lost.includes(machine))
  const anew = [...broken, ...replaced.filter((machine) => !broken.includes(machine))].filter(isIn(members))
  for (const [index, machine] of anew.entries())
    await replace(work, spec, machine, anew.slice(index + 1).filter(isIn(broken)))
  for (const member of leaving) {
    // One that never started was about to join when somebody was interrupted.
    if (member.name === '' || gone.some(({ name }) => name === member.name)) await leave(work, member)
    else warnOfForeigner(work, member.name)
  }
  for (const machine of gone) await removeMachine(work, machine)
  await writeStarted(
    work,
    members.filter(isIn(filled)).filter((machine) => isFounding(work, machine)),
  )
  await enableAuthentication(work, spec)
  for (const machine of all) await untilDone(work, machine)
}

/** Versions before left a member as it was founded: all that lose their data would form a new cluster, without users. */
function isFounding({ existing }: Work, { name }: Machine): boolean {
  return /^ETCD_INITIAL_CLUSTER_STATE=new$/mu.test(existing.get(name)?.files.get(PATHS.initial)?.text ?? '')
}

/** It is off where a user disabled it, and where all members lost their data while they ran. */
async function enableAuthentication(work: Work, { bootstrapMember }: EtcdSpec): Promise<void> {
  const { clients, target, progress, signal } = work
  if (await untilAnswering(work, () => clients.etcd().isAuthEnabled(signal))) return
  const message = 'authentication of etcd is disabled; it is enabled again'
  progress({ machine: bootstrapMember, state: 'warning', message })
  await target.restart(bootstrapMember, AUTH_STEP)
}

async function withData({ target }: Work, machines: readonly Machine[]): Promise<Machine[]> {
  const filled = await Promise.all(machines.map(({ name }) => target.isFilled(name, LOG)))
  return machines.filter((_, index) => filled[index])
}

/** The machines that the cluster counts on. */
async function readVoters(work: Work, spec: EtcdSpec, { all, gone }: Sorted): Promise<Machine[]> {
  try {
    const { joining } = await membersOf(work, spec)
    return all.filter(({ name }) => !joining.some((member) => member.name === name))
  } catch (error) {
    if (gone.length === 0 || !(error instanceof HoldfastError)) throw error
    throw new HoldfastError('EtcdQuorum', error.message, {
      hint: `the members that the stack file has no longer (${gone.map(({ name }) => name).join(', ')}) may be needed for quorum: put them back, run "up", then take them out`,
      cause: error,
    })
  }
}

/** Each is back before the next one's turn; those that something else is wrong with hold up nobody, as long as there is quorum. */
async function changeOneByOne(work: Work, changed: readonly Machine[]): Promise<void> {
  for (const machine of changed) {
    const isRestarted = needsRestart(work, machine)
    if (isRestarted) await untilRestartable(work, machine.name)
    await applyMachine(work, machine)
    if (isRestarted) await untilReady(work, 'etcd', { machines: [machine.name] })
  }
}

/**
 * Its address stays, so the old member goes before the new one comes, while the others have quorum without it. With its data on
 * a disk of its own it stays the same member. `broken`: others that wait for the same and do not run.
 */
async function replace(work: Work, spec: EtcdSpec, machine: Machine, broken: readonly Machine[]): Promise<void> {
  const { name } = machine
  const others = work.machines.filter((each) => each.kind === 'etcd' && each.name !== name && !isIn(broken)(each))
  await untilReady(work, 'etcd', { machines: others.map((each) => each.name) })
  if (work.plans.get(name)?.keepsData) {
    await untilRestartable(work, name)
    await discardMachine(work, machine)
    await applyMachine(work, machine)
  } else {
    await leave(work, machine)
    await discardMachine(work, machine)
    const member = spec.members.find((each) => each.name === name)
    if (member !== undefined) await join(work, spec, member)
  }
  await untilReady(work, 'etcd', { machines: [name] })
}

function warnOfForeigner({ progress }: Work, name: string): void {
  const message = `etcd has a member "${name}" that the stack never had; it is left alone`
  progress({ machine: undefined, state: 'warning', message })
}

function isIn(machines: readonly Machine[]): (machine: Machine) => boolean {
  return ({ name }) => machines.some((each) => each.name === name)
}
