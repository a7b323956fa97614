import { beforeEach, describe, expect, test } from 'vitest'
import type { ObservedMachine } from './observed.ts'
import { BOOT, desiredMachine, desiredService, SimulatedHost } from './testing.ts'

let host: SimulatedHost
beforeEach(() => {
  host = new SimulatedHost()
})

const ETCD = desiredService('etcd')
const STEP = desiredService('step', { once: true })
const AFTER = desiredService('after')

describe('starting', () => {
  test('starts everything in order, and writes down what runs', () => {
    const care = host.care(desiredMachine([ETCD, AFTER]))
    care.pass(host.clockMs)
    expect(host.done()).toEqual(['start etcd', 'start after'])
    expect(host.saved).toMatchObject({ machine: 'm', revision: 1, bootId: BOOT, isStopped: false })
    expect(host.observed('etcd')).toMatchObject({ state: 'running', restarts: 0, failure: undefined })
    care.pass(host.clockMs)
    expect(host.done()).toEqual([])
    expect(care.isIdle).toBe(false)
    expect(care.services).toEqual(['etcd', 'after'])
  })

  test('a step holds up what comes after it until it has succeeded', () => {
    const care = host.care(desiredMachine([ETCD, STEP, AFTER]))
    care.pass(host.clockMs)
    expect(host.done()).toEqual(['start etcd', 'start step'])
    host.end(host.pidOf('step'), { exitCode: 1 })
    host.clockMs += 20_000
    care.pass(host.clockMs)
    expect(host.done()).toEqual(['start step'])
    host.end(host.pidOf('step'))
    care.pass(host.clockMs)
    expect(host.done()).toEqual(['start after'])
    expect(host.observed('step')).toMatchObject({ state: 'done', restarts: 0, failure: undefined })
  })

  test('a step that is done is not done again, unless its files have changed', () => {
    const care = host.care(desiredMachine([STEP]))
    care.pass(host.clockMs)
    host.end(host.pidOf('step'))
    host.done()
    care.pass(host.clockMs)
    expect(host.done()).toEqual([])
    care.desired = desiredMachine([{ ...STEP, digests: { restart: 'b', reload: 'a' } }])
    care.pass(host.clockMs)
    expect(host.done()).toEqual(['start step'])
  })
})

describe('changes', () => {
  test('a service with another command is stopped, then started as it should be', () => {
    const care = host.care(desiredMachine([ETCD]))
    care.pass(host.clockMs)
    const pid = host.pidOf('etcd')
    care.desired = desiredMachine([desiredService('etcd', { command: ['etcd', '--new'] })])
    care.pass(host.clockMs)
    expect(host.done()).toEqual(['start etcd', `SIGTERM ${pid}`])
    host.end(pid)
    care.pass(host.clockMs)
    expect(host.done()).toEqual(['start etcd'])
    expect(host.observed('etcd')).toMatchObject({
      state: 'running',
      startedAs: { service: { command: ['etcd', '--new'] } },
    })
  })

  test('a service that should read its files again gets its signal once', () => {
    const service = desiredService('etcd', { reloadSignal: 'SIGHUP' })
    const care = host.care(desiredMachine([service]))
    care.pass(host.clockMs)
    const pid = host.pidOf('etcd')
    host.done()
    care.desired = desiredMachine([{ ...service, reloads: 1, digests: { restart: 'a', reload: 'b' } }])
    care.pass(host.clockMs)
    care.pass(host.clockMs)
    expect(host.done()).toEqual([`SIGHUP ${pid}`])
    expect(host.observed('etcd').startedAs).toMatchObject({ reloads: 1, digests: { reload: 'b' } })
  })

  test('a service that the machine no longer has is stopped and forgotten', () => {
    const care = host.care(desiredMachine([ETCD, AFTER]))
    care.pass(host.clockMs)
    const pid = host.pidOf('after')
    host.done()
    care.desired = desiredMachine([ETCD])
    care.pass(host.clockMs)
    expect(host.done()).toEqual([`SIGTERM ${pid}`])
    host.end(pid)
    care.pass(host.clockMs)
    expect(care.services).toEqual(['etcd'])
  })
})

