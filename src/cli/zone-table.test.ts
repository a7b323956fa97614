import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LogSink } from '../lib/log-sink.ts'
import { Log } from '../lib/log.ts'
import type { LoaderReport } from '../names/loader-messages.ts'
import { ZoneTable } from './zone-table.ts'

let directory: string
let sink: LogSink
let fd: number
let table: ZoneTable
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-16T12:00:00Z') })
  directory = mkdtempSync(join(tmpdir(), 'holdfast-table-'))
  fd = openSync(join(directory, 'log'), 'w')
  sink = new LogSink(fd)
  table = new ZoneTable(new Log(sink))
})
afterEach(async () => {
  vi.useRealTimers()
  await sink.flush()
  closeSync(fd)
  rmSync(directory, { recursive: true })
})

async function lines(): Promise<string[]> {
  await sink.flush()
  return readFileSync(join(directory, 'log'), 'utf8').split('\n').slice(0, -1)
}

const ZONE = { space: 0, origin: 'a.test.', slot: 1, plugin: 'etcd' } as const
const ARENA = { arenaUsedBytes: 1, arenaBytes: 2 } as const
const WHERE = {
  kind: 'source',
  space: 0,
  type: 'zones',
  name: 'stored',
  prefix: '/zones/',
  endpoints: ['h:1'],
} as const

function loaded(serial: number): LoaderReport {
  const content = { file: '/zones/a.test', writtenSerial: serial, serialChanged: true, records: 3, warnings: [] }
  return { ...ZONE, ...ARENA, ...content, kind: 'zone', serial, milliseconds: 1 }
}

function refused(keptSerial: number | undefined): LoaderReport {
  return { ...ZONE, kind: 'refused', file: '/zones/a.test', errors: ['/zones/a.test:4:6: "x": an address'], keptSerial }
}

function source(more: Partial<Extract<LoaderReport, { kind: 'source' }>>): LoaderReport {
  const state = { up: false, error: undefined, hint: undefined, revision: '0', keys: 0, doubted: false }
  return { ...WHERE, ...state, startedFrom: undefined, problemCount: 0, problems: [], ...more }
}

test('a zone is awaited, then ok, then refused with the version before it, then ok again', () => {
  const [zone] = [() => table.status().zones[0]]
  table.apply({ ...ZONE, kind: 'awaited' })
  expect(zone()).toEqual({ zone: 'a.test.', plugin: 'etcd', state: 'awaited' })
  table.apply(refused(undefined))
  expect(zone()).toMatchObject({ state: 'failed', errors: ['/zones/a.test:4:6: "x": an address'] })
  table.apply(loaded(5))
  expect(zone()).toEqual({ zone: 'a.test.', plugin: 'etcd', state: 'ok', serial: 5, from: '/zones/a.test' })
  table.apply(refused(5))
  expect(zone()).toMatchObject({ state: 'refused', serial: 5 })
  expect(table.refused()).toEqual(['a.test.'])
  table.apply({ ...ZONE, ...ARENA, kind: 'names', hasText: true, serial: 6 })
  expect(zone()).toMatchObject({ state: 'refused', serial: 6 })
  table.apply({ ...ZONE, ...ARENA, kind: 'names', hasText: false, serial: 7 })
  expect(zone()).toEqual({ zone: 'a.test.', plugin: 'etcd', state: 'ok', serial: 7 })
})

test('what is not well at the start is counted', async () => {
  table.apply(loaded(1))
  table.apply({ ...refused(undefined), origin: 'b.test.', slot: 2 } as LoaderReport)
  table.apply({ ...ZONE, origin: 'c.test.', slot: 3, kind: 'awaited' })
  table.apply({ kind: 'ready', milliseconds: 1500 })
  expect((await lines()).at(-1)).toBe('[INFO] 1 zone with 3 records loaded in 1.50 s, 1 failed, 1 awaited')
})

test('a source is told when it changes, once, with what stays in service', async () => {
  table.apply(source({}))
  expect(table.status().sources[0]).toMatchObject({ state: 'starting', since: '2026-11-16T12:00:00.000Z' })
  const away = source({ error: 'Cannot reach etcd', hint: 'look' })
  table.apply(away)
  vi.setSystemTime(Date.parse('2026-11-16T12:00:10Z'))
  table.apply(away)
  expect(table.status().sources[0]).toMatchObject({ state: 'away', error: 'Cannot reach etcd', hint: 'look' })
  expect(table.status().sources[0].since).toBe('2026-11-16T12:00:00.000Z')
  table.apply(source({ up: true, keys: 3, revision: '7' }))
  table.apply(source({ up: true, keys: 4, revision: '8' }))
  table.apply(source({ error: 'Cannot reach etcd', keys: 4, revision: '8' }))
  expect(await lines()).toEqual([
    '[ERROR] Source stored: Cannot reach etcd; nothing is known of it yet',
    '[ERROR] Source stored: look',
    '[INFO] Following stored in etcd: 3 keys at revision 7',
    '[ERROR] Source stored: Cannot reach etcd; what was known stays in service',
  ])
})

test('a source that is back shows what went wrong last, and what it cannot use', () => {
  table.apply(source({ error: 'Cannot reach etcd' }))
  vi.setSystemTime(Date.parse('2026-11-16T12:01:00Z'))
  table.apply(source({ up: true, keys: 9, revision: '7', problemCount: 6, problems: ['Cannot use key "x"'] }))
  expect(table.status().sources).toEqual([
    {
      ...{ name: 'stored', type: 'zones', prefix: '/zones/', endpoints: ['h:1'] },
      ...{ state: 'following', since: '2026-11-16T12:01:00.000Z', keys: 9, revision: 7 },
      lastError: { at: '2026-11-16T12:00:00.000Z', message: 'Cannot reach etcd' },
      ...{ problemCount: 6, problems: ['Cannot use key "x"'] },
    },
  ])
})

test('keys that etcd has lost are doubted', () => {
  table.apply(source({ up: true, keys: 9, revision: '7', doubted: true, startedFrom: 0 }))
  expect(table.status().sources[0]).toMatchObject({ state: 'doubted', startedFrom: '1970-01-01T00:00:00.000Z' })
})

test('sources of one name but of different places stand side by side', () => {
  table.apply(source({ up: true }))
  table.apply(source({ endpoints: ['h:2'] }))
  expect(table.sources().map(({ up }) => up)).toEqual([true, false])
})

test('a new configuration loses zones that are awaited, and those of a source of which nothing is known', () => {
  const next = new ZoneTable(new Log(sink))
  table.apply(loaded(1))
  expect(next.lostFrom(table)).toEqual([])
  next.apply(source({ error: 'Cannot reach etcd' }))
  expect(next.lostFrom(table)).toEqual(['a.test.'])
  next.apply(source({ error: 'Cannot reach etcd', revision: '7' }))
  expect(next.lostFrom(table)).toEqual([])
  next.apply({ ...ZONE, kind: 'awaited' })
  expect(next.lostFrom(table)).toEqual(['a.test.'])
})
