// The JSON Schemas and the reference pages of names.yaml and the stack file are generated from their schemas, and committed.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { referenceFiles } from '../scripts/reference.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

test.each(Object.entries(referenceFiles()))('%s is what "npm run reference" writes', (path, text) => {
  expect(read(path)).toBe(text)
})

test.each(['names', 'stack'])('the page of %s describes every key', (name) => {
  expect(read(`docs/reference/${name}.md`)).not.toContain('undefined')
})

describe('an editor with the schema of names.yaml', () => {
  const editor = z.fromJSONSchema(JSON.parse(read('docs/reference/names.schema.json')))

  test.each(globSync('examples/names/*.yaml', { cwd: root }))('finds nothing wrong with %s', (path) => {
    expect(editor.safeParse(parse(read(path))).error).toBeUndefined()
  })

  test.each([
    'sorces: []',
    'sources: [{ type: directory }]',
    'sources: [{ type: skydns, zones: [a], mode: exat }]',
    'sources: [{ type: skydns, zones: [a], min_lease_ttl: 1d }]',
    'serve: { listen: 127.0.0.1:53 }',
    'serve: { bufsize: 1 }',
    'etcd: { endpoints: [a:1], password: { fil: a } }',
    'write: [{ type: zonefiles, prefix: /, directory: a, permissions: 0644 }]',
  ])('finds what is wrong with "%s"', (text) => {
    expect(editor.safeParse(parse(text)).success).toBe(false)
  })
})

describe('an editor with the schema of the stack file', () => {
  const editor = z.fromJSONSchema(JSON.parse(read('docs/reference/stack.schema.json')))
  const examples = globSync('examples/*/stack.yaml', { cwd: root })

  test('has examples to look at', () => {
    expect(examples.length).toBeGreaterThan(1)
  })

  test.each(examples)('finds nothing wrong with %s', (path) => {
    expect(editor.safeParse(parse(read(path), { merge: true })).error).toBeUndefined()
  })

  test.each([
    'domain: a.test',
    'target: nowhere',
    'etcd: { members: 0 }',
    'etcd: { members: [{ name: a, cpu: 1 }] }',
    'etcd: { members: 1, users: [{ name: a, permissions: [{ access: raed, prefix: / }] }] }',
    'dns: { servers: 1, zonefiles_reload_interval: 1d }',
    'postgres: { members: 2, superuser_password: "" }',
    'postgres: { members: 2, haproxy: 1 }',
  ])('finds what is wrong with "%s"', (text) => {
    const whole = { ...(text.startsWith('domain') ? {} : { name: 'a', domain: 'a.test' }), ...parse(text) }
    expect(editor.safeParse(whole).success).toBe(false)
  })
})
