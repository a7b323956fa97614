// Three PostgreSQL servers under Patroni and a proxy, whose primary is handed over, loses its Patroni, and is lost
// altogether under a client that writes: what was acknowledged is there, and the proxy leads to whoever leads.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { haproxyStatus } from '../../src/clusters/haproxy/cluster.ts'
import { removeMember, switchover } from '../../src/clusters/postgres/cluster.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { isRunning, PostgresLab, patiently, postmasterPid, READY_MS } from '../support/postgres-lab.ts'
import { machineSpec } from '../support/machine-spec.ts'
import { QUICK_PATRONI } from '../support/postgres-spec.ts'
import { until } from '../support/until.ts'

const NETWORK = loopbackNetwork()

const { signal } = new AbortController()
const PROXY = `${NETWORK}.41.1`
const haproxy = { servers: [machineSpec('proxy-1', PROXY)], readWritePort: 5000, readOnlyPort: 5001 }
let lab: PostgresLab

beforeAll(async () => {
  lab = await PostgresLab.create(`${NETWORK}.31`, { haproxy, patroni: QUICK_PATRONI })
  await lab.start()
  await proxyReady()
}, READY_MS)

afterAll(() => lab.stop())

const proxyReady = () => patiently('ready proxy', async () => (await haproxyStatus(haproxy, signal)).isReady)

/** The address of the member that the proxy leads to. */
const behind = (PGPORT: string) => lab.psql(PROXY, 'select host(inet_server_addr())', { PGPORT })

/** Through the proxy; resolves when the server has acknowledged it. */
const write = (value: number) => lab.psql(PROXY, `insert into written values (${value})`, { PGPORT: '5000' })

test('the proxy leads writers to the primary and readers to a replica, and TLS goes through', async () => {
  const { address } = await lab.primary()
  expect(await behind('5000')).toBe(address)
  const replicas = lab.spec.members.map((member) => member.address).filter((each) => each !== address)
  expect(replicas).toContain(await behind('5001'))
})

test(
  'a switchover makes another member the primary, and the proxy follows',
  async () => {
    const before = await lab.primary()
    await switchover(lab.access, before.name, signal)
    const after = await lab.primary()
    expect(after.name).not.toBe(before.name)
    await patiently('proxy follows', async () => (await behind('5000').catch(() => '')) === after.address)
    await lab.ready()
  },
  READY_MS,
)

test(
  'PostgreSQL outlives its Patroni, and the next Patroni takes it over',
  async () => {
    const { name, address } = await lab.primary()
    const machine = lab.machine(name)
    const server = postmasterPid(machine)
    await machine.end('patroni', 'SIGKILL')
    expect(await lab.psql(address, 'select 1')).toBe('1')
    machine.start('patroni')
    await lab.ready()
    expect(postmasterPid(machine)).toBe(server)
    expect((await lab.primary()).name).toBe(name)
  },
  READY_MS,
)

test(
  'without etcd the primary goes on taking writes as long as it reaches all members',
  async () => {
    const { name, address } = await lab.primary()
    await lab.etcd.kill(0)
    const isOn = () => lab.machine(name).log('patroni').includes('failsafe mode is enabled and all members')
    await patiently('failsafe mode', () => Promise.resolve(isOn()))
    expect(await lab.psql(address, 'create table without_etcd (); select pg_is_in_recovery()')).toBe('f')
    await lab.etcd.restart(0)
    await lab.ready()
    expect((await lab.primary()).name).toBe(name)
  },
  READY_MS,
)

test(
  'an etcd that hangs is no reason to step down, either',
  async () => {
    const { name, address } = await lab.primary()
    const loops = () => lab.machine(name).log('patroni').split('failsafe mode is enabled and all members').length
    const before = loops()
    lab.etcd.pause(0)
    // Of a few loops in a row: it was the second that gave up.
    await patiently('failsafe mode', () => Promise.resolve(loops() >= before + 4))
    expect(await lab.psql(address, 'create table with_silent_etcd (); select pg_is_in_recovery()')).toBe('f')
    lab.etcd.resume(0)
    await lab.ready()
    expect((await lab.primary()).name).toBe(name)
  },
  READY_MS,
)

test(
  'a primary whose Patroni stops is stopped before another member leads, and reads nothing that is out of date',
  async () => {
    const old = await lab.primary()
    expect(await lab.psql(old.address, 'select 1')).toBe('1')
    const server = postmasterPid(lab.machine(old.name))
    lab.machine(old.name).signal('patroni', 'SIGSTOP')
    const next = await until(
      'another primary',
      async () => {
        const found = await lab.primary()
        return found.name !== old.name && found
      },
      READY_MS,
    )
    expect(lab.machine(old.name).log('patroni')).toContain('Patroni has not kept its lock in time')
    expect(server !== undefined && isRunning(server)).toBe(false)
    await lab.psql(next.address, 'create table after_the_fence ()')
    lab.machine(old.name).signal('patroni', 'SIGCONT')
    await lab.ready()
  },
  READY_MS,
)

test(
  'when the primary is lost, a standby takes over with all that was acknowledged, and the lost one comes back',
  async () => {
    const lost = await lab.primary()
    await lab.psql(lost.address, 'create table written (value int)')
    const acknowledged: number[] = []
    const writing = new AbortController()
    const writer = (async () => {
      for (let value = 0; !writing.signal.aborted; value++) {
        await write(value).then(
          () => acknowledged.push(value),
          () => undefined,
        )
      }
    })()
    await until('some writes', () => acknowledged.length > 10)
    await lab.lose(lost.name)
    const before = acknowledged.length
    const next = await until(
      'another primary',
      async () => {
        const found = await lab.primary()
        return found.name !== lost.name && found
      },
      READY_MS,
    )
    await until('writes go on', () => acknowledged.length > before + 10, READY_MS)
    writing.abort()
    await writer
    expect(await behind('5000')).toBe(next.address)
    const kept = new Set((await lab.psql(next.address, 'select value from written')).split('\n').map(Number))
    expect(acknowledged.filter((value) => !kept.has(value))).toEqual([])

    lab.machine(lost.name).start('patroni')
    await lab.ready()
  },
  READY_MS,
)

test(
  'a member that is to leave hands over first',
  async () => {
    const leaving = await lab.primary()
    const left = { ...lab.spec, members: lab.spec.members.filter(({ name }) => name !== leaving.name) }
    await removeMember(left, lab.access, leaving, signal)
    expect((await lab.primary()).name).not.toBe(leaving.name)
    await lab.machine(leaving.name).end('patroni', 'SIGTERM')
    expect(postmasterPid(lab.machine(leaving.name))).toBeUndefined()
    await until(
      'writes go on',
      () =>
        write(-1).then(
          () => true,
          () => false,
        ),
      READY_MS,
    )
  },
  READY_MS,
)
