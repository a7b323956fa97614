import { expect, test } from 'vitest'
import { explain } from './explain.ts'
import { CallFailure } from './failure.ts'

const ENDPOINT = { url: 'http://a:1', host: 'a', port: 1, secure: false }

test.each([
  ['etcdserver: rpc not supported for learner', 14, true],
  ['etcdserver: too many requests', 8, true],
  ['etcdserver: mvcc: required revision has been compacted', 11, false],
])('a call that ended with "%s" (%i) may be done again: %s', (message, status, retryable) => {
  const failures = [new CallFailure('status', ENDPOINT, message, { status })]
  const error = explain(failures, { what: 'list members', repeatable: true }, { endpoints: [ENDPOINT.url] })
  expect(error).toMatchObject({ code: 'EtcdFailed', retryable })
})
