// The messages of etcd's API (version 3.4 and later) that we use, as tables of field numbers.

import { choice, inner, innerList, list, message, one } from './protobuf.ts'

export const HEADER = message({
  clusterId: one(1, 'uint64'),
  memberId: one(2, 'uint64'),
  revision: one(3, 'int64'),
  raftTerm: one(4, 'uint64'),
})

/** Of calls that answer nothing else. */
export const ANSWER = message({ header: inner(1, HEADER) })
export const NOTHING = message({})

export const KEY_VALUE = message({
  key: one(1, 'bytes'),
  createRevision: one(2, 'int64'),
  modRevision: one(3, 'int64'),
  version: one(4, 'int64'),
  value: one(5, 'bytes'),
  lease: one(6, 'int64'),
})

export const RANGE = message({
  key: one(1, 'bytes'),
  rangeEnd: one(2, 'bytes'),
  limit: one(3, 'int64'),
  revision: one(4, 'int64'),
  serializable: one(7, 'bool'),
  keysOnly: one(8, 'bool'),
})
export const RANGE_ANSWER = message({
  header: inner(1, HEADER),
  kvs: innerList(2, KEY_VALUE),
  more: one(3, 'bool'),
  count: one(4, 'int64'),
})

export const PUT = message({ key: one(1, 'bytes'), value: one(2, 'bytes'), lease: one(3, 'int64') })
export const DELETE = message({ key: one(1, 'bytes'), rangeEnd: one(2, 'bytes') })
export const DELETE_ANSWER = message({ header: inner(1, HEADER), deleted: one(2, 'int64') })

export const COMPARE_RESULT = { equal: 0, greater: 1, less: 2, 'not equal': 3 } as const
export const COMPARE_TARGET = { version: 0, create: 1, mod: 2, value: 3, lease: 4 } as const
export const COMPARE = message({
  result: one(1, 'int32'),
  target: one(2, 'int32'),
  key: one(3, 'bytes'),
  version: one(4, 'int64'),
  createRevision: one(5, 'int64'),
  modRevision: one(6, 'int64'),
  value: one(7, 'bytes'),
  lease: one(8, 'int64'),
  rangeEnd: one(64, 'bytes'),
})

export const OPERATION = message({ range: choice(1, RANGE), put: choice(2, PUT), delete: choice(3, DELETE) })
export const OPERATION_ANSWER = message({
  range: choice(1, RANGE_ANSWER),
  put: choice(2, ANSWER),
  delete: choice(3, DELETE_ANSWER),
})
export const TXN = message({
  compare: innerList(1, COMPARE),
  success: innerList(2, OPERATION),
  failure: innerList(3, OPERATION),
})
export const TXN_ANSWER = message({
  header: inner(1, HEADER),
  succeeded: one(2, 'bool'),
  responses: innerList(3, OPERATION_ANSWER),
})

export const LEASE_GRANT = message({ ttl: one(1, 'int64'), id: one(2, 'int64') })
export const LEASE_ID = message({ id: one(1, 'int64') })
export const LEASE_ANSWER = message({
  header: inner(1, HEADER),
  id: one(2, 'int64'),
  ttl: one(3, 'int64'),
  grantedTtl: one(4, 'int64'),
})

export const WATCH_CREATE = message({
  key: one(1, 'bytes'),
  rangeEnd: one(2, 'bytes'),
  startRevision: one(3, 'int64'),
  progressNotify: one(4, 'bool'),
  fragment: one(8, 'bool'),
})
export const WATCH = message({ create: choice(1, WATCH_CREATE) })
export const DELETED = 1
export const EVENT = message({ type: one(1, 'int32'), kv: inner(2, KEY_VALUE) })
export const WATCH_ANSWER = message({
  header: inner(1, HEADER),
  created: one(3, 'bool'),
  canceled: one(4, 'bool'),
  compactRevision: one(5, 'int64'),
  cancelReason: one(6, 'string'),
  fragment: one(7, 'bool'),
  events: innerList(11, EVENT),
})

export const CREDENTIALS = message({ name: one(1, 'string'), password: one(2, 'string') })
export const TOKEN_ANSWER = message({ header: inner(1, HEADER), token: one(2, 'string') })
export const USER_ADD = message({
  name: one(1, 'string'),
  password: one(2, 'string'),
  options: choice(3, message({ noPassword: one(1, 'bool') })),
})
export const NAME = message({ name: one(1, 'string') })
export const USER_ROLE = message({ user: one(1, 'string'), role: one(2, 'string') })
export const USER_ANSWER = message({ header: inner(1, HEADER), roles: list(2, 'string') })
export const NAMES_ANSWER = message({ header: inner(1, HEADER), names: list(2, 'string') })
export const PERMISSION = { read: 0, write: 1, readwrite: 2 } as const
export const ROLE_GRANT = message({
  name: one(1, 'string'),
  permission: inner(2, message({ type: one(1, 'int32'), key: one(2, 'bytes'), rangeEnd: one(3, 'bytes') })),
})

export const MEMBER = message({
  id: one(1, 'uint64'),
  name: one(2, 'string'),
  peerUrls: list(3, 'string'),
  clientUrls: list(4, 'string'),
  isLearner: one(5, 'bool'),
})
export const MEMBER_ADD = message({ peerUrls: list(1, 'string'), isLearner: one(2, 'bool') })
export const MEMBER_ADD_ANSWER = message({ header: inner(1, HEADER), member: inner(2, MEMBER) })
export const MEMBER_ID = message({ id: one(1, 'uint64') })
export const MEMBER_UPDATE = message({ id: one(1, 'uint64'), peerUrls: list(2, 'string') })
export const MEMBERS_ANSWER = message({ header: inner(1, HEADER), members: innerList(2, MEMBER) })

export const STATUS_ANSWER = message({
  header: inner(1, HEADER),
  version: one(2, 'string'),
  dbSize: one(3, 'int64'),
  leader: one(4, 'uint64'),
  raftIndex: one(5, 'uint64'),
  raftTerm: one(6, 'uint64'),
  raftAppliedIndex: one(7, 'uint64'),
  errors: list(8, 'string'),
  dbSizeInUse: one(9, 'int64'),
  isLearner: one(10, 'bool'),
})
export const MOVE_LEADER = message({ targetId: one(1, 'uint64') })
export const SNAPSHOT_ANSWER = message({ remainingBytes: one(2, 'uint64'), blob: one(3, 'bytes') })
export const ALARM_ACTION = { list: 0, disarm: 2 } as const
export const ALARM_KINDS = ['none', 'nospace', 'corrupt'] as const
export const ALARM = message({ memberId: one(1, 'uint64'), alarm: one(2, 'int32') })
export const ALARM_REQUEST = message({ action: one(1, 'int32'), memberId: one(2, 'uint64'), alarm: one(3, 'int32') })
export const ALARM_ANSWER = message({ header: inner(1, HEADER), alarms: innerList(2, ALARM) })
