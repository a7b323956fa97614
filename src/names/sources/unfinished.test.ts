import { closeSync, mkdtempSync, openSync, rmSync, utimesSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadLibc } from '../../lib/libc.ts'
import { isUnfinished } from './unfinished.ts'

const libc = loadLibc(() => undefined)
let directory: string
let file: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-unfinished-'))
  file = join(directory, 'db.example')
})

afterEach(() => rmSync(directory, { recursive: true }))

it.runIf(libc !== undefined)('a file is unfinished as long as somebody has it open for writing', () => {
  const writer = openSync(file, 'w')
  writeSync(writer, 'half a line\n')
  expect(isUnfinished(file, libc)).toBe(true)
  closeSync(writer)
  expect(isUnfinished(file, libc)).toBe(false)
})

it('a writer that has done nothing for long is not waited for', () => {
  const writer = openSync(file, 'w')
  writeSync(writer, 'x')
  utimesSync(file, 1, 1)
  expect(isUnfinished(file, libc)).toBe(false)
  closeSync(writer)
})

it('where the kernel does not say, a file without its final newline is unfinished', () => {
  writeFileSync(file, 'half a li')
  expect(isUnfinished(file, undefined)).toBe(true)
  writeFileSync(file, 'a line\n')
  expect(isUnfinished(file, undefined)).toBe(false)
})

it('what is not there is not unfinished', () => {
  expect(isUnfinished(join(directory, 'nothing'), libc)).toBe(false)
  expect(isUnfinished(directory, libc)).toBe(false)
})
