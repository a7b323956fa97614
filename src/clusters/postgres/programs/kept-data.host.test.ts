import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

let directory: string
const path = (name: string) => join(directory, name)
const tablespace = 'pg_tblspc/16384'

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-kept-'))
  for (const name of ['data/pg_tblspc', 'space']) mkdirSync(path(name), { recursive: true })
  for (const name of ['data/PG_VERSION', 'space/1']) writeFileSync(path(name), '')
  symlinkSync(path('space'), path(`data/${tablespace}`))
  for (const name of ['data/PG_VERSION', 'space/1', 'data/pg_tblspc', 'data', 'space']) utimesSync(path(name), 1, 1)
})
afterEach(() => rmSync(directory, { recursive: true }))

/** After a mark was made, and then the file changed. */
function isChanged(file: string | undefined, outside: readonly string[]): boolean {
  const code = [
    'import json, os, sys; sys.dont_write_bytecode = True',
    'import kept_data',
    'data, file, outside = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])',
    'kept_data.mark(data)',
    'if file: os.utime(file)',
    'print(kept_data.is_changed_since_mark(data, outside))',
  ]
  const given = [path('data'), file === undefined ? '' : path(file), JSON.stringify(outside.map(path))]
  const run = { cwd: import.meta.dirname, encoding: 'utf8' } as const
  return execFileSync('/usr/bin/python3', ['-c', code.join('\n'), ...given], run).trim() === 'True'
}

test('data in which nothing was written since the mark is unchanged, also where a tablespace is not there', () => {
  expect(isChanged(undefined, ['space', 'gone'])).toBe(false)
})

test.each(['data/PG_VERSION', 'data', 'space/1', 'space'])('a write to %s changes the data', (file) => {
  expect(isChanged(file, ['space'])).toBe(true)
})
