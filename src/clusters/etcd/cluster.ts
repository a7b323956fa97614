// Operating an etcd cluster: who belongs to it, and how members come and go without it losing quorum. What the cluster
// itself says about its members decides, so whatever was interrupted is taken up again by doing the same once more:
//
//   joinMember ──▶ (learner, no name) ──start──▶ (learner) ──promoteMember──▶ (member with a vote) ──removeMember──▶ gone
//
// The client needs the endpoints of all members, also of those that leave.

import type { EtcdClient, Member, Status } from '../../etcd/client.ts'
import { HoldfastError } from '../../lib/errors.ts'
import { insist } from './insist.ts'
import type { MemberPlace } from './settings.ts'
import type { EtcdMember, EtcdSpec } from './spec.ts'
import { peerUrl } from './urls.ts'

/** A cluster that has just changed refuses the next change for five seconds. */
const CHANGE_TIMEOUT_MS = 60_000
/** Catching up takes as long as it takes to copy the data. */
const PROMOTE_TIMEOUT_MS = 300_000
const HEALTH_TIMEOUT_MS = 5000
const FIRST_START = 'waiting for its first start'

/** What operating a cluster takes. */
export type EtcdOperator = Pick<
  EtcdClient,
  'range' | 'status' | 'memberList' | 'memberAdd' | 'memberPromote' | 'memberRemove' | 'moveLeader'
>

export interface Membership {
  /** Members that have started, with or without a vote, whether the stack file has them or not. */
  readonly running: readonly MemberPlace[]
  /** Addresses of learners that were added and have not started yet. */
  readonly awaited: readonly string[]
  /** Members of the stack file that have no vote yet: to be joined, started and promoted, in this order. */
  readonly joining: readonly EtcdMember[]
  /** Members that the stack file does not have, those that never started first: to be removed. */
  readonly leaving: readonly MemberPlace[]
}

export async function readMembership(spec: EtcdSpec, client: EtcdOperator, signal: AbortSignal): Promise<Membership> {
  // Data is removed by what is told here: nothing is, without a leader.
  await readThroughLeader(client, signal)
  const members = await client.memberList(signal)
  const find = ({ address }: MemberPlace) => members.find(isAt(address))
  const isUnknown = (member: Member) => !spec.members.some(({ address }) => isAt(address)(member))
  return {
    running: members.filter(hasStarted).map(placeOf),
    awaited: members.filter((member) => !hasStarted(member)).map((member) => placeOf(member).address),
    joining: spec.members
      .filter((member) => find(member)?.isLearner ?? true)
      // There is room for one learner: it has to be promoted before another one can come.
      .toSorted((a, b) => Number(find(b) !== undefined) - Number(find(a) !== undefined)),
    leaving: members
      .filter(isUnknown)
      .toSorted((a, b) => Number(hasStarted(a)) - Number(hasStarted(b)))
      .map(placeOf),
  }
}

/** Makes it known to the cluster, as a learner. To be done before it starts for the first time. */
export async function joinMember(client: EtcdOperator, machine: MemberPlace, signal: AbortSignal): Promise<void> {
  const attempt = async () => {
    const members = await listMembers(client, signal)
    if (members.some(isAt(machine.address))) return
    // Left by an attempt that was interrupted and then given up. It would take the place of this one.
    for (const left of members.filter((member) => member.isLearner && !hasStarted(member)))
      await client.memberRemove(left.id, signal)
    await client.memberAdd([peerUrl(machine.address)], { isLearner: true }, signal)
  }
  await insist(attempt, { signal, timeoutMs: CHANGE_TIMEOUT_MS })
}

/** Resolves when a member that was added has written its log and has reported its name. `onWait` gets what it waits for. */
export async function untilStarted(
  client: EtcdOperator,
  { name, address }: MemberPlace,
  signal: AbortSignal,
  onWait: (message: string) => void,
): Promise<void> {
  const attempt = async () => {
    const member = (await listMembers(client, signal)).find(isAt(address))
    if (member !== undefined && hasStarted(member)) return
    onWait(FIRST_START)
    throw new HoldfastError('EtcdMember', `Cannot promote etcd member "${name}": it has not started`, {
      retryable: member !== undefined,
    })
  }
  await insist(attempt, { signal, timeoutMs: PROMOTE_TIMEOUT_MS })
}

