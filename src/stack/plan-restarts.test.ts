import { describe, expect, test } from 'vitest'
import { postgresSpec } from '../../test/support/postgres-spec.ts'
import { service } from '../../test/support/local-stack.ts'
import type { PostgresFacts } from '../clusters/postgres/facts.ts'
import { SERVER } from '../clusters/postgres/parameters/testing.ts'
import type { ExistingMachine, MachineState, ServiceState } from '../targets/target.ts'
import type { Detail, MachinePlan } from './plan.ts'
import { planRestarts, type RestartInput } from './plan-restarts.ts'

const NAMES = ['postgres-1', 'postgres-2', 'postgres-3']
const SETTINGS_FILE = '/etc/patroni/dynamic.json'
const SETTINGS_CHANGE: Detail = {
  ...{ what: 'file', name: SETTINGS_FILE, change: 'change', reason: 'content' },
  ...{ why: '', effect: 'none', diff: [] },
}

function plan(machine: string, change: Partial<MachinePlan> = {}): MachinePlan {
  return { machine, kind: 'postgres', address: '127.0.0.1', action: 'none', effect: 'none', details: [], ...change }
}

function state(patroni: ServiceState['state'], step: ServiceState['state'] = 'done'): MachineState {
  const one = (each: ServiceState['state']) =>
    ({ state: each, pid: 1, since: 0, restarts: 0, failure: undefined }) as const
  return {
    services: new Map([
      ['patroni', one(patroni)],
      ['patroni-settings', one(step)],
    ] as const),
  }
}

function existing(name: string, parameters: Readonly<Record<string, string>>): ExistingMachine {
  const text = JSON.stringify({ postgresql: { parameters } })
  const services = name === 'postgres-1' ? [service('patroni', ''), service('patroni-settings', '')] : []
  const files = name === 'postgres-1' ? new Map([[SETTINGS_FILE, { owner: '', mode: 0, text }]]) : new Map()
  return {
    ...{ name, kind: 'postgres', address: '127.0.0.1', files, services },
    ...{ pending: new Map(), directories: new Map() },
  }
}

const SHARED = { wal_retrieve_retry_interval: '500ms' }

/** A running cluster whose parameters were just changed in the stack file. */
function input(params: Readonly<Record<string, string>>, change: Partial<RestartInput> = {}): RestartInput {
  return {
    spec: postgresSpec('127.0.0', { params }),
    facts: facts(),
    plans: [plan(NAMES[0], { action: 'update', details: [SETTINGS_CHANGE] }), plan(NAMES[1]), plan(NAMES[2])],
    existing: new Map(NAMES.map((name) => [name, existing(name, SHARED)])),
    states: new Map(NAMES.map((name) => [name, state('running')])),
    isResumed: false,
    ...change,
  }
}

function facts(change: Partial<PostgresFacts> = {}): PostgresFacts {
  return {
    ...{ primary: NAMES[1], canSwitchOver: true, pending: new Set<string>(), shared: SHARED },
    servers: new Map(NAMES.map((name) => [name, SERVER])),
    ...change,
  }
}

const shown = (given: RestartInput) =>
  planRestarts(given).restarts.map(({ machine, parameters, how }) => `${machine} ${how} ${parameters.join('+')}`)

const ALL_MEMBERS = [
  'postgres-1 restart max_connections',
  'postgres-3 restart max_connections',
  'postgres-2 switchover max_connections',
]

