import { expect, test } from 'vitest'
import { file, machine, service } from '../../test/support/local-stack.ts'
import { postgresSpec } from '../../test/support/postgres-spec.ts'
import type { PostgresFacts } from '../clusters/postgres/facts.ts'
import type { Machine } from '../machine/machine.ts'
import type { ExistingMachine } from '../targets/target.ts'
import { NO_POSTGRES, planStack, type StackFacts } from './plan-stack.ts'
import type { Stack } from './stack.ts'

const [one, two]: Machine[] = ['pg-1', 'pg-2'].map((name) => ({ ...machine(name, []), kind: 'postgres' }))
const existing = ({ name, kind, address }: Machine): ExistingMachine => ({
  ...{ name, kind, address, files: new Map(), directories: new Map(), services: [], pending: new Map() },
})

function detailsOf(unusable: readonly string[], machines: readonly Machine[] = [one, two]) {
  return planOf({ unusable: new Set(unusable) }, machines).machines.map(
    ({ machine: name, action, effect, details }) => ({
      ...{ name, action, effect },
      data: details.filter(({ what }) => what === 'data').map(({ reason }) => reason),
    }),
  )
}

function planOf(postgres: Partial<PostgresFacts>, machines: readonly Machine[], found = [one, two].map(existing)) {
  const facts: StackFacts = {
    existing: new Map(found.map((each) => [each.name, each])),
    ...{ states: new Map(), hardware: new Map(), isResumed: false },
    postgres: { ...NO_POSTGRES, primary: 'pg-1', ...postgres },
  }
  const stack = { name: 'lab', file: 'stack.yaml', postgres: postgresSpec('10.0.3') } as unknown as Stack
  const { plan } = planStack({
    ...{
      stack,
      machines,
      facts,
      withOwners: false,
      isEtcdFormed: true,
      hardwareOf: () => undefined,
      credentials: [],
      remarks: [],
    },
  })
  return plan
}

test('a member whose PostgreSQL does not start with its data has a line, and is started', () => {
  expect(detailsOf(['pg-2'])).toEqual([
    { name: 'pg-1', action: 'none', effect: 'none', data: [] },
    { name: 'pg-2', action: 'update', effect: 'start', data: ['unusable'] },
  ])
})

test('data of a member that leaves is not copied again', () => {
  expect(detailsOf(['pg-2'], [one])).toEqual([
    { name: 'pg-1', action: 'none', effect: 'none', data: [] },
    { name: 'pg-2', action: 'delete', effect: 'remove', data: [] },
  ])
})

test('data that cannot be kept next to a copy is reported, and left alone', () => {
  const { machines, remarks } = planOf({ unusable: new Set(), cramped: new Map([['pg-2', 3 << 20]]) }, [one, two])
  expect(machines.map(({ action }) => action)).toEqual(['none', 'none'])
  expect(remarks).toEqual([
    expect.stringMatching(
      /^PostgreSQL does not start with its data on pg-2, .*: 3 MiB are missing to keep the old data/u,
    ),
  ])
})

test.each([
  { name: 'patroni', isOfHost: false, handsOver: true },
  { name: 'fluent-bit', isOfHost: true, handsOver: undefined },
])('the primary hands over for a restart of $name: $handsOver', ({ name, isOfHost, handsOver }) => {
  const services = [service(name, 'true', isOfHost ? { isOfHost } : {})]
  const changed: Machine = { ...one, services, files: [file('/x', 'new', { restart: name })] }
  const before = { ...existing(one), services, files: new Map([['/x', { owner: '', mode: 0o600, text: 'old' }]]) }
  const { machines } = planOf({ canSwitchOver: true }, [changed, two], [before, existing(two)])
  expect(machines[0]).toMatchObject({ action: 'update' })
  expect(machines[0].handsOver).toBe(handsOver)
})
