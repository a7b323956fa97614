// The JSON Schema and the reference page of names.yaml are generated from its schema, and committed.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { referenceFiles } from '../scripts/names-reference.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

test.each(Object.entries(referenceFiles()))('%s is what "npm run reference" writes', (path, text) => {
  expect(read(path)).toBe(text)
})

const editors = z.fromJSONSchema(JSON.parse(read('docs/reference/names.schema.json')))

test.each(globSync('examples/names/*.yaml', { cwd: root }))('an editor finds nothing wrong with %s', (path) => {
  expect(editors.safeParse(parse(read(path))).error).toBeUndefined()
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
])('an editor finds what is wrong with "%s"', (text) => {
  expect(editors.safeParse(parse(text)).success).toBe(false)
})

test('the page describes every key', () => {
  expect(read('docs/reference/names.md')).not.toContain('undefined')
})
