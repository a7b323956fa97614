import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { PatroniAccess } from './access.ts'
import { HoldfastError } from '../../lib/errors.ts'
import { removeMember, switchover } from './cluster.ts'
import { PatroniApi, type PatroniMember } from './patroni-api.ts'
import type { PostgresSpec } from './spec.ts'

const { signal } = new AbortController()
const access = {
  members: ['a', 'b'].map((name) => ({ name, patroniName: `pg-${name}`, address: name })),
} as unknown as PatroniAccess
let leader = 'pg-a'
let synchronous_mode = true
let standby: PatroniMember['role'] = 'sync_standby'

beforeEach(() => {
  leader = 'pg-a'
  standby = 'sync_standby'
  synchronous_mode = true
  vi.spyOn(PatroniApi.prototype, 'config').mockImplementation(async () => ({ synchronous_mode }))
  vi.spyOn(PatroniApi.prototype, 'members').mockImplementation(async () => [
    { name: leader, role: 'leader', state: 'running' },
    { name: leader === 'pg-a' ? 'pg-b' : 'pg-a', role: standby, state: 'running' },
  ])
  const replication = ['pg-a', 'pg-b'].map((name) => ({ application_name: name, state: 'streaming' }))
  vi.spyOn(PatroniApi.prototype, 'status').mockResolvedValue({ state: 'running', role: 'primary', replication })
})
afterEach(() => vi.restoreAllMocks())

test('the member of a machine hands over, unless it has ceased to lead meanwhile', async () => {
  const handOver = vi.spyOn(PatroniApi.prototype, 'switchover').mockResolvedValue()
  await switchover(access, 'a', signal)
  expect(handOver.mock.calls).toEqual([['pg-a', undefined, signal]])
  leader = 'pg-b'
  await switchover(access, 'a', signal)
  expect(handOver).toHaveBeenCalledTimes(1)
})

test('hands over only once a standby is synchronous: Patroni refuses before', async () => {
  standby = 'replica'
  let looks = 0
  vi.spyOn(PatroniApi.prototype, 'members').mockImplementation(async () => {
    looks += 1
    if (looks === 3) standby = 'sync_standby'
    return [
      { name: 'pg-a', role: 'leader', state: 'running' },
      { name: 'pg-b', role: standby, state: 'running' },
    ]
  })
  const roles: string[] = []
  vi.spyOn(PatroniApi.prototype, 'switchover').mockImplementation(async () => void roles.push(standby))
  await switchover(access, 'a', signal)
  expect(roles).toEqual(['sync_standby'])
})

test('hands over to any standby that streams, where replication is not synchronous', async () => {
  standby = 'replica'
  synchronous_mode = false
  const handOver = vi.spyOn(PatroniApi.prototype, 'switchover').mockResolvedValue()
  await switchover(access, 'a', signal)
  expect(handOver).toHaveBeenCalledTimes(1)
})

test('waits for a leader while a failover is under way, and leaves the new one alone', async () => {
  let looks = 0
  vi.spyOn(PatroniApi.prototype, 'members').mockImplementation(async () => {
    looks += 1
    if (looks === 1) return [{ name: 'pg-a', role: 'replica', state: 'running' }]
    return [{ name: 'pg-b', role: 'leader', state: 'running' }]
  })
  const handOver = vi.spyOn(PatroniApi.prototype, 'switchover').mockResolvedValue()
  await switchover(access, 'a', signal)
  expect([looks, handOver.mock.calls]).toEqual([2, []])
})

test('asks again when Patroni does not report its settings', async () => {
  standby = 'replica'
  synchronous_mode = false
  const timeout = new HoldfastError('PatroniUnreachable', 'no answer within 5 s')
  const config = vi.spyOn(PatroniApi.prototype, 'config').mockRejectedValueOnce(timeout)
  const handOver = vi.spyOn(PatroniApi.prototype, 'switchover').mockResolvedValue()
  await switchover(access, 'a', signal)
  expect([config.mock.calls.length, handOver.mock.calls.length]).toEqual([2, 1])
})

test('a member that leaves hands over only once a standby is synchronous', async () => {
  let looks = 0
  const calls: unknown[] = []
  const hasLeft = () => calls.length > 0
  vi.spyOn(PatroniApi.prototype, 'members').mockImplementation(async () => {
    looks += 1
    if (looks === 1) return []
    const isSynchronous = looks >= 6 && !hasLeft()
    return [
      { name: 'pg-a', role: hasLeft() ? 'replica' : 'leader', state: 'running', host: '10.0.0.1' },
      { name: 'pg-b', role: hasLeft() ? 'leader' : isSynchronous ? 'sync_standby' : 'replica', state: 'running' },
    ]
  })
  vi.spyOn(PatroniApi.prototype, 'switchover').mockImplementation(async (...call) => void calls.push(looks, call))
  const spec = { patroni: { synchronousMode: true, synchronousModeStrict: false } } as PostgresSpec
  const remaining = { ...access, members: access.members.slice(1) }
  await removeMember(spec, remaining, { name: 'a', address: '10.0.0.1' }, signal)
  expect(calls).toEqual([6, ['pg-a', undefined, signal]])
})