describe('a changed parameter', () => {
  test('that needs a restart names every member, the primary last', () => {
    const { restarts, details } = planRestarts(input({ max_connections: '150' }))
    expect(restarts.map(({ isPrimary }) => isPrimary)).toEqual([false, false, true])
    expect(shown(input({ max_connections: '150' }))).toEqual(ALL_MEMBERS)
    expect(details.get('postgres-3')).toMatchObject([
      { what: 'parameter', name: 'max_connections', effect: 'restart', diff: [{ text: '100' }, { text: '150' }] },
    ])
  })

  test('that a reload changes restarts nothing', () => {
    expect(shown(input({ work_mem: '64MB' }))).toEqual([])
  })

  test('restarts those that do not have it yet', () => {
    const restarted = new Map([...SERVER, ['max_connections', { ...SERVER.get('max_connections')!, value: '150' }]])
    const servers = new Map([...facts().servers, ['postgres-1', restarted]] as const)
    const given = input({ max_connections: '150' }, { facts: facts({ servers }) })
    expect(shown(given)).toEqual(ALL_MEMBERS.slice(1))
  })

  test('of a member that does not answer is expected by the table of parameters', () => {
    const servers = new Map([...facts().servers].filter(([name]) => name !== 'postgres-3'))
    expect(shown(input({ max_connections: '150' }, { facts: facts({ servers }) }))).toEqual(ALL_MEMBERS)
  })

  test('needs no restart of a member that is new, or whose Patroni restarts anyway', () => {
    const restart: Detail = { ...SETTINGS_CHANGE, what: 'service', name: 'patroni', effect: 'restart' }
    const plans = [
      plan('postgres-1', { action: 'update', details: [SETTINGS_CHANGE] }),
      plan('postgres-2'),
      plan('postgres-3', { action: 'update', details: [restart] }),
      plan('postgres-4', { action: 'create', effect: 'start' }),
    ]
    const given = input({ max_connections: '150' }, { plans })
    expect(shown(given)).toEqual([ALL_MEMBERS[0], ALL_MEMBERS[2]])
    expect(planRestarts(given).details.get('postgres-4')).toEqual([])
  })

  test('needs its restart also where a service of the machine itself restarts', () => {
    const logs: Detail = { ...SETTINGS_CHANGE, name: '/etc/logs', effect: 'restart', hostService: 'fluent-bit' }
    const plans = [
      plan('postgres-1', { action: 'update', details: [SETTINGS_CHANGE, logs] }),
      ...['postgres-2', 'postgres-3'].map((name) => plan(name, { action: 'update', details: [logs] })),
    ]
    expect(shown(input({ max_connections: '150' }, { plans }))).toEqual(ALL_MEMBERS)
  })
})

test('a cluster that is down starts with its old parameters, and restarts for the new ones', () => {
  const down = facts({ primary: undefined, canSwitchOver: false, servers: new Map(), shared: undefined })
  const states = new Map(NAMES.map((name) => [name, state('stopped')]))
  const given = input({ max_connections: '150' }, { facts: down, states })
  expect(shown(given)).toEqual(NAMES.map((name) => `${name} restart max_connections`))
  expect(planRestarts(given).restarts.every(({ isPrimary }) => isPrimary === undefined)).toBe(true)
})

describe('what a run that was cut short left pending', () => {
  const plans = NAMES.map((name) => plan(name))

  test('is planned, though no file changes: the settings are shared already', () => {
    const shared = { ...SHARED, max_connections: '150' }
    const given = input({ max_connections: '150' }, { plans, facts: facts({ shared }), isResumed: true })
    expect(shown(given)).toEqual(ALL_MEMBERS)
  })

  test('is planned for a parameter that left the file: the server itself says that it waits', () => {
    const waiting = { ...SERVER.get('max_connections')!, value: '150', isPending: true }
    const server = new Map([...SERVER, ['max_connections', waiting]] as const)
    const servers = new Map(NAMES.map((name) => [name, server]))
    expect(shown(input({}, { plans, facts: facts({ servers }) }))).toEqual([
      ...['postgres-2 restart max_connections'],
      ...['postgres-1 restart max_connections', 'postgres-3 restart max_connections'],
    ])
  })

  test('is planned when only Patroni knows of it', () => {
    const given = input({}, { plans, facts: facts({ pending: new Set(['postgres-3']) }), isResumed: true })
    expect(shown(given)).toEqual(['postgres-3 restart '])
    expect(planRestarts(given).details.get('postgres-3')).toMatchObject([{ effect: 'restart' }])
  })
})

test('what others left pending is reported, and left alone', () => {
  const plans = NAMES.map((name) => plan(name))
  const shared = { ...SHARED, max_connections: '300' }
  const given = input({}, { plans, facts: facts({ shared, pending: new Set(['postgres-3']) }) })
  expect(planRestarts(given)).toMatchObject({ restarts: [], foreign: ['postgres-3'] })
})
