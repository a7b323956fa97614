import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { installedPostgres, newestPostgres } from './postgres-programs.ts'

const never = new AbortController().signal
let programs: string

beforeEach(() => {
  programs = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'))
})
afterEach(() => rmSync(programs, { recursive: true }))

test('of several servers the newest comes first, and only those count that are there', async () => {
  for (const version of ['9', '15', '17']) {
    mkdirSync(join(programs, version, 'bin'), { recursive: true })
    writeFileSync(join(programs, version, 'bin/postgres'), '', { mode: 0o755 })
  }
  // A client without its server, as postgresql-client-18 leaves it.
  mkdirSync(join(programs, '18/bin'), { recursive: true })
  mkdirSync(join(programs, 'lost+found'))
  expect(await installedPostgres(programs)).toEqual(['17', '15', '9'])
  expect(await newestPostgres(never, programs)).toBe('17')
})

test('without a server it is the one that would be installed', async () => {
  expect(await newestPostgres(never, programs)).toMatch(/^\d+$/u)
})
