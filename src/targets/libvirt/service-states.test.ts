import { expect, test } from 'vitest'
import { service } from '../../../test/support/local-stack.ts'
import type { UnitState } from './cloud-init/apply-program.ts'
import { areStarted, machineState, silentState, stoppedState } from './service-states.ts'

const A = service('a', '')
const STEP = service('step', '', { once: true })
const AFTER = service('after', '')

function unit(name: string, active: string, sub: string, parts: Partial<UnitState> = {}): UnitState {
  const still = { pid: 0, since: 1000, restarts: 0, result: 'success', exitStatus: 0, error: null }
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
  const error = 'exit code 1: no such file'
  const units = [unit('a', 'activating', 'auto-restart', { pid: 7, restarts: 3, error })]
  expect(machineState([A], units).services.get('a')).toEqual({
    ...{ state: 'waiting', pid: 7, since: 1000, restarts: 3, lastError: error },
  })
})

test('only services that were started are told, those without a unit as stopped', () => {
  const state = machineState([A, STEP], [unit('a', 'active', 'running'), unit('program', 'active', 'exited')])
  expect([...state.services].map(([name, each]) => [name, each.state])).toEqual([
    ['a', 'running'],
    ['step', 'stopped'],
  ])
})

test('services of a machine that is off are stopped; of one that does not answer, nobody knows', () => {
  expect(stoppedState([A]).services.get('a')).toMatchObject({ state: 'stopped', lastError: undefined })
  expect(silentState([A], 'nobody answers').services.get('a')).toMatchObject({
    ...{ state: 'waiting', lastError: 'nobody answers' },
  })
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
  const failed = unit('after', 'failed', 'failed', { error: 'exit code 78' })
  expect(areStarted(services, machineState(services, [running, done, failed]))).toBe(true)
})
