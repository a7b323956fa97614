import { expect, test } from 'vitest'
import { postgresSpec } from '../../../test/support/postgres-spec.ts'
import type { PatroniMember, PatroniStatus } from './patroni-api.ts'
import { describeCluster, type Sight } from './status.ts'

const spec = postgresSpec('10.0.3')
const member = (name: string, role: PatroniMember['role'], state = 'running'): PatroniMember => ({ name, role, state })
const members = [member('pg-1', 'leader'), member('pg-2', 'sync_standby'), member('pg-3', 'replica')]
const primary: PatroniStatus = {
  state: 'running',
  role: 'master',
  server_version: 150_018,
  xlog: { location: 1000 },
  replication: [
    { application_name: 'pg-2', state: 'streaming' },
    { application_name: 'pg-3', state: 'streaming' },
  ],
}
const replica = (replayed: number): PatroniStatus => ({
  state: 'running',
  role: 'replica',
  server_version: 150_018,
  xlog: { replayed_location: replayed },
})
const statuses: Sight['statuses'] = new Map([
  ['pg-1', primary],
  ['pg-2', replica(1000)],
  ['pg-3', replica(900)],
])
const withStatus = (name: string, status: PatroniStatus | string): Sight => ({
  members,
  statuses: new Map([...statuses, [name, status]]),
})

test('a cluster with a leader, a synchronous standby and all members streaming is ready', () => {
  const { members: described, isReady } = describeCluster(spec, { members, statuses })
  expect(isReady).toBe(true)
  expect(described.map(({ machine, role, version, lagBytes }) => [machine, role, version, lagBytes])).toEqual([
    ['pg-1', 'primary', '15.18', undefined],
    ['pg-2', 'sync standby', '15.18', 0],
    ['pg-3', 'replica', '15.18', 100],
  ])
})

test('a replica that read more than the leader had said is not behind', () => {
  const { members: described } = describeCluster(spec, withStatus('pg-3', replica(1200)))
  expect(described[2].lagBytes).toBe(0)
})

test.each([
  ['no leader', { members: members.slice(1), statuses }],
  ['no leader', { members: undefined, statuses: new Map() }],
  ['no synchronous standby', { members: [members[0], member('pg-2', 'replica'), members[2]], statuses }],
  ['2 of 3 members', withStatus('pg-3', { ...replica(0), state: 'creating replica' })],
  ['2 of 3 members', withStatus('pg-3', 'Cannot ask Patroni at "https://10.0.3.3:8008": connection refused')],
  [
    '2 of 3 members',
    withStatus('pg-1', { ...primary, replication: [{ application_name: 'pg-2', state: 'streaming' }] }),
  ],
  ['2 of 3 members', withStatus('pg-1', { ...primary, role: 'replica' })],
])('it waits for what it lacks: %s', (problem, sight) => {
  expect(describeCluster(spec, sight)).toMatchObject({ isReady: false, problem })
})

test('it works while its primary takes writes', () => {
  const works = (sight: Sight, change: Partial<typeof spec.patroni> = {}) =>
    describeCluster({ ...spec, patroni: { ...spec.patroni, ...change } }, sight).isWorking
  expect(works({ members, statuses })).toBe(true)
  expect(works(withStatus('pg-3', 'Patroni does not answer: connection refused'))).toBe(true)
  const alone: Sight = { members: [members[0], member('pg-2', 'replica'), members[2]], statuses }
  expect(works(alone, { synchronousMode: true, synchronousModeStrict: true })).toBe(false)
  expect(works(alone, { synchronousMode: true, synchronousModeStrict: false })).toBe(true)
  expect(works({ members: members.slice(1), statuses })).toBe(false)
  expect(works(withStatus('pg-1', 'Patroni does not answer: no answer'))).toBe(false)
})

test('what a member that starts still needs is named', () => {
  const [first] = describeCluster(spec, withStatus('pg-1', 'Patroni does not answer: connection refused')).members
  expect(first).toMatchObject({ isReady: false, waitsFor: 'Patroni to start' })
  const third = describeCluster(spec, withStatus('pg-3', { ...replica(0), state: 'creating replica' })).members[2]
  expect(third).toMatchObject({ problem: 'creating replica', waitsFor: 'its copy of the data' })
})

test('as many synchronous standbys are wanted as the stack file says, and none without synchronous replication', () => {
  const count = (change: Partial<typeof spec.patroni>) =>
    describeCluster({ ...spec, patroni: { ...spec.patroni, ...change } }, { members, statuses }).problem
  expect(count({ synchronousNodeCount: 2 })).toBe('1 of 2 synchronous standbys')
  expect(count({ synchronousNodeCount: 2, synchronousMode: false })).toBeUndefined()
})

test('members tell what is wrong with them; a restart that is pending is told, too, but keeps nobody from being ready', () => {
  const starting = describeCluster(spec, withStatus('pg-2', { ...replica(0), state: 'starting' }))
  expect(starting.members[1]).toMatchObject({ isReady: false, problem: 'starting' })
  const pending = describeCluster(spec, withStatus('pg-2', { ...replica(0), pending_restart: true }))
  expect(pending.members[1]).toMatchObject({ isReady: true, problem: 'restart pending' })
})

test('a member whose pg_rewind failed waits for a copy, and says so before its state', () => {
  const { members: described, isReady } = describeCluster(
    spec,
    withStatus('pg-3', { state: 'start failed', role: 'replica', rewind_failed: true }),
  )
  expect(isReady).toBe(false)
  expect(described[2]).toMatchObject({
    isReady: false,
    problem: 'pg_rewind failed, the data is to be replaced',
    waitsFor: 'a copy of the data of the primary',
  })
})

test('where replaced data is kept is a remark on a member that is ready', () => {
  const kept = '/var/lib/postgresql/15/main.aside'
  const { members: described, isReady } = describeCluster(
    spec,
    withStatus('pg-3', { ...replica(900), data_kept_aside: kept }),
  )
  expect(isReady).toBe(true)
  expect(described[2]).toMatchObject({ isReady: true, problem: `replaced data is kept in ${kept}` })
})
