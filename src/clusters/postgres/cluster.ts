// Operating a PostgreSQL cluster through Patroni while it keeps taking writes: replicas before the primary, one
// member at a time, and never below what synchronous replication needs.

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../../lib/errors.ts'
import type { Secret } from '../../lib/secret.ts'
import type { PatroniAccess } from './access.ts'
import { canSwitchOver, type PostgresFacts, readFacts } from './facts.ts'
import { type MemberChanges, orderRestarts, type PlannedRestart } from './parameters/order-restarts.ts'
import { changesOf } from './parameters/parameter-changes.ts'
import type { ServerSetting } from './parameters/server-setting.ts'
import { PatroniApi, type PatroniMember } from './patroni-api.ts'
import type { PostgresSpec } from './spec.ts'
import { describeCluster, failure, isStreaming, isSynchronous, leaderOf, lookAt, type Sight } from './status.ts'

const LOOK_MS = 300
const READY_TIMEOUT_MS = 180_000
/** Of one member: for larger limits before the primary, and for smaller ones after it; or by a switchover, and once more. */
const MOST_RESTARTS = 2

export interface RestartOptions {
  readonly signal: AbortSignal
  /** Of the role that Patroni has. */
  readonly password: Secret
  /** Machines that may restart; all of them unless given. */
  readonly planned?: ReadonlySet<string>
  /** Machines whose pending restarts are left alone. */
  readonly foreign?: ReadonlySet<string>
  readonly onStep: (machine: string, message: string) => void
}

/** The machine of the member that leads. */
export async function primaryOf(patroni: PatroniAccess, signal: AbortSignal): Promise<string | undefined> {
  const leader = leaderOf(await lookAt(patroni, signal))
  return patroni.members.find(({ patroniName }) => patroniName === leader?.name)?.name
}

/** Resolves when another member than that of the machine leads (a synchronous standby where there are some), and the old leader follows it. */
export async function switchover(patroni: PatroniAccess, machine: string, signal: AbortSignal): Promise<void> {
  const own = patroni.members.find(({ name }) => name === machine)?.patroniName
  await handOver(patroni, ({ name }) => name === own, signal)
}

/** Patroni is asked whether it needs a synchronous standby, where it has none. */
async function takeoverProblem(
  { credentials }: PatroniAccess,
  address: string,
  sight: Sight,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!canSwitchOver(sight)) return 'no standby can take over'
  if (sight.members?.some(isSynchronous)) return undefined
  const config = await new PatroniApi(address, credentials)
    .config(signal)
    .catch((error: unknown) => failure(error, signal))
  if (typeof config === 'string') return config
  return config.synchronous_mode === true ? 'no standby can take over' : undefined
}

/**
 * Restarts PostgreSQL where changed parameters wait for it. Before each step the cluster is asked again, so that a failover on the way
 * changes the order and nothing else; each member streams again before it is the next one's turn.
 */
export async function restartPending(
  spec: PostgresSpec,
  patroni: PatroniAccess,
  { signal, password, planned, foreign, onStep }: RestartOptions,
): Promise<void> {
  const counts = new Map<string, number>()
  for (;;) {
    const facts = await readFacts(patroni, password, signal)
    const waiting = pendingChanges(facts).filter(({ machine }) => planned?.has(machine) || !foreign?.has(machine))
    const unplanned = waiting.filter(({ machine }) => planned?.has(machine) === false)
    if (unplanned.length > 0) throw restartUnplanned(unplanned)
    const [next] = orderRestarts(waiting, facts)
    if (next === undefined) return
    const count = counts.get(next.machine) ?? 0
    if (count === MOST_RESTARTS) throw stillPending(next)
    counts.set(next.machine, count + 1)
    if (next.how === 'switchover') {
      onStep(next.machine, 'handing over to another member, to restart PostgreSQL')
      // Its PostgreSQL restarts as a standby; should anything still wait for a restart, it is restarted as one.
      await switchover(patroni, next.machine, signal)
    } else {
      onStep(next.machine, 'restarting PostgreSQL')
      await new PatroniApi(addressOf(patroni, next.machine), patroni.credentials).restart(signal)
    }
    await untilReady(spec, patroni, signal)
  }
}

