import { Agent } from 'node:http'
import { describe, expect, test } from 'vitest'
import { explainStatus } from './failure.ts'

const access = {
  server: 'https://api',
  origin: 'context "lab" of "/c"',
  agent: new Agent(),
  headers: { authorization: 's3cret' },
}
const explain = (code: number, body: string | object, path = '/apis/example.org/v1/namespaces/a/things?limit=1') =>
  explainStatus({ what: 'list things', path, access }, code, typeof body === 'string' ? body : JSON.stringify(body))
const status = (message: string, reason = '') => ({ kind: 'Status', message, reason })

describe('a forbidden request names the permission and the rule to add', () => {
  const refused = (words: string) => explain(403, status(`things is forbidden: User "eve" cannot ${words}: no rule`))

  test('in the whole cluster', () => {
    const error = refused('watch resource "things" in API group "example.org" at the cluster scope')
    expect(error).toMatchObject({
      code: 'KubeForbidden',
      message:
        'Cannot list things: user "eve" may not watch things.example.org in all namespaces; expected that permission',
      hint: 'Add to a ClusterRole that is bound to "eve": { apiGroups: ["example.org"], resources: ["things"], verbs: ["list", "watch"] }',
    })
  })

  test('in one namespace, and of the core group', () => {
    const error = refused('create resource "events" in API group "" in the namespace "a"')
    expect(error.message).toContain('may not create events in namespace "a"')
    expect(error.hint).toBe(
      'Add to a Role in namespace "a" that is bound to "eve": { apiGroups: [""], resources: ["events"], verbs: ["create"] }',
    )
  })

  test('where nobody is known to ask', () => {
    const error = explain(403, status('User "system:anonymous" cannot list resource "things" in API group ""'))
    expect(error.hint).toBe('The API server does not know who asks: give credentials')
  })

  test('in words that are not those of the API', () => {
    expect(explain(403, 'not today').message).toBe('Cannot list things: not today')
  })
})

test('a resource that is not known is one that is not installed', () => {
  expect(explain(404, '404 page not found\n')).toMatchObject({
    code: 'KubeResourceMissing',
    message:
      'Cannot list things: the API server at "https://api" does not know things.example.org in version v1; expected its definition',
    hint: 'Install the CustomResourceDefinition "things.example.org" with version v1',
  })
})

test('an object that is not there is something else', () => {
  expect(explain(404, status('namespaces "a" not found', 'NotFound')).code).toBe('KubeFailed')
})

test.each([
  [401, 'KubeUnauthorized', false],
  [409, 'KubeConflict', true],
  [410, 'KubeGone', true],
  [422, 'KubeFailed', false],
  [429, 'KubeFailed', true],
  [500, 'KubeFailed', true],
  [503, 'KubeFailed', true],
])('status %i is %s', (code, expected, retryable) => {
  expect(explain(code, status('why'))).toMatchObject({ code: expected, retryable })
})

test('an answer is quoted in one line, and credentials are not', () => {
  const error = explain(500, `boom\nstack ${'x'.repeat(1000)}`)
  expect(error.message).toBe('Cannot list things: the API server at "https://api" says "boom" (500)')
  expect(JSON.stringify(error)).not.toContain('s3cret')
  expect(explain(500, 'x'.repeat(1000)).message.length).toBeLessThan(400)
})
