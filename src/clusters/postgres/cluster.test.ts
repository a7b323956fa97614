import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { PatroniAccess } from './access.ts'
import { switchover } from './cluster.ts'
import { PatroniApi, type PatroniMember } from './patroni-api.ts'

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
