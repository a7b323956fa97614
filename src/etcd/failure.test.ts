import { expect, test } from 'vitest'
import { CallFailure, type FailureKind, mayRetry } from './failure.ts'

const ENDPOINT = { url: 'http://a:1', host: 'a', port: 1, secure: false }

test.each<[kind: FailureKind, message: string, status: number, read: boolean, write: boolean]>([
  ['unreachable', 'connect ECONNREFUSED', 0, true, true],
  ['refused', 'REFUSED_STREAM', 0, true, true],
  ['lost', 'ECONNRESET', 0, true, false],
  ['silent', 'no answer within 5000 ms', 0, true, false],
  ['status', 'etcdserver: no leader', 14, true, true],
  ['status', 'etcdserver: too many requests', 8, true, true],
  ['status', 'etcdserver: revision of auth store is old', 3, true, true],
  ['status', 'etcdserver: rpc not supported for learner', 14, true, true],
  ['status', 'etcdserver: request timed out, possibly due to previous leader failure', 14, true, false],
  ['status', 'etcdserver: leader changed', 14, true, false],
  ['status', 'etcdserver: server stopped', 14, true, false],
  ['status', 'context deadline exceeded', 4, true, false],
  ['status', 'etcdserver: permission denied', 7, false, false],
  ['status', 'etcdserver: mvcc: database space exceeded', 8, false, false],
  ['status', 'etcdserver: mvcc: required revision has been compacted', 11, false, false],
])(
  'after "%s: %s" (%i) a read is tried again: %s; a write, as it was certainly not executed: %s',
  (kind, message, status, read, write) => {
    const failure = new CallFailure(kind, ENDPOINT, message, { status })
    expect([mayRetry(failure, true), mayRetry(failure, false)]).toEqual([read, write])
  },
)
