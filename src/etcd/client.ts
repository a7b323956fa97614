// The etcd client: keys, transactions, leases, watches, users and roles, members, maintenance. Each call has a deadline
// and finds a member that can answer it (caller.ts); 64-bit numbers are bigint, keys and values are bytes.

import { Caller } from './caller.ts'
import { CallFailure, isAuthDisabled } from './failure.ts'
import { prefixEnd, showKey } from './keys.ts'
import {
  type Compare,
  encodableCompare,
  encodableOperation,
  encodableRange,
  keyOf,
  type Operation,
  operationResult,
  type RangeRequest,
  type RangeResult,
  type TxnResult,
} from './kv.ts'
import type { Alarm, Member, Status } from './maintenance.ts'
import { ALARM_ACTION, ALARM_KINDS, PERMISSION } from './messages.ts'
import * as methods from './methods.ts'
import type { Method } from './methods.ts'
import type { EtcdOptions } from './options.ts'
import type { Decoded, Encodable, Fields, MessageType } from './protobuf.ts'
import { readWatch, type WatchNews } from './watch.ts'

export type { Compare, KeyValue, Operation, RangeRequest, RangeResult, TxnResult } from './kv.ts'
export type { Alarm, Member, Status } from './maintenance.ts'
export { prefixEnd }

/** Defragmenting stops the member while it lasts. */
const DEFRAGMENT_TIMEOUT_MS = 60_000

export class EtcdClient {
  readonly #caller: Caller

  constructor(options: EtcdOptions) {
    this.#caller = new Caller(options)
  }

  /** Ends all calls and connections. */
  close(): void {
    this.#caller.close()
  }

  async range(request: RangeRequest, signal?: AbortSignal): Promise<RangeResult> {
    const asking = { what: `read ${showKey(request.key)}`, signal }
    const { header, kvs, count, more } = await this.#caller.ask(methods.RANGE, encodableRange(request), asking)
    const { revision, clusterId, raftTerm } = header
    return { revision, clusterId, raftTerm, kvs, count, more }
  }

  async put(
    key: Uint8Array,
    value: Uint8Array,
    options: { readonly lease?: bigint } = {},
    signal?: AbortSignal,
  ): Promise<{ readonly revision: bigint }> {
    const asking = { what: `write ${showKey(key)}`, signal }
    const { header } = await this.#caller.ask(methods.PUT, { key, value, lease: options.lease }, asking)
    return { revision: header.revision }
  }

  async delete(
    key: Uint8Array,
    options: { readonly rangeEnd?: Uint8Array } = {},
    signal?: AbortSignal,
  ): Promise<{ readonly revision: bigint; readonly deleted: bigint }> {
    const asking = { what: `delete ${showKey(key)}`, signal }
    const { header, deleted } = await this.#caller.ask(methods.DELETE_RANGE, { key, ...options }, asking)
    return { revision: header.revision, deleted }
  }

  /** All of `success` if every comparison holds, else all of `failure`; at one revision. */
  async txn(
    compare: readonly Compare[],
    success: readonly Operation[],
    failure: readonly Operation[] = [],
    signal?: AbortSignal,
  ): Promise<TxnResult> {
    const key = compare[0]?.key ?? [...success, ...failure].map(keyOf)[0]
    const request = {
      compare: compare.map(encodableCompare),
      success: success.map(encodableOperation),
      failure: failure.map(encodableOperation),
    }
    const asking = { what: `write ${key === undefined ? 'nothing' : showKey(key)}`, signal }
    const { header, succeeded, responses } = await this.#caller.ask(methods.TXN, request, asking)
    return { succeeded, revision: header.revision, responses: responses.map(operationResult) }
  }

