// Bringing a PostgreSQL cluster to its new shape while it goes on taking writes: replicas before the primary, one at a
// time, and the primary hands over before it is restarted or leaves.

import { primaryOf, removeMember, restartPending, switchover } from '../../clusters/postgres/cluster.ts'
import { readIdentity } from '../../clusters/postgres/check-identity.ts'
import { prefixEnd } from '../../etcd/client.ts'
import type { Machine } from '../../machine/machine.ts'
import type { ExistingMachine } from '../../targets/target.ts'
import { repeatSteps, untilReady } from './wait.ts'
import {
  applyMachine,
  discardMachine,
  needsRestart,
  reloadMachine,
  removeMachine,
  sortMachines,
  type Work,
} from './work.ts'

export async function applyPostgres(work: Work): Promise<void> {
  const { all, created, stopped, changed, replaced, gone } = sortMachines(work, 'postgres')
  const { stack, target, clients, progress, signal } = work
  if (stack.postgres === undefined) {
    for (const machine of gone) await removeMachine(work, machine)
    await forgetClusters(work, gone)
    return
  }
  const patroni = clients.patroni()
  const isRunning = created.length + stopped.length < all.length
  // Should this be cut short, whoever is started again has the same passwords as the others.
  for (const machine of changed) await target.write(machine)
  for (const machine of changed) await repeatSteps(work, machine)
  // Whoever follows another primary on the way needs what is new, and before it is restarted.
  for (const machine of changed.filter((each) => needsRestart(work, each))) await reloadMachine(work, machine)
  for (const machine of changed.filter((each) => !needsRestart(work, each))) await applyMachine(work, machine)
  await Promise.all([...created, ...stopped].map((machine) => applyMachine(work, machine)))
  if (isRunning) {
    const restarted = changed.filter((machine) => needsRestart(work, machine))
    for (const machine of await replicasFirst(restarted)) await inTurn(machine, () => applyMachine(work, machine))
    for (const machine of await replicasFirst(replaced))
      await inTurn(machine, async () => {
        await discardMachine(work, machine)
        await applyMachine(work, machine)
      })
  }
  await untilReady(work, 'postgres')
  // Restarts that somebody else left pending are not ours to do, unless it was us, in a run that was cut short.
  if (work.isResumed || all.some(({ name }) => work.plans.get(name)?.action !== 'none'))
    await restartPending(stack.postgres, patroni, {
      signal,
      onStep: (machine, message) => progress({ machine, state: 'working', message }),
    })
  for (const machine of gone) {
    progress({ machine: machine.name, state: 'working', message: 'leaving the cluster' })
    await removeMember(stack.postgres, patroni, machine, signal)
    await removeMachine(work, machine)
  }
  await untilReady(work, 'postgres')

  async function replicasFirst(waiting: readonly Machine[]): Promise<Machine[]> {
    if (waiting.length === 0) return []
    const primary = await primaryOf(patroni, signal)
    return waiting.toSorted((a, b) => Number(a.name === primary) - Number(b.name === primary))
  }

  /** Each is back before the next one's turn, and none is the primary in its own. */
  async function inTurn(machine: Machine, act: () => Promise<void>): Promise<void> {
    // It may be the one that is broken, and this its repair; all others have to stand.
    const others = all.filter((each) => !created.includes(each) && each !== machine).map(({ name }) => name)
    await untilReady(work, 'postgres', { machines: others })
    if (all.length > 1 && (await primaryOf(patroni, signal)) === machine.name) {
      progress({ machine: machine.name, state: 'working', message: 'handing over to another member' })
      await switchover(patroni, signal)
    }
    await act()
    await untilReady(work, 'postgres', { machines: [machine.name] })
  }
}

/** What Patroni kept in etcd about clusters that are gone: a new one of that name would wait for its members for ever. */
async function forgetClusters({ stack, clients, signal }: Work, gone: readonly ExistingMachine[]): Promise<void> {
  if (stack.etcd === undefined) return
  const prefixes = gone.flatMap(({ files }) => {
    const { namespace, scope } = readIdentity(files) ?? {}
    return namespace === undefined || scope === undefined ? [] : [`${namespace}${scope}/`]
  })
  for (const prefix of new Set(prefixes)) {
    const key = Buffer.from(prefix)
    await clients.etcd().delete(key, { rangeEnd: prefixEnd(key) }, signal)
  }
}
