// How an etcd cluster stands: every member is asked at the same time and for itself, so that a dead one holds up nobody.

import type { EtcdClient, Member, Status } from '../../etcd/client.ts'
import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type { ClusterStatus, MemberStatus } from '../member-status.ts'
import { quorumOf } from './cluster.ts'
import type { EtcdMember, EtcdSpec } from './spec.ts'
import { clientUrl } from './urls.ts'

/** Emulated machines take their time for TLS. */
const TIMEOUT_MS = 5000

export async function etcdStatus(spec: EtcdSpec, client: EtcdClient, signal: AbortSignal): Promise<ClusterStatus> {
  const [known, ...answers] = await Promise.all([
    client.memberList(soon(signal)).catch(() => undefined),
    ...spec.members.map(({ address }) =>
      client.status(clientUrl(address), signal, { timeoutMs: TIMEOUT_MS }).catch((error: unknown) => problemOf(error)),
    ),
  ])
  signal.throwIfAborted()
  const members = spec.members.map((member, index) => memberStatus(member, answers[index], known))
  const problem = clusterProblem(members) ?? (await authProblem(client, signal))
  return { members, isReady: problem === undefined, problem }
}

function soon(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
}

async function authProblem(client: EtcdClient, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await client.isAuthEnabled(soon(signal))) ? undefined : 'authentication is not enabled yet'
  } catch (error) {
    signal.throwIfAborted()
    return problemOf(error)
  }
}

/** Whether a member may be stopped for a moment. Of one or two members, each is needed: then it may when the other is up. */
export function canRestart({ members }: ClusterStatus, machine: string): boolean {
  const voters = members.filter(({ role }) => role !== 'learner')
  const stopped = voters.find((member) => member.machine === machine)
  // It takes nothing away from the others.
  if (stopped?.isReady !== true) return true
  const others = voters.filter((member) => member !== stopped && member.isReady)
  return others.length >= Math.min(quorumOf(voters.length), voters.length - 1)
}

function memberStatus(
  { name }: EtcdMember,
  answer: Status | string,
  known: readonly Member[] | undefined,
): MemberStatus {
  const nothing = { machine: name, role: undefined, version: undefined, lagBytes: undefined }
  if (typeof answer === 'string') return { ...nothing, isReady: false, problem: answer }
  const problem = ownProblem(answer, known)
  return { ...nothing, isReady: problem === undefined, role: roleOf(answer), version: answer.version, problem }
}

function roleOf({ leader, memberId, isLearner }: Status): string | undefined {
  if (isLearner) return 'learner'
  if (leader === 0n) return undefined
  return leader === memberId ? 'leader' : 'follower'
}

function ownProblem({ leader, memberId, isLearner, errors }: Status, known: readonly Member[] | undefined) {
  if (known !== undefined && !known.some(({ id }) => id === memberId)) return 'not a member of this cluster'
  if (leader === 0n) return NO_LEADER
  if (isLearner) return 'not promoted yet'
  // Every member tells the alarms of all: `memberID:1234 alarm:NOSPACE `.
  const alarms = errors.map((error) => /^memberID:(\d+) alarm:(\w+)/u.exec(error))
  const alarm = alarms.find((match) => match?.[1] === String(memberId))?.[2]
  return alarm === undefined ? undefined : `alarm ${alarm}`
}

function clusterProblem(members: readonly MemberStatus[]): string | undefined {
  if (!members.some(({ role }) => role === 'leader' || role === 'follower')) return NO_LEADER
  const alarm = members.find(({ problem }) => problem?.startsWith('alarm '))?.problem
  if (alarm !== undefined) return alarm
  const ready = members.filter(({ isReady }) => isReady).length
  return ready < members.length ? `${ready} of ${members.length} members` : undefined
}

const NO_LEADER = 'no leader'

/** In a few words. */
function problemOf(error: unknown): string {
  const { code } = error instanceof HoldfastError ? error : { code: '' }
  if (code === 'EtcdUnreachable') return /has no leader/u.test(messageOf(error)) ? NO_LEADER : 'not reachable'
  if (code === 'EtcdTimeout') return 'no answer'
  if (code === 'EtcdUntrusted') return 'its certificate is not trusted'
  if (code === 'EtcdWrongPassword') return 'it refuses the password of root'
  return messageOf(error)
}