  /**
   * What happens to the keys of a range, from `startRevision` on, as long as one member can tell; then it throws, and
   * the caller goes on from the last revision it was told of (mirror.ts does).
   */
  watch(
    request: { readonly key: Uint8Array; readonly rangeEnd?: Uint8Array; readonly startRevision: bigint },
    signal?: AbortSignal,
  ): AsyncGenerator<WatchNews> {
    const create = { ...request, progressNotify: true, fragment: true }
    return readWatch(this.#caller.follow(methods.WATCH, { create }, { what: `watch ${showKey(request.key)}`, signal }))
  }

  async leaseGrant(ttlSeconds: number, signal?: AbortSignal): Promise<{ readonly id: bigint; readonly ttl: number }> {
    const { id, ttl } = await this.#do('grant a lease', methods.LEASE_GRANT, { ttl: BigInt(ttlSeconds) }, signal)
    return { id, ttl: Number(ttl) }
  }

  /** Deletes the keys that hang on it, too. */
  async leaseRevoke(id: bigint, signal?: AbortSignal): Promise<void> {
    await this.#do(`revoke lease "${id.toString(16)}"`, methods.LEASE_REVOKE, { id }, signal)
  }

  /** Renews the lease once. A TTL of 0 means that there is no such lease any more. */
  async leaseKeepAlive(id: bigint, signal?: AbortSignal): Promise<{ readonly ttl: number }> {
    const { ttl } = await this.#do(`renew lease "${id.toString(16)}"`, methods.LEASE_KEEP_ALIVE, { id }, signal)
    return { ttl: Number(ttl) }
  }

  /** Seconds that are left, -1 when the lease has expired. */
  async leaseTimeToLive(
    id: bigint,
    signal?: AbortSignal,
  ): Promise<{ readonly ttl: number; readonly grantedTtl: number }> {
    const what = `look at lease "${id.toString(16)}"`
    const { ttl, grantedTtl } = await this.#do(what, methods.LEASE_TIME_TO_LIVE, { id }, signal)
    return { ttl: Number(ttl), grantedTtl: Number(grantedTtl) }
  }

  /** Of the given endpoint, else of any member. */
  async status(
    endpoint?: string,
    signal?: AbortSignal,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<Status> {
    const asking = { what: 'get the status of etcd', signal, endpoint, ...options }
    const { header, dbSize, dbSizeInUse, ...rest } = await this.#caller.ask(methods.STATUS, {}, asking)
    const { clusterId, memberId, revision } = header
    return { clusterId, memberId, revision, dbSizeBytes: dbSize, dbSizeInUseBytes: dbSizeInUse, ...rest }
  }

  /** The whole database of one member as `etcdctl snapshot restore` takes it, in pieces. */
  async *snapshot(endpoint?: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const asking = { what: 'take a snapshot of etcd', signal, endpoint }
    for await (const { blob } of this.#caller.follow(methods.SNAPSHOT, {}, asking)) yield blob
  }

  async defragment(endpoint: string, signal?: AbortSignal): Promise<void> {
    const asking = { what: `defragment etcd at "${endpoint}"`, signal, endpoint, timeoutMs: DEFRAGMENT_TIMEOUT_MS }
    await this.#caller.ask(methods.DEFRAGMENT, {}, asking)
  }

  /** `endpoint`: of the member that leads; only that one can hand over. */
  async moveLeader(endpoint: string, targetId: bigint, signal?: AbortSignal): Promise<void> {
    const asking = { what: `hand over the lead of etcd at "${endpoint}"`, signal, endpoint }
    await this.#caller.ask(methods.MOVE_LEADER, { targetId }, asking)
  }

  async alarmList(signal?: AbortSignal): Promise<readonly Alarm[]> {
    const { alarms } = await this.#do('list alarms', methods.ALARM, { action: ALARM_ACTION.list }, signal)
    return alarms.map(({ memberId, alarm }) => ({ memberId, kind: ALARM_KINDS[alarm] ?? 'none' }))
  }

  async alarmDisarm({ memberId, kind }: Alarm, signal?: AbortSignal): Promise<void> {
    const request = { action: ALARM_ACTION.disarm, memberId, alarm: ALARM_KINDS.indexOf(kind) }
    await this.#do(`disarm alarm "${kind}"`, methods.ALARM, request, signal)
  }

  async memberList(signal?: AbortSignal): Promise<readonly Member[]> {
    const { members } = await this.#do('list members', methods.MEMBER_LIST, {}, signal)
    return members
  }

  /** A learner gets all data but has no vote until it is promoted. */
  async memberAdd(
    peerUrls: readonly string[],
    options: { readonly isLearner?: boolean } = {},
    signal?: AbortSignal,
  ): Promise<Member> {
    const what = `add member "${peerUrls.join(',')}"`
    const { member } = await this.#do(what, methods.MEMBER_ADD, { peerUrls, isLearner: options.isLearner }, signal)
    return member
  }

  /** Only the leader can do it. With authentication, other members pass it on in vain, so its endpoint has to be given. */
  async memberPromote(
    id: bigint,
    options: { readonly endpoint?: string | undefined } = {},
    signal?: AbortSignal,
  ): Promise<void> {
    const asking = { what: `promote member "${id.toString(16)}"`, signal, ...options }
    await this.#caller.ask(methods.MEMBER_PROMOTE, { id }, asking)
  }

  async memberRemove(id: bigint, signal?: AbortSignal): Promise<void> {
    await this.#do(`remove member "${id.toString(16)}"`, methods.MEMBER_REMOVE, { id }, signal)
  }

  async memberUpdate(id: bigint, peerUrls: readonly string[], signal?: AbortSignal): Promise<void> {
    await this.#do(`update member "${id.toString(16)}"`, methods.MEMBER_UPDATE, { id, peerUrls }, signal)
  }

  /** Whether the cluster asks for users at all. */
  async isAuthEnabled(signal?: AbortSignal): Promise<boolean> {
    try {
      // Nobody has this name. (There is a call to ask for it, but not before etcd 3.5.)
      await this.#do('ask for authentication', methods.AUTHENTICATE, { name: '', password: '' }, signal)
      return true
    } catch (error) {
      const { cause } = error as Error
      if (!(cause instanceof CallFailure) || cause.kind !== 'status') throw error
      return !isAuthDisabled(cause)
    }
  }

  /** Wants a user root with the role root. */
  async authEnable(signal?: AbortSignal): Promise<void> {
    await this.#do('enable authentication', methods.AUTH_ENABLE, {}, signal)
  }

  async authDisable(signal?: AbortSignal): Promise<void> {
    await this.#do('disable authentication', methods.AUTH_DISABLE, {}, signal)
  }

  async userList(signal?: AbortSignal): Promise<readonly string[]> {
    return (await this.#do('list users', methods.USER_LIST, {}, signal)).names
  }

  /** Without a password the user can only come with a certificate that carries the name. */
  async userAdd(name: string, password?: string, signal?: AbortSignal): Promise<void> {
    const request = password === undefined ? { name, options: { noPassword: true } } : { name, password }
    await this.#do(`add user "${name}"`, methods.USER_ADD, request, signal)
  }

  async userRoles(name: string, signal?: AbortSignal): Promise<readonly string[]> {
    return (await this.#do(`look at user "${name}"`, methods.USER_GET, { name }, signal)).roles
  }

  async userDelete(name: string, signal?: AbortSignal): Promise<void> {
    await this.#do(`delete user "${name}"`, methods.USER_DELETE, { name }, signal)
  }

  async userChangePassword(name: string, password: string, signal?: AbortSignal): Promise<void> {
    await this.#do(`change the password of "${name}"`, methods.USER_CHANGE_PASSWORD, { name, password }, signal)
  }

  async userGrantRole(user: string, role: string, signal?: AbortSignal): Promise<void> {
    await this.#do(`grant role "${role}" to "${user}"`, methods.USER_GRANT_ROLE, { user, role }, signal)
  }

  async roleList(signal?: AbortSignal): Promise<readonly string[]> {
    return (await this.#do('list roles', methods.ROLE_LIST, {}, signal)).names
  }

  async roleAdd(name: string, signal?: AbortSignal): Promise<void> {
    await this.#do(`add role "${name}"`, methods.ROLE_ADD, { name }, signal)
  }

  async roleGrantPermission(
    name: string,
    permission: {
      readonly type: keyof typeof PERMISSION
      readonly key: Uint8Array
      readonly rangeEnd?: Uint8Array
    },
    signal?: AbortSignal,
  ): Promise<void> {
    const request = { name, permission: { ...permission, type: PERMISSION[permission.type] } }
    await this.#do(`grant a permission to role "${name}"`, methods.ROLE_GRANT_PERMISSION, request, signal)
  }

  #do<Q extends MessageType<Fields>, A extends MessageType<Fields>>(
    what: string,
    method: Method<Q, A>,
    request: Encodable<Q>,
    signal: AbortSignal | undefined,
  ): Promise<Decoded<A>> {
    return this.#caller.ask(method, request, { what, signal })
  }
}
