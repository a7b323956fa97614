import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ZoneFile } from './zone-file.ts'

let base: string
let abort: AbortController

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'zone-file-'))
  abort = new AbortController()
})

afterEach(() => {
  abort.abort()
  rmSync(base, { recursive: true })
})

function follow(path: string, reloadMs = 3_600_000) {
  const events: string[] = []
  const problems: string[] = []
  const unreadable: string[] = []
  const source = new ZoneFile({
    path,
    origins: ['a.', 'b.'],
    reloadMs,
    signal: abort.signal,
    onZone: (origin, file) => events.push(`${origin} ${file}`),
    onUnreadable: (origin) => unreadable.push(origin),
    onProblem: (message) => problems.push(message),
  })
  source.start()
  return { source, events, problems, unreadable }
}

const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 5 })

test('every origin is loaded at the start and again on each change of content', async () => {
  const path = join(base, 'db')
  writeFileSync(path, '1')
  const seen = follow(path)
  expect(seen.events).toEqual([`a. ${path}`, `b. ${path}`])
  writeFileSync(path, '2')
  await soon(() => expect(seen.events).toHaveLength(4))
  writeFileSync(join(base, 'new'), '3')
  renameSync(join(base, 'new'), path)
  await soon(() => expect(seen.events).toHaveLength(6))
  expect(seen.problems).toEqual([])
})

test('a deleted file is reported once, and loaded when it is back', async () => {
  const path = join(base, 'db')
  writeFileSync(path, '1')
  const seen = follow(path)
  unlinkSync(path)
  await soon(() => expect(seen.problems).toEqual([`Cannot read "${path}": no such file; a zone loaded from it stays`]))
  writeFileSync(path, '1')
  await soon(() => expect(seen.events).toHaveLength(4))
  expect(seen.problems).toHaveLength(1)
})

test('a file whose directory does not exist yet is waited for', async () => {
  const path = join(base, 'x/y/db')
  const seen = follow(path)
  expect(seen.problems).toHaveLength(1)
  mkdirSync(join(base, 'x/y'), { recursive: true })
  writeFileSync(path, '1')
  await soon(() => expect(seen.events).toEqual([`a. ${path}`, `b. ${path}`]))
})

test('a directory deleted and made again is watched again', async () => {
  const path = join(base, 'x/db')
  mkdirSync(join(base, 'x'))
  writeFileSync(path, '1')
  const seen = follow(path)
  rmSync(join(base, 'x'), { recursive: true })
  await soon(() => expect(seen.problems).toHaveLength(1))
  mkdirSync(join(base, 'x'))
  writeFileSync(path, '2')
  await soon(() => expect(seen.events).toHaveLength(4))
  writeFileSync(path, '3')
  await soon(() => expect(seen.events).toHaveLength(6))
})

test('links are followed, also when they are swapped', async () => {
  mkdirSync(join(base, '1'))
  mkdirSync(join(base, '2'))
  writeFileSync(join(base, '1/db'), '1')
  writeFileSync(join(base, '2/db'), '2')
  symlinkSync('1', join(base, 'data'))
  symlinkSync('data/db', join(base, 'db'))
  const seen = follow(join(base, 'db'))
  symlinkSync('2', join(base, 'new'))
  renameSync(join(base, 'new'), join(base, 'data'))
  await soon(() => expect(seen.events).toHaveLength(4))
  writeFileSync(join(base, '2/db'), '3')
  await soon(() => expect(seen.events).toHaveLength(6))
})

test('an included file that changes loads the zone that includes it', async () => {
  const path = join(base, 'db')
  mkdirSync(join(base, 'inc'))
  writeFileSync(path, '1')
  const seen = follow(path)
  seen.source.watchAlso('b.', [join(base, 'inc/part')])
  writeFileSync(join(base, 'inc/part'), '1')
  await soon(() => expect(seen.events.slice(2)).toEqual([`b. ${path}`]))
})

test('the interval notices too, and 0 means never', async () => {
  const path = join(base, 'db')
  writeFileSync(path, '1')
  const never = follow(path, 0)
  const often = follow(path, 10)
  writeFileSync(path, '2')
  await soon(() => expect(often.events).toHaveLength(4))
  expect(never.events).toHaveLength(2)
})
