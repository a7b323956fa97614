// A change that PostgreSQL restarts for: the plan names exactly the restarts that "up" makes, also after one that was cut short.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { loopbackNetwork } from '../support/loopback.ts'
import { DNS_PORT, StackLab } from '../support/stack-lab.ts'
import { until } from '../support/until.ts'

const N = loopbackNetwork()
const file = (params: string) => `domain: lab.test
network: ${N}.0.0/16
etcd: { members: 3 }
dns: { servers: 2, port: ${DNS_PORT} }
postgres: { members: 3, params: { ${params} } }`

const lab = new StackLab('stack-restarts', file('work_mem: 8MB'))
beforeAll(async () => void (await lab.up()), 300_000)
afterAll(() => lab.close())

/** The postmaster of each member. */
const servers = async () => Object.entries(await lab.pids()).filter(([name]) => name.endsWith('/postgres'))
const restarted = async (before: readonly (readonly [string, number])[]) => {
  const after = new Map(await servers())
  return before.filter(([name, pid]) => after.get(name) !== pid).map(([name]) => name.replace('/postgres', ''))
}
const limits = () => Promise.all([1, 2, 3].map((i) => lab.sql('show max_connections', { PGHOSTADDR: `${N}.30.${i}` })))

test('the plan names exactly the restarts that "up" makes, also after one that was cut short', async () => {
  lab.file(file('work_mem: 8MB, max_connections: 120'))
  const first = await lab.plan()
  const { machine: primary } = await lab.machine('primary')
  expect(first.restarts.map(({ machine }) => machine).toSorted()).toEqual(['postgres-1', 'postgres-2', 'postgres-3'])
  expect(first.restarts.at(-1)).toMatchObject({ machine: primary, isPrimary: true, how: 'switchover' })
  expect((await lab.run('plan')).stdout).toMatch(/; 3 restarts, 1 switchover\n$/u)
  const before = await lab.pids()

  const cut = lab.spawn('up', '--yes', '--detach')
  await until('the first restart', () => cut.output.includes('restarting PostgreSQL'), 240_000)
  cut.kill('SIGINT')
  await cut.ended()
  // Patroni finishes the restart that it has begun, and a server that restarts takes no connections.
  const pending = async () => {
    if (!(await lab.status()).isReady) return undefined
    const waiting = (await limits()).flatMap((limit, index) => (limit === '120' ? [] : [`postgres-${index + 1}`]))
    const planned = (await lab.plan()).restarts.map(({ machine }) => machine).toSorted()
    return planned.join() === waiting.join() ? waiting : undefined
  }
  const waiting = await until('a plan of the restarts that are left', () => pending().catch(() => undefined), 170_000)
  expect(waiting.length).toBeGreaterThan(0)
  expect((await lab.run('plan')).code).toBe(4)

  const between = await servers()
  await lab.done('up', '--yes', '--detach')
  expect((await restarted(between)).toSorted()).toEqual(waiting)
  expect(await limits()).toEqual(['120', '120', '120'])
  expect((await lab.machine('primary')).machine).not.toBe(primary)
  const others = (pids: Record<string, number>) => Object.entries(pids).filter(([name]) => !name.endsWith('/postgres'))
  expect(others(await lab.pids())).toEqual(others(before))
  expect(await lab.run('plan')).toMatchObject({ code: 0, stdout: `No changes. ${lab.name} matches stack.yaml\n` })
}, 900_000)
