import { expect, test } from 'vitest'
import { orderRestarts } from './order-restarts.ts'
import type { ParameterChange } from './parameter-changes.ts'

const RAISED: ParameterChange = { name: 'max_connections', from: '100', to: '150' }
const LOWERED: ParameterChange = { name: 'max_worker_processes', from: '16', to: '8' }
const OTHER: ParameterChange = { name: 'shared_buffers', from: '16384', to: '8192' }

const order = (changes: readonly ParameterChange[], sight = { primary: 'b', canSwitchOver: true }) =>
  orderRestarts(
    ['a', 'b', 'c'].map((machine) => ({ machine, changes })),
    sight,
  ).map(({ machine, how, parameters }) => `${machine} ${how} ${parameters.join('+')}`)

test('standbys restart first, and the primary after a switchover to one of them', () => {
  const each = 'max_connections+shared_buffers'
  expect(order([RAISED, OTHER])).toEqual([`a restart ${each}`, `c restart ${each}`, `b switchover ${each}`])
})

test('where nobody can take over, the primary restarts in place, last', () => {
  expect(order([OTHER], { primary: 'b', canSwitchOver: false })).toEqual([
    'a restart shared_buffers',
    'c restart shared_buffers',
    'b restart shared_buffers',
  ])
})

test('a limit that standbys must not undercut gets smaller on the primary first, in place', () => {
  const each = 'max_worker_processes+shared_buffers'
  expect(order([LOWERED, OTHER])).toEqual([`b restart ${each}`, `a restart ${each}`, `c restart ${each}`])
})

test('limits that get larger and smaller at once restart standbys twice', () => {
  expect(order([RAISED, LOWERED])).toEqual([
    ...['a restart max_connections', 'c restart max_connections', 'b restart max_connections+max_worker_processes'],
    ...['a restart max_worker_processes', 'c restart max_worker_processes'],
  ])
})

test('what is left after a run that was cut short: only members that wait', () => {
  const members = [
    { machine: 'a', changes: [] },
    { machine: 'b', changes: [RAISED] },
    { machine: 'c', changes: [], isPending: true },
  ]
  const restarts = orderRestarts(members, { primary: 'b', canSwitchOver: true })
  expect(restarts).toMatchObject([
    { machine: 'c', parameters: [], isPrimary: false, how: 'restart' },
    { machine: 'b', parameters: ['max_connections'], isPrimary: true, how: 'switchover' },
  ])
})

test('while no member leads, none is called the primary', () => {
  const restarts = orderRestarts([{ machine: 'a', changes: [LOWERED] }], { primary: undefined, canSwitchOver: false })
  expect(restarts).toMatchObject([{ machine: 'a', isPrimary: undefined, how: 'restart' }])
})
