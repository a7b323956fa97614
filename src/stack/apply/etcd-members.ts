// How single members of an etcd cluster join and leave while it runs. Each step looks first what the cluster says, so that one
// which was interrupted is done by doing it again.

import { setTimeout as sleep } from 'node:timers/promises'
import {
  joinMember,
  type Membership,
  promoteMember,
  readMembership,
  removeMember,
  untilStarted,
} from '../../clusters/etcd/cluster.ts'
import { startedMachine } from '../../clusters/etcd/machines.ts'
import { LOG, PATHS } from '../../clusters/etcd/settings.ts'
import type { EtcdMember, EtcdSpec } from '../../clusters/etcd/spec.ts'
import { HoldfastError } from '../../lib/errors.ts'
import type { Machine } from '../../machine/machine.ts'
import { allOrFirstFailure } from '../all-or-first-failure.ts'
import { untilAnswering } from './wait.ts'
import { applyMachine, type Work } from './work.ts'

/** For a machine that was started to be heard of; emulated ones are slow. */
const FIRST_START_MS = 60_000
const PAUSE_MS = 500

export function membersOf(work: Work, spec: EtcdSpec): Promise<Membership> {
  return untilAnswering(work, () => readMembership(spec, work.clients.etcd(), work.signal))
}

export async function dropLost(work: Work, lost: readonly Machine[]): Promise<void> {
  for (const machine of lost) {
    work.progress({ machine: machine.name, state: 'warning', message: 'its data is gone; it joins again, without it' })
    await removeMember(work.clients.etcd(), machine, work.signal)
  }
}

export async function join(work: Work, spec: EtcdSpec, member: EtcdMember): Promise<void> {
  const { clients, signal, progress } = work
  progress({ machine: member.name, state: 'working', message: 'joining as a learner' })
  const isContinued = await isUnderWay(work, spec, member)
  if (!isContinued) await beginAnew(work, member)
  await joinMember(clients.etcd(), member, signal)
  const { running } = await membersOf(work, spec)
  const machine = work.renderMember(member.name, running)
  await applyMachine(isContinued ? work : withoutMachine(work, member), machine)
  const onWait = (message: string) => progress({ machine: member.name, state: 'working', message })
  await untilStarted(clients.etcd(), member, signal, onWait)
  // Before it has a vote: an interruption after that would leave settings with which it starts without its data.
  await writeStarted(work, [machine])
  await promoteMember(clients.etcd(), member, signal, onWait)
}

/** For members that have started: whatever happens to their data, none of them starts with an empty log under its old id. */
export async function writeStarted({ target, stack }: Work, machines: readonly Machine[]): Promise<void> {
  const { etcd } = stack
  if (etcd !== undefined)
    await allOrFirstFailure(machines.map((machine) => target.write(startedMachine(etcd, machine))))
}

/** The machine was removed since the plan was made: there is nothing to reload or restart. */
function withoutMachine(work: Work, { name }: EtcdMember): Work {
  return { ...work, existing: new Map([...work.existing].filter(([each]) => each !== name)) }
}

/** Whether an attempt that was interrupted can continue. Its machine was started before, and reports its name as soon as it is up. */
async function isUnderWay(work: Work, spec: EtcdSpec, { name, address }: EtcdMember): Promise<boolean> {
  const deadline = performance.now() + FIRST_START_MS
  if (!(await work.target.isFilled(name, LOG))) return false
  for (;;) {
    const { running, awaited } = await membersOf(work, spec)
    if (running.some((each) => each.address === address)) return true
    if (!awaited.includes(address) || performance.now() > deadline) return false
    await sleep(PAUSE_MS)
  }
}

/**
 * An attempt that was given up, or a member that was removed, has left data that etcd would not start with. And a member that may
 * have acknowledged something and lost it is not accepted by the others: it joins under another id.
 */
async function beginAnew(work: Work, member: EtcdMember): Promise<void> {
  const { target, clients, signal, existing } = work
  await removeMember(clients.etcd(), member, signal)
  if (existing.has(member.name)) await target.remove(member.name, { keepData: false })
  await refuseOldData(work, member)
}

/** etcd does not start with it, and would not say why. */
async function refuseOldData({ target }: Work, { name }: EtcdMember): Promise<void> {
  if (!(await target.isFilled(name, PATHS.data))) return
  throw new HoldfastError(
    'EtcdDataLeft',
    `Cannot join "${name}": its disk has data of a former member; expected an empty one`,
    { hint: 'give it another data_volume_id, or empty the volume; the others have all the data' },
  )
}

export async function leave(work: Work, member: { readonly name: string; readonly address: string }): Promise<void> {
  if (member.name !== '') work.progress({ machine: member.name, state: 'working', message: 'leaving the cluster' })
  await removeMember(work.clients.etcd(), member, work.signal)
}
