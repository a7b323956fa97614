// How a PostgreSQL cluster stands: what Patroni has in etcd says who leads and who is synchronous; the members
// themselves say what they do right now.

import { messageOf } from '../../lib/errors.ts'
import type { ClusterStatus, MemberStatus } from '../member-status.ts'
import type { PatroniAccess } from './access.ts'
import { PatroniApi, type PatroniMember, type PatroniStatus } from './patroni-api.ts'
import type { PostgresSpec } from './spec.ts'

/** All that can be seen of a cluster at one time. */
export interface Sight {
  /** As etcd has them; undefined when no member can tell. */
  readonly members: readonly PatroniMember[] | undefined
  /** By Patroni's names; a text is the reason why there is none. */
  readonly statuses: ReadonlyMap<string, PatroniStatus | string>
}

export async function postgresStatus(
  spec: PostgresSpec,
  patroni: PatroniAccess,
  signal: AbortSignal,
): Promise<ClusterStatus> {
  return describeCluster(spec, await lookAt(patroni, signal))
}

export async function lookAt({ members, credentials }: PatroniAccess, signal: AbortSignal): Promise<Sight> {
  const answers = await Promise.all(
    members.map(async ({ patroniName, address }) => {
      const api = new PatroniApi(address, credentials)
      const status = await api.status(signal).catch((error: unknown) => failure(error, signal))
      return { patroniName, api, status }
    }),
  )
  return {
    members: await firstAnswer(answers.filter(({ status }) => typeof status !== 'string').map(({ api }) => api)),
    statuses: new Map(answers.map(({ patroniName, status }) => [patroniName, status])),
  }

  async function firstAnswer(apis: readonly PatroniApi[]): Promise<readonly PatroniMember[] | undefined> {
    for (const api of apis) {
      const found = await api.members(signal).catch((error: unknown) => failure(error, signal))
      if (typeof found !== 'string') return found
    }
    return undefined
  }
}

function failure(error: unknown, signal: AbortSignal): string {
  signal.throwIfAborted()
  return messageOf(error)
}

export function leaderOf({ members }: Pick<Sight, 'members'>): PatroniMember | undefined {
  return members?.find(({ role }) => role === 'leader')
}

export function isSynchronous({ role }: PatroniMember): boolean {
  return role === 'sync_standby' || role === 'quorum_standby'
}

/** Pure. */
export function describeCluster({ members: specs, patroni }: PostgresSpec, sight: Sight): ClusterStatus {
  const leader = leaderOf(sight)
  const members = specs.map(({ name, patroniName }) => describeMember(name, patroniName, sight))
  const standbys = sight.members?.filter(isSynchronous).length ?? 0
  const wanted = patroni.synchronousMode ? patroni.synchronousNodeCount : 0
  const ready = members.filter(({ isReady }) => isReady).length
  const problem =
    leader === undefined
      ? 'no leader'
      : standbys < wanted
        ? standbyProblem(standbys, wanted)
        : ready < members.length
          ? `${ready} of ${members.length} members`
          : undefined
  return { members, isReady: problem === undefined, problem }
}

function standbyProblem(standbys: number, wanted: number): string {
  return standbys === 0 ? 'no synchronous standby' : `${standbys} of ${wanted} synchronous standbys`
}

function describeMember(machine: string, name: string, sight: Sight): MemberStatus {
  const known = sight.members?.find((member) => member.name === name)
  const status = sight.statuses.get(name)
  const role = known === undefined ? undefined : roleOf(known)
  if (status === undefined || typeof status === 'string')
    return { machine, isReady: false, role, version: undefined, lagBytes: undefined, problem: status ?? 'not asked' }
  const problem = problemOf(name, status, sight)
  return {
    machine,
    isReady: problem === undefined,
    role,
    version: status.server_version === undefined ? undefined : versionOf(status.server_version),
    lagBytes: lagOf(name, status, sight),
    problem: problem ?? (status.pending_restart ? 'restart pending' : undefined),
  }
}

function roleOf(member: PatroniMember): string {
  return member.role === 'leader' ? 'primary' : isSynchronous(member) ? 'sync standby' : 'replica'
}

function problemOf(name: string, status: PatroniStatus, sight: Sight): string | undefined {
  if (status.state !== 'running' && status.state !== 'streaming') return status.state
  const leader = leaderOf(sight)?.name
  if (leader === undefined) return 'no leader to follow'
  if (leader === name) return isPrimary(status) ? undefined : 'being promoted'
  return isStreaming(name, sight) ? undefined : 'not streaming'
}

/** The leader says so. */
export function isStreaming(name: string, sight: Sight): boolean {
  const followers = leaderStatus(sight)?.replication ?? []
  return followers.some(({ application_name, state }) => application_name === name && state === 'streaming')
}

function leaderStatus(sight: Sight): PatroniStatus | undefined {
  const status = sight.statuses.get(leaderOf(sight)?.name ?? '')
  return typeof status === 'string' ? undefined : status
}

function isPrimary({ role }: PatroniStatus): boolean {
  return role === 'master' || role === 'primary'
}

function lagOf(name: string, status: PatroniStatus, sight: Sight): number | undefined {
  const written = leaderStatus(sight)?.xlog?.location
  const replayed = status.xlog?.replayed_location
  if (leaderOf(sight)?.name === name || written === undefined || replayed === undefined) return undefined
  // Asked a moment later, it may have what the leader wrote since.
  return Math.max(0, written - replayed)
}

/** 150018 is 15.18. */
function versionOf(number: number): string {
  return `${Math.floor(number / 10_000)}.${number % 10_000}`
}
