// Bringing an etcd cluster to its new shape without ever losing quorum:
//
//   start what stands still ─▶ change one member at a time ─▶ new ones join as learners, one at a time
//     ─▶ others are made anew, one at a time ─▶ old ones leave
//
// What the cluster itself says about its members decides, not what we did before: an interrupted run goes on here. A member
// without its data is no member any more, whatever the others think: it leaves and joins anew.

import { setTimeout as sleep } from 'node:timers/promises'
import {
  joinMember,
  type Membership,
  promoteMember,
  quorumOf,
  readMembership,
  removeMember,
} from '../../clusters/etcd/cluster.ts'
import { refuseFounding } from '../../clusters/etcd/check-founding.ts'
import { PATHS } from '../../clusters/etcd/settings.ts'
import type { EtcdMember, EtcdSpec } from '../../clusters/etcd/spec.ts'
import { HoldfastError } from '../../lib/errors.ts'
import type { Machine } from '../../machine/machine.ts'
import { allOrFirstFailure } from '../all-or-first-failure.ts'
import { repeatSteps, untilAnswering, untilReady, untilRestartable } from './wait.ts'
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

/** For a machine that was started to be heard of; emulated ones take their time. */
const FIRST_START_MS = 60_000
const PAUSE_MS = 500

/** The first time: all members at once, as etcd wants it. */
export async function formEtcd(work: Work): Promise<void> {
  if (work.stack.etcd !== undefined) refuseFounding(work.stack.etcd)
  const { all, replaced, gone } = sortMachines(work, 'etcd')
  await allOrFirstFailure(replaced.map((machine) => discardMachine(work, machine)))
  await applyAll(work, all)
  await untilReady(work, 'etcd')
  for (const machine of gone) await removeMachine(work, machine)
}

/** Steps that were done are to be done again: users and roles went with the data. */
async function formAnew(work: Work, machines: readonly Machine[]): Promise<void> {
  const { target, progress } = work
  progress({ machine: undefined, state: 'warning', message: 'the data of etcd is gone; it starts with nothing in it' })
  await applyAll(work, machines)
  for (const { name, services } of machines)
    for (const step of services.filter(({ once }) => once)) await target.restart(name, step.name)
  await untilReady(work, 'etcd')
}

export async function changeEtcd(work: Work, spec: EtcdSpec): Promise<void> {
  const sorted = sortMachines(work, 'etcd')
  const { all, created, stopped, changed, replaced, standing, gone } = sorted
  const filled = await withData(work, all)
  // Nothing is left of the cluster but that there was one.
  if (filled.length + gone.length === 0) {
    refuseFounding(spec)
    return formAnew(work, all)
  }
  // They may need each other to have quorum; those that are to be made anew only where the others have none.
  const needed = all.length - standing.length < quorumOf(all.length) ? standing : []
  const started = [...stopped, ...created, ...needed].filter(isIn(filled))
  await applyAll(work, started)
  for (const machine of changed) await repeatSteps(work, machine)
  const voters = await readVoters(work, spec, sorted)
  // Without one that is lost, nobody else can be done without: it comes back first.
  const lost = voters.filter((machine) => !filled.includes(machine))
  const updated = changed.filter(isIn(voters))
  if (lost.length === 0) await changeOneByOne(work, updated)
  await dropLost(work, lost)
  const broken = standing.filter((machine) => !started.includes(machine))
  const staying = voters.filter((machine) => isIn(filled)(machine) && !isIn(broken)(machine)).map(({ name }) => name)
  const { joining, leaving } = await membersOf(work, spec)
  if (joining.length + gone.length > 0) await untilReady(work, 'etcd', { machines: staying })
  for (const member of joining) await join(work, spec, member)
  if (lost.length > 0) await changeOneByOne(work, updated)
  // Whoever is no member any more was made anew by joining.
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
  await untilReady(work, 'etcd')
}

async function withData({ target }: Work, machines: readonly Machine[]): Promise<Machine[]> {
  const filled = await Promise.all(machines.map(({ name }) => target.isFilled(name, PATHS.data)))
  return machines.filter((_, index) => filled[index])
}

function membersOf(work: Work, spec: EtcdSpec): Promise<Membership> {
  return untilAnswering(work, () => readMembership(spec, work.clients.etcd(), work.signal))
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

async function dropLost(work: Work, lost: readonly Machine[]): Promise<void> {
  for (const machine of lost) {
    work.progress({ machine: machine.name, state: 'warning', message: 'its data is gone; it joins anew' })
    await removeMember(work.clients.etcd(), machine, work.signal)
  }
}

async function join(work: Work, spec: EtcdSpec, member: EtcdMember): Promise<void> {
  const { clients, signal, progress } = work
  progress({ machine: member.name, state: 'working', message: 'joining as a learner' })
  if (!(await isUnderWay(work, spec, member))) await beginAnew(work, member)
  await joinMember(clients.etcd(), member, signal)
  const { running } = await membersOf(work, spec)
  await applyMachine(work, work.renderMember(member.name, running))
  await promoteMember(clients.etcd(), member, signal, (message) =>
    progress({ machine: member.name, state: 'working', message }),
  )
}

/** Whether an attempt that was interrupted can go on. Its machine was started before, and tells its name as soon as it is up. */
async function isUnderWay(work: Work, spec: EtcdSpec, { name, address }: EtcdMember): Promise<boolean> {
  const deadline = performance.now() + FIRST_START_MS
  if (!(await work.target.isFilled(name, PATHS.data))) return false
  for (;;) {
    const { running, awaited } = await membersOf(work, spec)
    if (running.some((each) => each.address === address)) return true
    if (!awaited.includes(address) || performance.now() > deadline) return false
    await sleep(PAUSE_MS)
  }
}

/**
 * What such an attempt left, or a member that somebody removed, has data that etcd would not start with. And whoever may have acknowledged
 * something and has it no longer would not be taken by the others: it joins under another id.
 */
async function beginAnew(work: Work, member: EtcdMember): Promise<void> {
  const { target, clients, signal, existing } = work
  await removeMember(clients.etcd(), member, signal)
  if (existing.has(member.name)) await target.remove(member.name, { keepData: false })
  await refuseOldData(work, member)
}

/** etcd does not start with it, and nobody would say why. */
async function refuseOldData({ target }: Work, { name }: EtcdMember): Promise<void> {
  if (!(await target.isFilled(name, PATHS.data))) return
  throw new HoldfastError(
    'EtcdDataLeft',
    `Cannot join "${name}": its disk has data of a member that the cluster has no longer; an empty one is wanted`,
    { hint: 'give it another data_volume_id, or empty the volume; the others have all the data' },
  )
}

async function leave(work: Work, member: { readonly name: string; readonly address: string }): Promise<void> {
  if (member.name !== '') work.progress({ machine: member.name, state: 'working', message: 'leaving the cluster' })
  await removeMember(work.clients.etcd(), member, work.signal)
}

function warnOfForeigner({ progress }: Work, name: string): void {
  const message = `etcd has a member "${name}" that the stack never had; it is left alone`
  progress({ machine: undefined, state: 'warning', message })
}

function isIn(machines: readonly Machine[]): (machine: Machine) => boolean {
  return ({ name }) => machines.some((each) => each.name === name)
}
