import { expect, test } from 'vitest'
import { service } from '../../../test/support/local-stack.ts'
import type { UnitState } from './cloud-init/apply-program.ts'
import { areStarted, machineState, silentState, stoppedState } from './service-states.ts'

const A = service('a', '')
const STEP = service('step', '', { once: true })
const AFTER = service('after', '')

function unit(name: string, active: string, sub: string, parts: Partial<UnitState> = {}): UnitState {
  const still = { pid: 0, since: 1000, restarts: 0, result: 'success', exitStatus: 0, end: null }
  return { name: `holdfast-${name}.service`, active, sub, ...still, ...parts }
}

test.each([
  ['active', 'running', 'running'],
  ['active', 'exited', 'done'],
  ['activating', 'start', 'running'],
  ['activating', 'auto-restart', 'waiting'],
  ['reloading', 'reload', 'running'],
  ['deactivating', 'stop-sigterm', 'running'],
  ['inactive', 'dead', 'stopped'],
  ['failed', 'failed', 'stopped'],
] as const)('a unit that is %s (%s) is a service that is %s', (active, sub, state) => {
  expect(machineState([A], [unit('a', active, sub)]).services.get('a')?.state).toBe(state)
})

test('process, time, restarts and the last error are those of the unit', () => {
  const end = { at: 900, exitCode: 1, signal: null, lines: ['no such file'] }
  const units = [unit('a', 'activating', 'auto-restart', { pid: 7, restarts: 3, end })]
  const failure = { at: 900, kind: 'exited', exitCode: 1, detail: 'no such file' }
  expect(machineState([A], units).services.get('a')).toEqual({
    ...{ state: 'waiting', pid: 7, since: 1000, restarts: 3, failure },
  })
})

test('only services that were started are told, those without a unit as stopped', () => {
  const state = machineState([A, STEP], [unit('a', 'active', 'running'), unit('program', 'active', 'exited')])
  expect([...state.services].map(([name, each]) => [name, each.state])).toEqual([
    ['a', 'running'],
    ['step', 'stopped'],
  ])
})

test('services of a machine that is off are stopped; of one that does not answer, nothing is known', () => {
  expect(stoppedState([A]).services.get('a')).toMatchObject({ state: 'stopped', failure: undefined })
  const silent = silentState([A], 'it does not answer')
  expect(silent.services.get('a')).toMatchObject({ state: 'waiting', failure: undefined })
  expect(silent.problem).toBe('it does not answer')
})

test('services are started when each was tried, up to a step that is not done', () => {
  const services = [A, STEP, AFTER]
  const running = unit('a', 'active', 'running')
  expect(areStarted(services, machineState(services, []))).toBe(false)
  expect(areStarted(services, machineState(services, [running]))).toBe(false)
  const trying = unit('step', 'activating', 'auto-restart')
  expect(areStarted(services, machineState(services, [running, trying]))).toBe(true)
  const done = unit('step', 'active', 'exited')
  expect(areStarted(services, machineState(services, [running, done]))).toBe(false)
  const failed = unit('after', 'failed', 'failed', { end: { at: 1, exitCode: null, signal: null, lines: [] } })
  expect(areStarted(services, machineState(services, [running, done, failed]))).toBe(true)
})
