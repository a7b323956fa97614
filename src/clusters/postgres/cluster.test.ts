import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { PatroniAccess } from './access.ts'
import { switchover } from './cluster.ts'
import { PatroniApi } from './patroni-api.ts'

const { signal } = new AbortController()
const access = {
  members: ['a', 'b'].map((name) => ({ name, patroniName: `pg-${name}`, address: name })),
} as unknown as PatroniAccess
let leader = 'pg-a'

beforeEach(() => {
  leader = 'pg-a'
  vi.spyOn(PatroniApi.prototype, 'members').mockImplementation(async () => [
    { name: leader, role: 'leader', state: 'running' },
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