/** Patroni reports which members wait; their servers say for what. */
function pendingChanges({ pending, servers, shared }: PostgresFacts): MemberChanges[] {
  return [...pending].map((machine) => {
    const settings = servers.get(machine) ?? new Map<string, ServerSetting>()
    const named = [...settings.values()]
      .filter(({ isPending }) => isPending)
      .map(({ name }) => [name, undefined] as const)
    const set = Object.entries(shared ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
    return { machine, changes: changesOf(settings, new Map([...named, ...set])), isPending: true }
  })
}

function addressOf({ members }: PatroniAccess, machine: string): string {
  const member = members.find(({ name }) => name === machine)
  if (member === undefined) throw new Error(`no member ${machine}`)
  return member.address
}

function restartUnplanned(members: readonly MemberChanges[]): HoldfastError {
  const names = members.map(({ machine, changes }) => {
    const parameters = changes.map(({ name }) => name).join(', ')
    return parameters === '' ? machine : `${machine} (${parameters})`
  })
  return new HoldfastError(
    'RestartUnplanned',
    `Cannot finish the change of PostgreSQL: a restart is pending that the plan did not have: ${names.join(', ')}; expected a plan that has it`,
    { hint: 'run "holdfast plan" to see it, and "holdfast up" to restart', retryable: true },
  )
}

function stillPending({ machine, parameters }: PlannedRestart): HoldfastError {
  return new HoldfastError(
    'PostgresNotReady',
    `Cannot apply the parameters ${parameters.join(', ')} on "${machine}": PostgreSQL still waits for a restart after ${MOST_RESTARTS} of them`,
    { hint: `"holdfast logs ${machine}" shows what Patroni and PostgreSQL report` },
  )
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
  const isLeaving = ({ host }: PatroniMember) => host === machine.address
  await until(signal, async () => {
    const sight = await lookAt(patroni, signal)
    if (leaderOf(sight) === undefined) return noLeader(sight)
    const remaining = (sight.members ?? []).filter((member) => !isLeaving(member))
    refuseTooFew(spec, machine.name, remaining)
    return undefined
  })
  await handOver(patroni, isLeaving, signal)
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

function noLeader({ statuses }: Sight): string {
  return [...statuses.values()].find((status) => typeof status === 'string') ?? 'no leader'
}

/** Has the leader hand over if it is the member that `isOwn` accepts; after a failover there may be nothing left to hand over. */
async function handOver(
  patroni: PatroniAccess,
  isOwn: (member: PatroniMember) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const own = await ownLeader(patroni, isOwn, signal)
  if (own === undefined) return
  await new PatroniApi(own.address, patroni.credentials).switchover(own.name, undefined, signal)
  // A Patroni that is stopped while its primary becomes a replica leaves PostgreSQL running.
  await until(signal, async () => {
    const sight = await lookAt(patroni, signal)
    return isStreaming(own.name, sight) ? undefined : `"${own.name}" does not follow the new primary`
  })
}

/**
 * Resolves with the leader once another member can take over from it; with undefined once a member leads that `isOwn` does not accept.
 * A standby that was restarted streams before Patroni counts it as synchronous, and Patroni hands over to no other.
 */
async function ownLeader(
  patroni: PatroniAccess,
  isOwn: (member: PatroniMember) => boolean,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly address: string } | undefined> {
  let own: { readonly name: string; readonly address: string } | undefined
  await until(signal, async () => {
    own = undefined
    const sight = await lookAt(patroni, signal)
    const leader = leaderOf(sight)
    if (leader === undefined) return noLeader(sight)
    const known = patroni.members.find(({ patroniName }) => patroniName === leader.name)
    const address = leader.host ?? known?.address
    if (!isOwn(leader) || address === undefined) return undefined
    own = { name: leader.name, address }
    if (known !== undefined) return takeoverProblem(patroni, address, sight, signal)
    // A member that leaves is not in the stack file any more; only the leader itself reports which members stream.
    const members = [...patroni.members, { name: leader.name, patroniName: leader.name, address }]
    return takeoverProblem(patroni, address, await lookAt({ ...patroni, members }, signal), signal)
  })
  return own
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
        `Cannot continue with the PostgreSQL cluster: ${problem} after ${READY_TIMEOUT_MS / 1000} s`,
        { hint: '"holdfast status" shows the state of its members, "holdfast logs" their logs', retryable: true },
      )
    }
    await sleep(LOOK_MS, undefined, { signal })
  }
}
