// Operating a PostgreSQL cluster through Patroni while it goes on taking writes: replicas before the primary, one
// member at a time, and never below what synchronous replication needs.

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../../lib/errors.ts'
import type { PatroniAccess } from './access.ts'
import { PatroniApi, type PatroniMember } from './patroni-api.ts'
import type { PostgresSpec } from './spec.ts'
import { describeCluster, isStreaming, isSynchronous, leaderOf, lookAt, type Sight } from './status.ts'

const LOOK_MS = 300
const READY_TIMEOUT_MS = 180_000
/** A smaller limit of connections must reach the primary before replicas take it: then these restart twice. */
const ROUNDS = 3

export interface RestartOptions {
  readonly signal: AbortSignal
  readonly onStep: (machine: string, message: string) => void
}

/** The machine of the member that leads. */
export async function primaryOf(patroni: PatroniAccess, signal: AbortSignal): Promise<string | undefined> {
  const leader = leaderOf(await lookAt(patroni, signal))
  return patroni.members.find(({ patroniName }) => patroniName === leader?.name)?.name
}

/** Resolves when another member leads (a synchronous standby where there are some), and the old leader follows it. */
export async function switchover(patroni: PatroniAccess, signal: AbortSignal): Promise<void> {
  await handOver(patroni, leaderIn(await lookAt(patroni, signal)), undefined, signal)
}

/** Restarts PostgreSQL where changed parameters wait for it; each member streams again before it is the next one's turn. */
export async function restartPending(
  spec: PostgresSpec,
  patroni: PatroniAccess,
  { signal, onStep }: RestartOptions,
): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const pending = membersToRestart(patroni, await lookAt(patroni, signal))
    if (pending.length === 0) return
    for (const { name, address } of pending) {
      onStep(name, 'restarting PostgreSQL')
      await new PatroniApi(address, patroni.credentials).restart(signal)
      await untilReady(spec, patroni, signal)
    }
  }
}

/**
 * Makes sure that the cluster can do without the machine, which is stopped next; `spec` is what will be left. Patroni
 * forgets the member by itself.
 */
export async function removeMember(
  spec: PostgresSpec,
  patroni: PatroniAccess,
  machine: { readonly name: string; readonly address: string },
  signal: AbortSignal,
): Promise<void> {
  const sight = await lookAt(patroni, signal)
  const leader = leaderIn(sight)
  const remaining = (sight.members ?? []).filter(({ host }) => host !== machine.address)
  refuseTooFew(spec, machine.name, remaining)
  if (leader.host !== machine.address) return
  // Patroni accepts no other candidate than a synchronous standby where it has some.
  await handOver(patroni, leader, remaining.find(isSynchronous)?.name, signal)
}

function refuseTooFew({ patroni }: PostgresSpec, machine: string, remaining: readonly PatroniMember[]): void {
  const running = remaining.filter(({ state }) => state === 'running' || state === 'streaming').length
  const wanted = patroni.synchronousMode && patroni.synchronousModeStrict ? patroni.synchronousNodeCount + 1 : 1
  if (running >= wanted) return
  throw new HoldfastError(
    'TooFewMembers',
    `Cannot remove "${machine}" from the PostgreSQL cluster: ${running} running members would be left; to commit takes ${wanted}`,
    { hint: 'add members or bring stopped ones back first; or set a smaller synchronous_node_count' },
  )
}

/** Replicas first. */
function membersToRestart({ members }: PatroniAccess, sight: Sight) {
  const leader = leaderOf(sight)?.name
  return members
    .filter(({ patroniName }) => {
      const status = sight.statuses.get(patroniName)
      return typeof status === 'object' && status.pending_restart === true
    })
    .toSorted((a, b) => Number(a.patroniName === leader) - Number(b.patroniName === leader))
}

function leaderIn(sight: Sight): PatroniMember {
  const leader = leaderOf(sight)
  if (leader !== undefined) return leader
  const reason = [...sight.statuses.values()].find((status) => typeof status === 'string')
  throw new HoldfastError(
    'NoPrimary',
    `Cannot operate the PostgreSQL cluster: ${reason ?? 'it has no leader'}; a primary is wanted`,
    { retryable: true },
  )
}

async function handOver(
  patroni: PatroniAccess,
  leader: PatroniMember,
  candidate: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const address = leader.host ?? patroni.members.find(({ patroniName }) => patroniName === leader.name)?.address
  if (address === undefined) return
  await new PatroniApi(address, patroni.credentials).switchover(leader.name, candidate, signal)
  // A Patroni that is stopped while its primary becomes a replica leaves PostgreSQL running.
  await until(signal, async () => {
    const sight = await lookAt(patroni, signal)
    return isStreaming(leader.name, sight) ? undefined : `"${leader.name}" does not follow the new primary`
  })
}

async function untilReady(spec: PostgresSpec, patroni: PatroniAccess, signal: AbortSignal): Promise<void> {
  await until(signal, async () => describeCluster(spec, await lookAt(patroni, signal)).problem)
}

/** Resolves when there is no problem any more. */
async function until(signal: AbortSignal, look: () => Promise<string | undefined>): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS
  for (;;) {
    const problem = await look()
    if (problem === undefined) return
    if (performance.now() > deadline) {
      throw new HoldfastError(
        'PostgresNotReady',
        `Cannot go on with the PostgreSQL cluster: ${problem} after ${READY_TIMEOUT_MS / 1000} s`,
        { hint: '"holdfast status" shows how its members stand, "holdfast logs" what they say', retryable: true },
      )
    }
    await sleep(LOOK_MS, undefined, { signal })
  }
}
