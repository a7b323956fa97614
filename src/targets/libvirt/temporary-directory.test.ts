import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { withTemporaryDirectory } from './temporary-directory.ts'

const root = mkdtempSync(join(tmpdir(), 'holdfast-temporary-'))
afterEach(() => rmSync(root, { recursive: true, force: true }))

test('it is for us alone, and gone when the work is done or fails', async () => {
  const parent = join(root, 'tmp')
  const used = await withTemporaryDirectory(parent, (directory) => {
    writeFileSync(join(directory, 'secret'), '')
    expect([parent, directory].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700])
    return Promise.resolve(directory)
  })
  expect(existsSync(used)).toBe(false)
  await expect(withTemporaryDirectory(parent, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(readdirSync(parent)).toEqual([])
})

test('what somebody who was killed has left goes, and what somebody has just made stays', async () => {
  for (const name of ['holdfast-volume-old', 'holdfast-volume-new', 'of-others'])
    mkdirSync(join(root, name), { recursive: true })
  for (const name of ['holdfast-volume-old', 'of-others']) utimesSync(join(root, name), 0, 0)
  await withTemporaryDirectory(root, () => Promise.resolve())
  expect(readdirSync(root).toSorted()).toEqual(['holdfast-volume-new', 'of-others'])
})
