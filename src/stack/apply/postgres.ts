// Brings a PostgreSQL cluster to its new shape while it keeps taking writes: replicas before the primary, one at a time, and
// the primary hands over before it restarts or leaves.

import { primaryOf, removeMember, restartPending, switchover } from '../../clusters/postgres/cluster.ts'
import { readIdentity } from '../../clusters/postgres/check-identity.ts'
import { copyAgain } from '../../clusters/postgres/unusable-data.ts'
import { prefixEnd } from '../../etcd/client.ts'
import { HoldfastError } from '../../lib/errors.ts'
import type { Machine } from '../../machine/machine.ts'
import type { ExistingMachine } from '../../targets/target.ts'
import { allOrFirstFailure } from '../all-or-first-failure.ts'
import { repeatSteps, untilReady } from './wait.ts'
import {
  applyAll,
  applyMachine,
  discardMachine,
  interrupted,
  needsRestart,
  reloadMachine,
  removeMachine,
  type Sorted,
  sortMachines,
  type Work,
} from './work.ts'

export async function applyPostgres(work: Work): Promise<void> {
  const sorted = sortMachines(work, 'postgres')
  const { all, created, stopped, changed, replaced, standing, gone } = await unbornFirst(work, sorted)
  const { stack, target, clients, progress, signal } = work
  if (stack.postgres === undefined) {
    for (const machine of gone) await removeMachine(work, machine)
    await forgetClusters(work, gone)
    return
  }
  const patroni = clients.patroni()
  const isRunning = created.length + stopped.length + standing.length < all.length
  // Whoever is to be made anew is only needed where nobody else has the data.
  const needed = isRunning ? [] : standing
  // Should this be cut short, whoever is started again has the same passwords as the others.
  for (const machine of changed) await target.write(machine)
  for (const machine of changed) await repeatSteps(work, machine)
  // Whoever follows another primary on the way needs what is new, and before it is restarted.
  for (const machine of changed.filter((each) => needsRestart(work, each))) await reloadMachine(work, machine)
  for (const machine of changed.filter((each) => !needsRestart(work, each))) await applyMachine(work, machine)
  await allOrFirstFailure(
    created.filter((machine) => work.existing.has(machine.name)).map((machine) => discardMachine(work, machine)),
  )
  await applyAll(work, [...created, ...stopped, ...needed])
  for (const machine of changed.filter((each) => hasUnusableData(work, each))) {
    progress({ machine: machine.name, state: 'working', message: 'copying the data of the primary' })
    await copyAgain(patroni, machine, signal)
  }
  const restarted = isRunning ? changed.filter((machine) => needsRestart(work, machine)) : []
  for (const machine of await replicasFirst(restarted)) await restart(machine)
  const broken = standing.filter((machine) => !needed.includes(machine))
  await untilReady(work, 'postgres', { machines: all.filter((each) => !broken.includes(each)).map(({ name }) => name) })
  const later = await replicasFirst(replaced.filter((machine) => !broken.includes(machine)))
  for (const [index, machine] of broken.entries()) await replace(machine, broken.slice(index + 1))
  for (const machine of later) await replace(machine, [])
  await untilReady(work, 'postgres')
  await restartPending(stack.postgres, patroni, {
    ...{ signal, password: clients.postgresPassword() },
    // A cluster that did not run is interrupted by nothing.
    ...(isRunning && { planned: work.restarts.machines, foreign: work.restarts.foreign }),
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

  async function restart(machine: Machine): Promise<void> {
    // It may be the one that is broken, and this its repair; all others have to stand.
    const others = all.filter((each) => !created.includes(each) && each !== machine).map(({ name }) => name)
    await untilReady(work, 'postgres', { machines: others })
    if (all.length > 1 && (await primaryOf(patroni, signal)) === machine.name) await handOver(machine)
    await applyMachine(work, machine)
    await untilReady(work, 'postgres', { machines: [machine.name] })
  }

  /** It gets its data from the others, of which one has to lead. Others that do not run wait for the same. */
  async function replace(machine: Machine, waiting: readonly Machine[]): Promise<void> {
    const others = all.filter((each) => each !== machine && !waiting.includes(each))
    // The one before it streams by now, and may still have to become the standby that commits wait for.
    if (broken.includes(machine)) await untilReady(work, 'postgres', { machines: others.map(({ name }) => name) })
    else await untilReady(work, 'postgres')
    if (all.length > 1) {
      if ((await primaryOf(patroni, signal)) === machine.name) await handOver(machine)
      const primary = await primaryOf(patroni, signal)
      if (primary === undefined || primary === machine.name)
        throw new HoldfastError('NoPrimary', `Cannot make "${machine.name}" anew: no other member leads`, {
          retryable: true,
        })
    }
    await discardMachine(work, machine)
    await applyMachine(work, machine)
    await untilReady(work, 'postgres', { machines: [machine.name] })
  }

  async function handOver({ name }: Machine): Promise<void> {
    progress({ machine: name, state: 'working', message: 'handing over to another member' })
    await switchover(patroni, name, signal)
  }
}

/**
 * What never came up has nothing that the others would have to get first: it is made anew as if it had not been there. Where one of them
 * leads, they did come up, only that nobody saw it.
 */
async function unbornFirst({ existing, clients, signal }: Work, sorted: Sorted): Promise<Sorted> {
  const unborn = sorted.replaced.filter(({ name }) => existing.get(name)?.isUnborn === true)
  if (unborn.length === 0) return sorted
  const primary = await primaryOf(clients.patroni(), signal).catch(() => undefined)
  if (signal.aborted) throw interrupted()
  const isBorn = (machine: Machine) => !unborn.includes(machine)
  if (unborn.some(({ name }) => name === primary)) {
    if (sorted.all.length > 1) return sorted
    throw new HoldfastError(
      'ReplaceLosesData',
      `Cannot make "${primary}" anew: it has come up by now, and is the only machine with the data of postgres`,
      {
        hint: 'undo the change that makes it necessary, and run "up"; then another machine beside it can take its data',
      },
    )
  }
  return {
    ...sorted,
    created: [...sorted.created, ...unborn],
    replaced: sorted.replaced.filter(isBorn),
    standing: sorted.standing.filter(isBorn),
  }
}

function hasUnusableData({ plans }: Work, { name }: Machine): boolean {
  return plans.get(name)?.details.some(({ reason }) => reason === 'unusable') ?? false
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
