// Bringing an etcd cluster to its new shape without ever losing quorum:
//
//   start what stands still ─▶ change one member at a time ─▶ new ones join as learners, one at a time ─▶ old ones leave
//
// What the cluster itself says about its members decides, not what we did before: an interrupted run goes on here.

import { joinMember, promoteMember, readMembership, removeMember } from '../../clusters/etcd/cluster.ts'
import type { EtcdMember, EtcdSpec } from '../../clusters/etcd/spec.ts'
import { untilAnswering, untilReady } from './wait.ts'
import { applyMachine, needsRestart, removeMachine, sortMachines, type Work } from './work.ts'

/** The first time: all members at once, as etcd wants it. */
export async function formEtcd(work: Work): Promise<void> {
  const { all } = sortMachines(work, 'etcd')
  await Promise.all(all.map((machine) => applyMachine(work, machine)))
  await untilReady(work, 'etcd')
}

export async function changeEtcd(work: Work, spec: EtcdSpec): Promise<void> {
  const { all, stopped, changed, gone } = sortMachines(work, 'etcd')
  const { clients, signal, progress, existing } = work
  await Promise.all(stopped.map((machine) => applyMachine(work, machine)))
  const client = clients.etcd()
  const members = await untilAnswering(work, () => readMembership(spec, client, signal))
  const voters = all.map(({ name }) => name).filter((name) => !members.joining.some((member) => member.name === name))
  for (const machine of changed.filter(({ name }) => voters.includes(name))) {
    // It may be the one that is broken, and this its repair; all others have to stand.
    const others = voters.filter((name) => name !== machine.name)
    if (needsRestart(work, machine)) await untilReady(work, 'etcd', { machines: others })
    await applyMachine(work, machine)
  }
  if (members.joining.length + members.leaving.length > 0) await untilReady(work, 'etcd', { machines: voters })
  for (const member of members.joining) await join(member)
  for (const member of members.leaving) {
    progress({ machine: member.name, state: 'working', message: 'leaving the cluster' })
    await removeMember(client, member, signal)
  }
  for (const machine of gone) await removeMachine(work, machine)
  await untilReady(work, 'etcd')

  async function join(member: EtcdMember): Promise<void> {
    progress({ machine: member.name, state: 'working', message: 'joining as a learner' })
    const { running } = await readMembership(spec, client, signal)
    const hasStarted = running.some(({ address }) => address === member.address)
    // What an interrupted attempt left, or a member that somebody removed, has data that etcd would not start with.
    if (!hasStarted && existing.has(member.name)) await work.target.remove(member.name, { keepData: false })
    await joinMember(client, member, signal)
    await applyMachine(work, work.renderMember(member.name, running))
    await promoteMember(client, member, signal, (message) =>
      progress({ machine: member.name, state: 'working', message }),
    )
  }
}
