// The status of a PostgreSQL cluster: what Patroni has in etcd says who leads and who is synchronous; the members
// themselves say what they do right now.

import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type { ClusterStatus, MemberStatus } from '../member-status.ts'
import { reachProblem } from '../../lib/reach-problem.ts'
import type { PatroniAccess } from './access.ts'
import { PatroniApi, type PatroniMember, type PatroniStatus } from './patroni-api.ts'
import type { PostgresSpec } from './spec.ts'

const NO_LEADER = 'no leader to follow'
const PROMOTING = 'being promoted'
const NOT_STREAMING = 'not streaming'
const REWIND_FAILED = 'pg_rewind failed, the data is to be replaced'

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

/** Why a question to Patroni failed; throws if the signal is the reason. */
export function failure(error: unknown, signal: AbortSignal): string {
  signal.throwIfAborted()
  if (error instanceof HoldfastError && error.code === 'PatroniRefused')
    return 'Patroni answers with an error; its log says more'
  if (!(error instanceof HoldfastError) || error.code !== 'PatroniUnreachable') return messageOf(error)
  return `Patroni does not answer: ${reachProblem(error.cause) ?? 'it cannot be asked with the certificates of the stack'}`
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
  // A strict primary without a standby takes no writes.
  const isLed = members.some(({ role, isReady }) => role === 'primary' && isReady)
  const isWorking = isLed && (standbys > 0 || !(patroni.synchronousMode && patroni.synchronousModeStrict))
  return { members, isReady: problem === undefined, isWorking, problem }
}

function standbyProblem(standbys: number, wanted: number): string {
  return standbys === 0 ? 'no synchronous standby' : `${standbys} of ${wanted} synchronous standbys`
}

function describeMember(machine: string, name: string, sight: Sight): MemberStatus {
  const known = sight.members?.find((member) => member.name === name)
  const status = sight.statuses.get(name)
  const role = known === undefined ? undefined : roleOf(known)
  if (status === undefined || typeof status === 'string')
    return {
      ...{ machine, isReady: false, role, version: undefined, lagBytes: undefined },
      ...{ problem: status ?? 'not asked', waitsFor: 'Patroni to start' },
    }
  const problem = problemOf(name, status, sight)
  return {
    machine,
    isReady: problem === undefined,
    role,
    version: status.server_version === undefined ? undefined : versionOf(status.server_version),
    lagBytes: lagOf(name, status, sight),
    problem: problem ?? remarkOn(status),
    waitsFor: problem === undefined ? undefined : WAITS[problem],
  }
}

/** States of Patroni and our own words, where a start goes through them. */
const WAITS: Readonly<Record<string, string>> = {
  stopped: 'PostgreSQL to start',
  starting: 'PostgreSQL to start',
  unknown: 'PostgreSQL to start',
  'initializing new cluster': 'the new cluster to be initialized',
  'running custom bootstrap script': 'the new cluster to be initialized',
  'creating replica': 'its copy of the data',
  [NO_LEADER]: 'a leader',
  [PROMOTING]: 'its promotion',
  [NOT_STREAMING]: 'replication to start',
  [REWIND_FAILED]: 'a copy of the data of the primary',
}

/** Of a member that is ready all the same. */
function remarkOn({ pending_restart, data_kept_aside }: PatroniStatus): string | undefined {
  if (pending_restart === true) return 'restart pending'
  return data_kept_aside === undefined ? undefined : `replaced data is kept in ${data_kept_aside}`
}

function roleOf(member: PatroniMember): string {
  return member.role === 'leader' ? 'primary' : isSynchronous(member) ? 'sync standby' : 'replica'
}

function problemOf(name: string, status: PatroniStatus, sight: Sight): string | undefined {
  if (status.rewind_failed === true) return REWIND_FAILED
  if (status.state !== 'running' && status.state !== 'streaming') return status.state
  const leader = leaderOf(sight)?.name
  if (leader === undefined) return NO_LEADER
  if (leader === name) return isPrimary(status) ? undefined : PROMOTING
  return isStreaming(name, sight) ? undefined : NOT_STREAMING
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
