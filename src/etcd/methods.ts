// The calls of etcd's API that we use: where they go, what they take and give, and whether executing one twice harms.

import * as m from './messages.ts'
import type { Decoded, Fields, MessageType } from './protobuf.ts'

export interface Method<Request extends MessageType<Fields>, Answer extends MessageType<Fields>> {
  readonly path: string
  readonly request: Request
  readonly answer: Answer
  /** Executing it twice is as good as once, so it may be sent again when its outcome is unknown. */
  readonly repeatable: boolean
  /** Is of use on a member that has no leader, too. */
  readonly leaderless: boolean
  /** Goes on, with our side left open after the request. */
  readonly open: boolean
  /** Why the member will not go on, where the answer says so rather than the call's status. */
  readonly refusal?: (answer: Decoded<Answer>) => string | undefined
}

function read<Q extends MessageType<Fields>, A extends MessageType<Fields>>(
  path: string,
  request: Q,
  answer: A,
): Method<Q, A> {
  return { path: `/etcdserverpb.${path}`, request, answer, repeatable: true, leaderless: false, open: false }
}

function write<Q extends MessageType<Fields>, A extends MessageType<Fields>>(
  path: string,
  request: Q,
  answer: A,
): Method<Q, A> {
  return { ...read(path, request, answer), repeatable: false }
}

function local<Q extends MessageType<Fields>, A extends MessageType<Fields>>(
  path: string,
  request: Q,
  answer: A,
): Method<Q, A> {
  return { ...read(path, request, answer), leaderless: true }
}

export const RANGE = read('KV/Range', m.RANGE, m.RANGE_ANSWER)
export const PUT = write('KV/Put', m.PUT, m.ANSWER)
export const DELETE_RANGE = write('KV/DeleteRange', m.DELETE, m.DELETE_ANSWER)
export const TXN = write('KV/Txn', m.TXN, m.TXN_ANSWER)

export const WATCH: Method<typeof m.WATCH, typeof m.WATCH_ANSWER> = {
  ...read('Watch/Watch', m.WATCH, m.WATCH_ANSWER),
  open: true,
  refusal: ({ canceled, compactRevision, cancelReason }) =>
    canceled && compactRevision === 0n ? cancelReason || 'the member ended the watch' : undefined,
}

export const LEASE_GRANT = write('Lease/LeaseGrant', m.LEASE_GRANT, m.LEASE_ANSWER)
export const LEASE_REVOKE = write('Lease/LeaseRevoke', m.LEASE_ID, m.ANSWER)
export const LEASE_KEEP_ALIVE = read('Lease/LeaseKeepAlive', m.LEASE_ID, m.LEASE_ANSWER)
export const LEASE_TIME_TO_LIVE = read('Lease/LeaseTimeToLive', m.LEASE_ID, m.LEASE_ANSWER)

export const AUTHENTICATE = read('Auth/Authenticate', m.CREDENTIALS, m.TOKEN_ANSWER)
export const AUTH_ENABLE = write('Auth/AuthEnable', m.NOTHING, m.ANSWER)
export const AUTH_DISABLE = write('Auth/AuthDisable', m.NOTHING, m.ANSWER)
export const USER_ADD = write('Auth/UserAdd', m.USER_ADD, m.ANSWER)
export const USER_GET = read('Auth/UserGet', m.NAME, m.USER_ANSWER)
export const USER_LIST = read('Auth/UserList', m.NOTHING, m.NAMES_ANSWER)
export const USER_DELETE = write('Auth/UserDelete', m.NAME, m.ANSWER)
export const USER_CHANGE_PASSWORD = write('Auth/UserChangePassword', m.CREDENTIALS, m.ANSWER)
export const USER_GRANT_ROLE = write('Auth/UserGrantRole', m.USER_ROLE, m.ANSWER)
export const ROLE_ADD = write('Auth/RoleAdd', m.NAME, m.ANSWER)
export const ROLE_LIST = read('Auth/RoleList', m.NOTHING, m.NAMES_ANSWER)
export const ROLE_GRANT_PERMISSION = write('Auth/RoleGrantPermission', m.ROLE_GRANT, m.ANSWER)

export const MEMBER_LIST = local('Cluster/MemberList', m.NOTHING, m.MEMBERS_ANSWER)
export const MEMBER_ADD = write('Cluster/MemberAdd', m.MEMBER_ADD, m.MEMBER_ADD_ANSWER)
export const MEMBER_REMOVE = write('Cluster/MemberRemove', m.MEMBER_ID, m.ANSWER)
export const MEMBER_PROMOTE = write('Cluster/MemberPromote', m.MEMBER_ID, m.ANSWER)
export const MEMBER_UPDATE = write('Cluster/MemberUpdate', m.MEMBER_UPDATE, m.ANSWER)

export const STATUS = local('Maintenance/Status', m.NOTHING, m.STATUS_ANSWER)
export const DEFRAGMENT = local('Maintenance/Defragment', m.NOTHING, m.ANSWER)
export const SNAPSHOT = local('Maintenance/Snapshot', m.NOTHING, m.SNAPSHOT_ANSWER)
export const ALARM = read('Maintenance/Alarm', m.ALARM_REQUEST, m.ALARM_ANSWER)
export const MOVE_LEADER = write('Maintenance/MoveLeader', m.MOVE_LEADER, m.ANSWER)
