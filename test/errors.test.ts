// Every error code is documented, and every documented code is in use.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

const used = new Map<string, string>()
for (const path of globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))) {
  const code = readFileSync(join(root, path), 'utf8')
  for (const [, name] of code.matchAll(/(?:new HoldfastError|super)\(\s*'([^']+)'/gu)) used.set(name, path)
}
const reference = readFileSync(join(root, 'docs/reference/errors.md'), 'utf8')
const documented = [...reference.matchAll(/^\| `(\w+)` \|/gmu)].map((match) => match[1])

test('codes in the sources are found', () => {
  expect([...used.keys()]).toContain('Usage')
})

test('every code that the program uses is in docs/reference/errors.md, and the other way round', () => {
  expect(documented.toSorted()).toEqual([...used.keys()].toSorted())
})

test('no code is hidden from this test by being computed', () => {
  const hidden = globSync('src/**/*.ts', { cwd: root }).filter((path) =>
    /new HoldfastError\(\s*[^'\s]/u.test(readFileSync(join(root, path), 'utf8')),
  )
  expect(hidden).toEqual([])
})
