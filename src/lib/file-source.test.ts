import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FileSource } from './file-source.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-file-source-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

test('a file arrives in pieces, each at the place asked for, and ends with 0', () => {
  const path = join(directory, 'file')
  writeFileSync(path, 'abcdefgh')
  const source = new FileSource(path)
  const into = new Uint8Array(5)
  expect(source.read(into, 2)).toBe(3)
  expect(Buffer.from(into).toString('latin1')).toBe('\0\0abc')
  expect(source.read(into, 0)).toBe(5)
  expect(Buffer.from(into).toString('latin1')).toBe('defgh')
  expect(source.read(into, 0)).toBe(0)
  expect(source.read(into, 0)).toBe(0)
})

test('a file that cannot be read is an error that says why', () => {
  const path = join(directory, 'absent')
  expect(() => new FileSource(path)).toThrow(`Cannot read "${path}": no such file or directory`)
})

test('what is no regular file is refused, and nobody waits for it', () => {
  const pipe = join(directory, 'pipe')
  execFileSync('mkfifo', [pipe])
  for (const path of [pipe, directory, '/dev/zero'])
    expect(() => new FileSource(path)).toThrow(`Cannot read "${path}": not a regular file`)
})