describe('stopping', () => {
  test('stops one service at a time, the last one first, and is idle then', () => {
    const care = host.care(desiredMachine([ETCD, AFTER]))
    care.pass(host.clockMs)
    const [etcd, after] = [host.pidOf('etcd'), host.pidOf('after')]
    host.done()
    care.desired = desiredMachine([ETCD, AFTER], 'stopped')
    care.pass(host.clockMs)
    expect(host.done()).toEqual([`SIGTERM ${after}`])
    host.end(after)
    care.pass(host.clockMs)
    expect(host.done()).toEqual([`SIGTERM ${etcd}`])
    expect(care.isIdle).toBe(false)
    host.end(etcd)
    care.pass(host.clockMs)
    expect(care.isIdle).toBe(true)
    expect(host.saved).toMatchObject({ isStopped: true, services: [{ state: 'stopped' }, { state: 'stopped' }] })
    expect(host.observed('etcd').failure).toBeUndefined()
  })

  test('kills a service that does not end in its time, and only once', () => {
    const care = host.care(desiredMachine([ETCD]))
    care.pass(host.clockMs)
    const pid = host.pidOf('etcd')
    care.desired = desiredMachine([ETCD], 'stopped')
    care.pass(host.clockMs)
    host.done()
    expect(care.dueAt).toBe(host.clockMs + 5000)
    host.clockMs += 4999
    care.pass(host.clockMs)
    expect(host.done()).toEqual([])
    host.clockMs += 1
    care.pass(host.clockMs)
    care.pass(host.clockMs)
    expect(host.done()).toEqual([`SIGKILL ${pid}`])
    host.end(pid, { signal: 'SIGKILL' })
    care.pass(host.clockMs)
    expect(host.observed('etcd')).toMatchObject({ state: 'stopped', failure: undefined })
  })

  test('ends what services have left behind: asks first, kills after ten seconds', () => {
    const care = host.care(desiredMachine([ETCD]))
    care.pass(host.clockMs)
    const { pid } = host.add()
    care.desired = desiredMachine([ETCD], 'stopped')
    care.pass(host.clockMs)
    host.end(host.pidOf('etcd'))
    host.done()
    care.pass(host.clockMs)
    expect(host.done()).toEqual([`SIGINT ${pid}`, `SIGTERM ${pid}`])
    expect(care.isIdle).toBe(false)
    expect(care.dueAt).toBe(host.clockMs + 50)
    host.clockMs += 9999
    care.pass(host.clockMs)
    expect(host.done()).toEqual([])
    host.clockMs += 1
    care.pass(host.clockMs)
    expect(host.done()).toEqual([`SIGKILL ${pid}`])
    host.end(pid)
    care.pass(host.clockMs)
    expect(care.isIdle).toBe(true)
  })

  test('what is to run again is started again, without what was left to be ended', () => {
    const care = host.care(desiredMachine([ETCD], 'stopped'))
    care.pass(host.clockMs)
    expect(care.isIdle).toBe(true)
    care.desired = desiredMachine([ETCD])
    care.pass(host.clockMs)
    expect(host.done()).toEqual(['start etcd'])
    expect(care.isIdle).toBe(false)
  })
})

describe('a supervisor that takes over', () => {
  function left(): ObservedMachine {
    const first = new SimulatedHost()
    first.care(desiredMachine([ETCD])).pass(first.clockMs)
    if (first.saved === undefined) throw new Error('nothing was written down')
    return first.saved
  }

  test('keeps a process that was written down and still runs', () => {
    const before = left()
    const id = host.add('etcd')
    expect(before.services[0].process).toEqual(id)
    const care = host.care(desiredMachine([ETCD]), before)
    care.pass(host.clockMs)
    expect(host.done()).toEqual([])
    expect(host.observed('etcd')).toMatchObject({ state: 'running', process: id, restarts: 0 })
  })

  test('finds a process that was not written down', () => {
    const id = host.add('etcd')
    host.care(desiredMachine([ETCD])).pass(host.clockMs)
    expect(host.done()).toEqual([])
    expect(host.observed('etcd')).toMatchObject({ state: 'running', process: id })
  })

  test('starts at once what ended meanwhile, and reports how far that is known', () => {
    const care = host.care(desiredMachine([ETCD]), left())
    care.pass(host.clockMs)
    expect(host.done()).toEqual(['start etcd'])
    expect(host.observed('etcd')).toMatchObject({ restarts: 1, failure: { kind: 'unwatched' } })
  })

  test('after a start of the host, starts everything without calling that a failure', () => {
    const care = host.care(desiredMachine([ETCD]), { ...left(), bootId: 'boot-0' })
    care.pass(host.clockMs)
    expect(host.done()).toEqual(['start etcd'])
    expect(host.observed('etcd')).toMatchObject({ state: 'running', restarts: 0, failure: undefined })
  })

  test('notices the end of a process that is not its child, and starts it again after a pause', () => {
    const id = host.add('etcd')
    const care = host.care(desiredMachine([ETCD]), left())
    care.pass(host.clockMs)
    host.end(id.pid)
    care.pass(host.clockMs)
    expect(host.observed('etcd')).toMatchObject({ state: 'waiting', restarts: 1, failure: { kind: 'unwatched' } })
    host.clockMs = care.dueAt
    care.pass(host.clockMs)
    expect(host.done()).toEqual(['start etcd'])
  })

  test('looks often at a process that is not its child while that is being stopped', () => {
    host.add('etcd')
    const care = host.care(desiredMachine([ETCD], 'stopped'), left())
    care.pass(host.clockMs)
    expect(care.dueAt).toBe(host.clockMs + 30)
  })
})

test('a disk that is full keeps nothing from being done, is logged once, and is tried again', () => {
  host.isDiskFull = true
  const care = host.care(desiredMachine([ETCD, AFTER]))
  care.pass(host.clockMs)
  care.pass(host.clockMs)
  expect(host.done()).toEqual(['start etcd', 'start after'])
  expect(host.log.filter((line) => line === 'no space left on device')).toHaveLength(1)
  expect(host.saved).toBeUndefined()
  host.isDiskFull = false
  care.pass(host.clockMs)
  expect(host.saved?.services).toHaveLength(2)
})

test('what was written down is written again when its file is gone', () => {
  const care = host.care(desiredMachine([ETCD]))
  care.pass(host.clockMs)
  host.saved = undefined
  care.pass(host.clockMs)
  expect(host.saved).toBeUndefined()
  care.saveAgain()
  care.pass(host.clockMs)
  expect(host.saved).toBeDefined()
})
