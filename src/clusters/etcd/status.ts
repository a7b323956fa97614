// The status of an etcd cluster: every member is asked at the same time and for itself, so that a dead one delays none.
// Alarms count wherever they are reported and whomever they concern: one stops the writes of the whole cluster.

import type { EtcdClient, Member, Status } from '../../etcd/client.ts'
import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type { ClusterStatus, MemberStatus } from '../member-status.ts'
import { quorumOf } from './cluster.ts'
import type { EtcdMember, EtcdSpec } from './spec.ts'
import { clientUrl } from './urls.ts'

/** Emulated machines take their time for TLS. */
const TIMEOUT_MS = 5000

/** What is asked of a member. */
type Questions = Pick<EtcdClient, 'memberList' | 'status' | 'isAuthEnabled'>

export async function etcdStatus(spec: EtcdSpec, client: Questions, signal: AbortSignal): Promise<ClusterStatus> {
  const [known, ...answers] = await Promise.all([
    client.memberList(soon(signal)).catch(() => undefined),
    ...spec.members.map(({ address }) =>
      client.status(clientUrl(address), signal, { timeoutMs: TIMEOUT_MS }).catch((error: unknown) => problemOf(error)),
    ),
  ])
  signal.throwIfAborted()
  const members = spec.members.map((member, index) => memberStatus(member, answers[index], known))
  const ready = members.filter(({ isReady }) => isReady).length
  const missing = ready < members.length ? `${ready} of ${members.length} members` : undefined
  const blocked =
    blockingProblem(members, alarmsOf(answers)) ??
    (missing === undefined ? await authProblem(client, signal) : undefined)
  return {
    members,
    isReady: blocked === undefined && missing === undefined,
    // A majority takes writes, unless something stops them all.
    isWorking: blocked === undefined && ready >= quorumOf(members.length),
    problem: blocked ?? missing,
  }
}

function soon(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
}

async function authProblem(client: Questions, signal: AbortSignal): Promise<string | undefined> {
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
  if (typeof answer === 'string') return { ...nothing, isReady: false, problem: answer, waitsFor: waitsFor(answer) }
  const problem = ownProblem(answer, known)
  return {
    ...nothing,
    isReady: problem === undefined,
    role: roleOf(answer),
    version: answer.version,
    problem,
    waitsFor: waitsFor(problem),
  }
}

function roleOf({ leader, memberId, isLearner }: Status): string | undefined {
  if (isLearner) return 'learner'
  if (leader === 0n) return undefined
  return leader === memberId ? 'leader' : 'follower'
}

function ownProblem({ leader, memberId, isLearner, errors }: Status, known: readonly Member[] | undefined) {
  if (known !== undefined && !known.some(({ id }) => id === memberId)) return 'not a member of this cluster'
  if (leader === 0n) return NO_LEADER
  if (isLearner) return NOT_PROMOTED
  const alarm = errors.map(parseAlarm).find((each) => each?.memberId === String(memberId))
  return alarm && `alarm ${alarm.kind}`
}

interface Alarm {
  /** Undefined where it concerns the cluster as a whole. */
  readonly memberId: string | undefined
  /** `NOSPACE`, `CORRUPT` */
  readonly kind: string
}

/** As a member reports it in its status: `memberID:1234 alarm:NOSPACE `, without the first part where no member is named. */
function parseAlarm(error: string): Alarm | undefined {
  const found = /^(?:memberID:(?<memberId>\d+) +)?alarm:(?<kind>\w+)/u.exec(error)?.groups
  return found && { memberId: found.memberId, kind: found.kind }
}

/** Every member reports those of all. */
function alarmsOf(answers: readonly (Status | string)[]): readonly Alarm[] {
  return answers.flatMap((answer) =>
    typeof answer === 'string' ? [] : answer.errors.map(parseAlarm).filter((alarm) => alarm !== undefined),
  )
}

/** What stops all writes, however many members are ready. */
function blockingProblem(members: readonly MemberStatus[], [alarm]: readonly Alarm[]): string | undefined {
  if (!members.some(({ role }) => role === 'leader' || role === 'follower')) return NO_LEADER
  return alarm && `alarm ${alarm.kind}`
}

const NO_LEADER = 'no leader'
const NOT_REACHABLE = 'not reachable'
const NO_ANSWER = 'no answer'
const NOT_PROMOTED = 'not promoted yet'

const WAITS: Readonly<Record<string, string>> = {
  [NO_LEADER]: 'a leader',
  [NOT_REACHABLE]: 'etcd to start',
  [NO_ANSWER]: 'etcd to start',
  [NOT_PROMOTED]: 'its promotion',
}

function waitsFor(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : WAITS[problem]
}

/** In a few words. */
function problemOf(error: unknown): string {
  const { code } = error instanceof HoldfastError ? error : { code: '' }
  if (code === 'EtcdUnreachable') return /has no leader/u.test(messageOf(error)) ? NO_LEADER : NOT_REACHABLE
  if (code === 'EtcdTimeout') return NO_ANSWER
  if (code === 'EtcdUntrusted') return 'its certificate is not trusted'
  if (code === 'EtcdWrongPassword') return 'it refuses the password of root'
  if (code === 'FileUnreadable')
    return 'the client certificates of the stack are missing; "holdfast up" writes them again'
  return messageOf(error)
}