/** Gives a started learner its vote, as soon as it has caught up. `onWait` is told what it is waiting for. */
export async function promoteMember(
  client: EtcdOperator,
  { name, address }: MemberPlace,
  signal: AbortSignal,
  onWait: (message: string) => void,
): Promise<void> {
  const attempt = async () => {
    const members = await listMembers(client, signal)
    const member = members.find(isAt(address))
    if (member === undefined)
      throw new HoldfastError(
        'EtcdMember',
        `Cannot promote etcd member "${name}": the cluster does not have it; it has to join first`,
      )
    if (!member.isLearner) return
    onWait(hasStarted(member) ? 'catching up with the leader' : FIRST_START)
    const { leader } = await client.status(undefined, signal)
    const endpoint = members.find(({ id }) => id === leader)?.clientUrls[0]
    await client.memberPromote(member.id, { endpoint }, signal)
  }
  await insist(attempt, { signal, timeoutMs: PROMOTE_TIMEOUT_MS })
}

/** Takes it out of the cluster; its process ends by itself, and its data is of no use any more. */
export async function removeMember(client: EtcdOperator, machine: MemberPlace, signal: AbortSignal): Promise<void> {
  const attempt = async () => {
    const members = await listMembers(client, signal)
    const leaving = members.find(isAt(machine.address))
    if (leaving === undefined) return
    if (!leaving.isLearner) await prepareLeave(client, machine.name, leaving, members, signal)
    await client.memberRemove(leaving.id, signal)
  }
  await insist(attempt, { signal, timeoutMs: CHANGE_TIMEOUT_MS })
}

/** Makes sure that those who stay have quorum, and hands over the lead: else they would have to notice first. */
async function prepareLeave(
  client: EtcdOperator,
  name: string,
  leaving: Member,
  members: readonly Member[],
  signal: AbortSignal,
): Promise<void> {
  const staying = members.filter(({ id, isLearner }) => id !== leaving.id && !isLearner)
  const [own, ...others] = await Promise.all([leaving, ...staying].map((member) => readHealth(client, member, signal)))
  const healthy = others.filter((status) => status !== undefined)
  const needed = quorumOf(staying.length)
  if (healthy.length < needed) {
    const left =
      staying.length === 0 ? 'it is the only one' : `${healthy.length} of the ${staying.length} others are healthy`
    throw new HoldfastError(
      'EtcdQuorum',
      `Cannot remove etcd member "${name}": ${left}; at least ${needed} must be, for the cluster to go on`,
    )
  }
  if (own === undefined || own.leader !== leaving.id) return
  const successor = healthy.reduce((best, status) => (status.raftIndex > best.raftIndex ? status : best))
  await client.moveLeader(leaving.clientUrls[0], successor.memberId, signal)
}

/** Undefined for one that cannot be asked or has no leader. */
async function readHealth(
  client: EtcdOperator,
  { clientUrls }: Member,
  signal: AbortSignal,
): Promise<Status | undefined> {
  const [url] = clientUrls
  if (url === undefined) return undefined
  try {
    const status = await client.status(url, signal, { timeoutMs: HEALTH_TIMEOUT_MS })
    return status.leader === 0n ? undefined : status
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof HoldfastError && error.code === 'EtcdEndpoint') throw error
    return undefined
  }
}

/** A member tells what it knows; a read that goes through the leader before brings it up to date, if there is one. */
async function listMembers(client: EtcdOperator, signal: AbortSignal): Promise<readonly Member[]> {
  const soon = AbortSignal.any([signal, AbortSignal.timeout(HEALTH_TIMEOUT_MS)])
  await readThroughLeader(client, soon).catch(() => {})
  return client.memberList(signal)
}

async function readThroughLeader(client: EtcdOperator, signal: AbortSignal): Promise<void> {
  await client.range({ key: Uint8Array.of(0) }, signal)
}

export function quorumOf(members: number): number {
  return Math.floor(members / 2) + 1
}

function isAt(address: string): (member: Member) => boolean {
  const url = peerUrl(address)
  return ({ peerUrls }) => peerUrls.includes(url)
}

/** A member tells its name when it starts. */
function hasStarted({ name }: Member): boolean {
  return name !== ''
}

function placeOf({ name, peerUrls }: Member): MemberPlace {
  return { name, address: new URL(peerUrls[0]).hostname.replaceAll(/[[\]]/gu, '') }
}
