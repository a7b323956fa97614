// Names from a real etcd, asked of the real server: SkyDNS records with searches, fallthrough, nested zones and leases; the
// names of a Patroni cluster; what is known when etcd is away.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TYPE } from '../../src/dns/types.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { address, FaultServer } from '../support/fault-server.ts'
import { type HoldfastProcess, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { brief, lookup, recordLines, untilAnswer } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'

const sandbox = new Sandbox()
let cluster: EtcdCluster
let upstream: FaultServer
let port: number
let httpPort: number
let server: HoldfastProcess
let names: string
beforeAll(async () => {
  cluster = await EtcdCluster.start({ members: 1 })
  upstream = await FaultServer.start(({ query, send }) => send(address(query, '203.0.113.1')))
  port = await freePort()
  httpPort = await freePort()
  names = sandbox.write(
    'names.yaml',
    `etcd: { endpoints: [${cluster.endpoints.join(', ')}] }
sources:
  - { name: stored, type: etcd-zones, prefix: /zones/ }
  - { name: services, type: skydns, zones: [outer.test, inner.outer.test], min_lease_ttl: 1s }
  - { name: falling, type: skydns, path: /falling, zones: [falls.test], fallthrough: true }
  - { name: postgres, type: patroni, scope: pg, zone: pg.test, ttl: 2s }
serve:
  listen: ["127.0.0.1:${port}"]
  forward: ["127.0.0.1:${upstream.port}"]
  health: "127.0.0.1:${httpPort}"
  ptr: { zones: [192.0.2.0/24] }
  state: state
`,
  )
  server = await sandbox.serve('--config', names)
})
afterAll(async () => {
  await sandbox.close()
  await upstream.stop()
  await cluster.stop()
})

async function put(key: string, value: unknown, ...options: readonly string[]): Promise<void> {
  await cluster.etcdctl('put', key, typeof value === 'string' ? value : JSON.stringify(value), ...options)
}

describe('SkyDNS records', () => {
  test('are searched by the labels * and any', async () => {
    await put('/skydns/test/outer/web/a', { host: '192.0.2.1', port: 80 })
    await put('/skydns/test/outer/web/b', { host: '192.0.2.2', port: 80 })
    await put('/skydns/test/outer/mail/a', { host: '192.0.2.3' })
    await untilAnswer(port, 'mail.outer.test.', '192.0.2.3')
    const all = recordLines(await lookup(port, '*.outer.test.'))
    expect(all.toSorted()).toEqual(['1', '2', '3'].map((host) => `*.outer.test. A 192.0.2.${host}`))
    expect(recordLines(await lookup(port, 'a.any.outer.test.')).toSorted()).toEqual([
      'a.any.outer.test. A 192.0.2.1',
      'a.any.outer.test. A 192.0.2.3',
    ])
    const services = await lookup(port, '*.web.outer.test.', TYPE.SRV)
    expect(services.answers).toHaveLength(2)
    expect(services.additionals).toHaveLength(2)
    expect(await brief(port, '*.nowhere.outer.test.')).toBe('NXDOMAIN')
    expect(await brief(port, '*.web.outer.test.', TYPE.MX)).toBe('NOERROR')
  })

  test('that a search finds to be aliases are followed, in the zones and beyond', async () => {
    await put('/skydns/test/outer/alias/near/x', { host: 'web.outer.test' })
    await put('/skydns/test/outer/alias/far/x', { host: 'www.elsewhere.test' })
    await put('/skydns/test/outer/alias/dead/x', { host: 'none.outer.test' })
    await untilAnswer(port, 'dead.alias.outer.test.', 'NOERROR')
    const near = recordLines(await lookup(port, '*.near.alias.outer.test.'))
    expect(near[0]).toBe('*.near.alias.outer.test. CNAME web.outer.test.')
    expect(near.slice(1).toSorted()).toEqual(['web.outer.test. A 192.0.2.1', 'web.outer.test. A 192.0.2.2'])
    expect(recordLines(await lookup(port, '*.far.alias.outer.test.'))).toEqual([
      '*.far.alias.outer.test. CNAME www.elsewhere.test.',
      'www.elsewhere.test. A 203.0.113.1',
    ])
    const dead = await lookup(port, '*.dead.alias.outer.test.')
    expect([dead.rcode, dead.answers.length, dead.authorities.length]).toEqual([0, 0, 1])
  })

  test('of a zone inside another belong to the inner one', async () => {
    await put('/skydns/test/outer/inner/x', { host: '192.0.2.10' })
    await put('/skydns/test/outer/inner/deep/x', { host: '192.0.2.11' })
    await untilAnswer(port, 'deep.inner.outer.test.', '192.0.2.11')
    expect((await lookup(port, 'none.inner.outer.test.')).authorities.map(({ name }) => name.length)).toEqual([
      'inner.outer.test.'.length + 1,
    ])
    expect(recordLines(await lookup(port, '*.inner.outer.test.')).toSorted()).toEqual([
      '*.inner.outer.test. A 192.0.2.10',
      '*.inner.outer.test. A 192.0.2.11',
    ])
  })

  test('that are not there are looked for elsewhere where the source lets them fall through, and only there', async () => {
    await put('/falling/test/falls/here/x', { host: '192.0.2.20' })
    await untilAnswer(port, 'here.falls.test.', '192.0.2.20')
    expect(await brief(port, 'none.falls.test.')).toBe('203.0.113.1')
    expect(await brief(port, '*.none.falls.test.')).toBe('203.0.113.1')
    expect(await brief(port, 'none.outer.test.')).toBe('NXDOMAIN')
    expect(await brief(port, '*.none.outer.test.')).toBe('NXDOMAIN')
  })

  test('with a lease count down, and go when it ends', async () => {
    const granted = await cluster.etcdctl('lease', 'grant', '4')
    const lease = granted.split(' ')[1]
    await put('/skydns/test/outer/brief/x', { host: '192.0.2.30' }, `--lease=${lease}`)
    await untilAnswer(port, 'brief.outer.test.', '192.0.2.30')
    const seen = new Set<number>()
    await until('its end', async () => {
      for (const name of ['brief.outer.test.', '*.brief.outer.test.']) {
        const { answers } = await lookup(port, name)
        if (answers.length === 0) return true
        seen.add(answers[0].ttlSeconds)
      }
      return false
    })
    // Before the lease is known, a moment, it is the longest there may be.
    const counted = [...seen].filter((ttl) => ttl <= 5)
    expect(counted.length).toBeGreaterThan(1)
    expect(Math.min(...counted)).toBeGreaterThanOrEqual(1)
  })

  test('that are broken stand in the status', async () => {
    await put('/skydns/test/outer/broken/x', '{"host":')
    const status = await until('the problem', async () => {
      const answer = (await (await fetch(`http://127.0.0.1:${httpPort}/status`)).json()) as {
        sources: { name: string; problems?: string[]; keys: number }[]
      }
      return answer.sources.find(({ problems }) => problems !== undefined)
    })
    expect(status.name).toBe('services')
    expect(status.problems).toHaveLength(1)
    expect(status.problems?.[0]).toMatch(/^Cannot use "\/skydns\/test\/outer\/broken\/x": /u)
    await cluster.etcdctl('del', '/skydns/test/outer/broken/x')
  })
})

test('names of a Patroni cluster come and go with its keys', async () => {
  const member = (host: string, role: string) => ({
    conn_url: `postgres://${host}:5432/postgres`,
    api_url: `http://${host}:8008/patroni`,
    state: 'running',
    role,
  })
  await put('/service/pg/members/pg1', member('192.0.2.41', 'master'))
  await put('/service/pg/members/pg2', member('192.0.2.42', 'replica'))
  await untilAnswer(port, 'pg2.pg.test.', '192.0.2.42')
  expect(await brief(port, 'primary.pg.test.')).toBe('NXDOMAIN')
  await put('/service/pg/leader', 'pg1')
  await untilAnswer(port, 'primary.pg.test.', '192.0.2.41')
  expect((await lookup(port, 'primary.pg.test.')).answers[0].ttlSeconds).toBe(2)
  expect(await brief(port, 'replica.pg.test.')).toBe('192.0.2.42')
  await untilAnswer(port, '41.2.0.192.in-addr.arpa.', 'pg1.pg.test. primary.pg.test.', TYPE.PTR)
  await cluster.etcdctl('del', '/service/pg/leader')
  await untilAnswer(port, 'primary.pg.test.', 'NXDOMAIN')
  await put('/service/pg/leader', 'pg2')
  await untilAnswer(port, 'primary.pg.test.', '192.0.2.42')
  await untilAnswer(port, '41.2.0.192.in-addr.arpa.', 'pg1.pg.test.', TYPE.PTR)
  await cluster.etcdctl('del', '/service/pg/members/pg1')
  await untilAnswer(port, 'pg1.pg.test.', 'NXDOMAIN')
  await untilAnswer(port, '41.2.0.192.in-addr.arpa.', 'NXDOMAIN', TYPE.PTR)
})

test('everything is there again after a restart while etcd is away, and what is wrong is told', async () => {
  await put('/zones/stored.test', zoneText(['www A 192.0.2.50']))
  await put('/zones/bad.test', 'nonsense')
  await untilAnswer(port, 'www.stored.test.', '192.0.2.50')
  await server.logged(/Zone bad\.test\. rejected/u)
  const before = await Promise.all(
    ['web.outer.test.', 'primary.pg.test.', '50.2.0.192.in-addr.arpa.'].map((name) => brief(port, name)),
  )
  server.kill('SIGKILL')
  await server.ended()
  await cluster.kill(0)
  server = await sandbox.serve('--config', names)
  expect(await brief(port, 'www.stored.test.')).toBe('192.0.2.50')
  const after = await Promise.all(
    ['web.outer.test.', 'primary.pg.test.', '50.2.0.192.in-addr.arpa.'].map((name) => brief(port, name)),
  )
  expect(after.map((each) => each.split(' ').toSorted())).toEqual(before.map((each) => each.split(' ').toSorted()))
  await until('all sources away', async () => (await status()).sources.every(({ state }) => state === 'away'))
  const asked = sandbox.spawn(['status', '--config', names])
  expect(await asked.ended()).toBe(1)
  expect(asked.output).toMatch(
    /^stored +away +1 +\d+ +\d+ s {2}Cannot read "\/zones\/": etcd at .* refuses connections/mu,
  )
  await cluster.restart(0)
  await until('all sources back', async () => (await status()).sources.every(({ state }) => state === 'following'))
  const again = sandbox.spawn(['status', '--config', names])
  expect(await again.ended()).toBe(1)
  expect(again.output).toMatch(/^bad\.test\. +failed +- {2}\/zones\/bad\.test {2,}\/zones\/bad\.test:1:/mu)
})

async function status(): Promise<{ sources: { state: string }[] }> {
  return (await (await fetch(`http://127.0.0.1:${httpPort}/status`)).json()) as { sources: { state: string }[] }
}
