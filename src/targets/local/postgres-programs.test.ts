import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { postgresBinDirectory } from './postgres-programs.ts'

const never = new AbortController().signal
let versions: string

beforeEach(() => {
  versions = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'))
})
afterEach(() => rmSync(versions, { recursive: true }))

test('of several servers the newest is taken, and only of those that are there', async () => {
  for (const version of ['9', '15', '17']) {
    mkdirSync(join(versions, version, 'bin'), { recursive: true })
    writeFileSync(join(versions, version, 'bin/postgres'), '', { mode: 0o755 })
  }
  // A client without its server, as postgresql-client-18 leaves it.
  mkdirSync(join(versions, '18/bin'), { recursive: true })
  mkdirSync(join(versions, 'lost+found'))
  expect(await postgresBinDirectory(never, versions)).toBe(join(versions, '17/bin'))
})

test('without a server it is where the one that would be installed will be', async () => {
  expect(await postgresBinDirectory(never, versions)).toMatch(/\/\d+\/bin$/u)
})
