import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { flushDirectory, isLeftover, replaceFile } from './atomic-file.ts'

let directory = ''

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-atomic-'))
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

test('a file is replaced as a whole, with the mode asked for and nothing beside it', async () => {
  const path = join(directory, 'value')
  writeFileSync(path, 'long old content', { mode: 0o644 })
  await replaceFile(path, 'new', 0o640)
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(statSync(path).mode & 0o777).toBe(0o640)
  expect(readdirSync(directory)).toEqual(['value'])
  await flushDirectory(directory)
})

test('a reader meets the old or the new content and never a part, however many write at once', async () => {
  const path = join(directory, 'value')
  const contents = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000))
  const writing = Promise.all(contents.map((content) => replaceFile(path, content, 0o600)))
  const seen = new Set<string>()
  const ended = writing.then(() => true)
  while ((await Promise.race([ended, new Promise((resolve) => setImmediate(resolve, false))])) !== true)
    if (readdirSync(directory).includes('value')) seen.add(readFileSync(path, 'utf8'))
  seen.add(readFileSync(path, 'utf8'))
  expect([...seen].filter((content) => !contents.includes(content))).toEqual([])
  expect(readdirSync(directory)).toEqual(['value'])
})

test('a write that fails leaves what was there, and nothing else', async () => {
  mkdirSync(join(directory, 'taken', 'by-a-folder'), { recursive: true })
  await expect(replaceFile(join(directory, 'taken'), 'text', 0o600)).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/u)
  expect(readdirSync(directory)).toEqual(['taken'])
})

test('what a killed writer leaves behind is told from files', () => {
  expect(isLeftover('.ca.pem.0123456789ab.tmp')).toBe(true)
  for (const name of ['ca.pem', '.ca.pem', 'ca.pem.0123456789ab.tmp', '.0123456789ab.tmp', '.ca.pem.tmp'])
    expect(isLeftover(name), name).toBe(false)
})
