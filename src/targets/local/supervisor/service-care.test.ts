import { beforeEach, expect, test } from 'vitest'
import { logOf } from '../layout.ts'
import { ServiceCare } from './service-care.ts'
import { desiredService, SimulatedHost } from './testing.ts'

const ETCD = desiredService('etcd')

let host: SimulatedHost
let saves: number
let care: ServiceCare
beforeEach(() => {
  host = new SimulatedHost()
  saves = 0
  care = new ServiceCare({ ...host.around, machine: 'm', save: () => void saves++ }, ETCD)
})

function pid(): number {
  return care.observed.process?.pid ?? 0
}

function write(text: string): void {
  const path = logOf(host.around.layout, 'm', 'etcd')
  host.logs.set(path, (host.logs.get(path) ?? '') + text)
}

test('is stopped at first, and due at once', () => {
  expect(care.observed).toMatchObject({ state: 'stopped', process: undefined, restarts: 0, failure: undefined })
  expect(care.isAlive).toBe(false)
  expect(care.isDue(ETCD, host.clockMs)).toBe(true)
  expect(care.dueAt).toBe(Infinity)
})

test('is written down before it is started, and with its process afterwards', () => {
  care.start(ETCD)
  expect(saves).toBe(2)
  expect(care.observed).toMatchObject({ state: 'running', process: { pid: 101 } })
  expect(care.isAlive).toBe(true)
})

test('an end is kept as fields, with its time and the line that says why', () => {
  write('ERROR: of an earlier run\n')
  care.start(ETCD)
  write('starting\nFATAL: the port is taken\n[INFO] bye\n')
  host.clockMs += 1234
  host.end(pid(), { exitCode: 3 })
  expect(care.observed).toMatchObject({ state: 'waiting', process: undefined, restarts: 1 })
  expect(care.observed.failure).toEqual({
    at: host.system.time(),
    kind: 'exited',
    exitCode: 3,
    detail: 'FATAL: the port is taken',
  })
  expect(host.wakes).toBe(1)
})

test('lines of an earlier run say nothing about this one', () => {
  write('ERROR: of an earlier run\n')
  care.start(ETCD)
  host.end(pid(), { exitCode: 1 })
  expect(care.observed.failure).toEqual({ at: host.system.time(), kind: 'exited', exitCode: 1 })
})

test('a kill is kept with its signal, and without a word of its log', () => {
  care.start(ETCD)
  write('ERROR: something else\n')
  host.end(pid(), { signal: 'SIGKILL' })
  expect(care.observed.failure).toEqual({ at: host.system.time(), kind: 'killed', signal: 'SIGKILL' })
})

test('a start that fails is tried again', () => {
  host.refusal = new Error('/etc/x.env: no such file')
  care.start(ETCD)
  expect(care.observed).toMatchObject({
    state: 'waiting',
    failure: { kind: 'unstartable', detail: '/etc/x.env: no such file' },
  })
  host.refusal = undefined
  host.clockMs = care.dueAt
  expect(care.isDue(ETCD, host.clockMs)).toBe(true)
  care.start(ETCD)
  expect(care.isAlive).toBe(true)
})

test('pauses grow while it crashes, are at most ten seconds, and begin again after a good run', () => {
  const pauses = Array.from({ length: 9 }, () => {
    care.start(ETCD)
    host.end(pid(), { exitCode: 1 })
    const pause = care.dueAt - host.clockMs
    expect(care.isDue(ETCD, host.clockMs + pause - 1)).toBe(false)
    host.clockMs = care.dueAt
    expect(care.isDue(ETCD, host.clockMs)).toBe(true)
    return pause
  })
  for (const [index, pause] of pauses.entries()) {
    const longest = Math.min(10_000, 100 * 2 ** index)
    expect(pause).toBeGreaterThanOrEqual(longest / 2)
    expect(pause).toBeLessThanOrEqual(longest)
  }
  expect(care.observed.restarts).toBe(9)
  care.start(ETCD)
  host.clockMs += 31_000
  host.end(pid(), { exitCode: 1 })
  expect(care.dueAt - host.clockMs).toBeLessThanOrEqual(100)
})

test('a crash loop keeps its count and its failure while it is started again', () => {
  care.start(ETCD)
  host.end(pid(), { exitCode: 1 })
  host.clockMs = care.dueAt
  care.start(ETCD)
  expect(care.observed).toMatchObject({ state: 'running', restarts: 1, failure: { exitCode: 1 } })
})

test('one that is asked for in another way does not wait, and begins without a past', () => {
  care.start(ETCD)
  host.end(pid(), { exitCode: 1 })
  const other = { ...ETCD, restarts: 1 }
  expect(care.isUpToDate(other)).toBe(false)
  expect(care.isDue(other, host.clockMs)).toBe(true)
  care.start(other)
  expect(care.observed).toMatchObject({ state: 'running', restarts: 0, failure: undefined, startedAs: { restarts: 1 } })
})

test('one that was told to stop has not failed, however it ends', () => {
  care.start(ETCD)
  const process = pid()
  care.stop(host.clockMs)
  host.end(process, { signal: 'SIGTERM' })
  expect(care.observed).toMatchObject({ state: 'stopped', restarts: 0, failure: undefined })
  expect(host.acts).toEqual(['start etcd', `SIGTERM ${process}`])
  care.stop(host.clockMs)
  expect(host.acts).toHaveLength(2)
})

test('one that is not to run any more settles; a step that was done stays done', () => {
  care.start(ETCD)
  host.end(pid(), { exitCode: 1 })
  care.settle()
  expect(care.observed.state).toBe('stopped')
  const step = desiredService('step', { once: true })
  const done = new ServiceCare({ ...host.around, machine: 'm', save: () => undefined }, step)
  done.start(step)
  host.end(done.observed.process?.pid ?? 0)
  done.settle()
  expect(done.observed.state).toBe('done')
  expect(done.isDone(step)).toBe(true)
})

test('a step that is killed is not done', () => {
  const step = desiredService('step', { once: true })
  const done = new ServiceCare({ ...host.around, machine: 'm', save: () => undefined }, step)
  done.start(step)
  host.end(done.observed.process?.pid ?? 0, { signal: 'SIGKILL' })
  expect(done.observed).toMatchObject({ state: 'waiting', failure: { kind: 'killed' } })
})

test('records of an earlier version, whose failure was a text, are taken without it', () => {
  const record = { state: 'running', process: undefined, since: 5, restarts: 2, lastError: 'x', startedAs: ETCD }
  const next = new ServiceCare({ ...host.around, machine: 'm', save: () => undefined }, ETCD, record as never)
  expect(next.observed).toMatchObject({ state: 'running', since: 5, restarts: 2, failure: undefined })
})
