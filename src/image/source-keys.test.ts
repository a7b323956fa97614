import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keysOf } from './source-keys.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-sources-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function written(name: string, text: string): string {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}

test('the keys of a line are found in its brackets', () => {
  const file = written(
    'a.list',
    '# ours\ndeb [arch=amd64 signed-by=/k/a.gpg,/k/b.gpg] http://a.test/ x main\ndeb http://b.test/ x main\n',
  )
  expect(keysOf(`${file}:2`)).toBe('/k/a.gpg,/k/b.gpg')
  expect(keysOf(`${file}:3`)).toBeUndefined()
})

test('those of a paragraph are found in its field', () => {
  const file = written(
    'a.sources',
    '# ours\n\nTypes: deb\n# a comment\nURIs: http://a.test/\nSigned-By: /k/a.gpg /k/b.gpg\n\n\nTypes: deb\nURIs: http://b.test/\n',
  )
  expect(keysOf(`${file}:1`)).toBe('/k/a.gpg,/k/b.gpg')
  expect(keysOf(`${file}:2`)).toBeUndefined()
})

test('an entry that is nowhere has none', () => {
  expect(keysOf(join(directory, 'none.list:1'))).toBeUndefined()
  expect(keysOf('')).toBeUndefined()
})
