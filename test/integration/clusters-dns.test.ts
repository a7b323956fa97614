// The name servers of a stack, started from the files that are rendered for them, beside a real etcd: what they answer
// before etcd is there, with it, when it goes away, and when the stack changes.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dnsStatus } from '../../src/clusters/dns/cluster.ts'
import { resolve } from '../../src/clusters/dns/dns-client.ts'
import { type DnsContext, dnsMachines } from '../../src/clusters/dns/machines.ts'
import type { DnsSpec } from '../../src/clusters/dns/spec.ts'
import { type DnsOptions, dnsSite, dnsSpec } from '../support/dns-spec.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { machineSpec } from '../support/machine-spec.ts'
import type { EtcdAccess } from '../../src/clusters/site.ts'
import { Secret } from '../../src/lib/secret.ts'
import { plain, reveal } from '../../src/machine/content.ts'
import { holdfast } from '../support/command-line.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { dig, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { until } from '../support/until.ts'

const NETWORK = loopbackNetwork()

const ADDRESSES = [`${NETWORK}.1.1`, `${NETWORK}.1.2`]
const PORT = 5300
const SERVERS = ADDRESSES.map((address, index) => machineSpec(`dns-${index + 1}`, address))
const MACHINES = [...SERVERS, machineSpec('etcd-1', `${NETWORK}.2.1`), machineSpec('pg-1', `${NETWORK}.3.1`)]

let cluster: EtcdCluster
let sandbox: Sandbox
beforeAll(async () => {
  sandbox = new Sandbox()
  cluster = await EtcdCluster.start({ members: 1, tls: 'client', auth: { rootPassword: 'hunter2' } })
  await cluster.etcdctl('user', 'add', 'dns:swordfish')
  await cluster.etcdctl('role', 'add', 'dns')
  for (const prefix of ['/coredns/', '/skydns/', '/service/'])
    await cluster.etcdctl('role', 'grant-permission', 'dns', 'read', prefix, '--prefix')
  await cluster.etcdctl('user', 'grant-role', 'dns', 'dns')
})
afterAll(async () => {
  await sandbox.close()
  await cluster.stop()
})

function spec(options: DnsOptions = {}): DnsSpec {
  return dnsSpec({
    ...{ servers: SERVERS, port: PORT, healthPort: 8080, metricsPort: 9153, allowZones: ['deep.lab.test.'] },
    ...options,
  })
}

/** The user of certificates is told by their common name. */
async function access(): Promise<EtcdAccess> {
  const { certFile, keyFile } = await cluster.clientCertificate('dns')
  return {
    endpoints: cluster.endpoints.map((endpoint) => endpoint.replace('https://', '')),
    ca: plain(readFileSync(cluster.caFile ?? '', 'utf8')),
    login: { certificate: plain(readFileSync(certFile, 'utf8')), key: [new Secret(readFileSync(keyFile, 'utf8'))] },
  }
}

async function context(options: Partial<DnsContext> = {}): Promise<DnsContext> {
  return { etcd: await access(), machines: MACHINES, patroni: [{ scope: 'pg', namespace: '/service/' }], ...options }
}

/** Files as a target puts them in place; what a machine has no longer goes. Commands and files by machine. */
function write(options: DnsSpec, given: DnsContext) {
  const site = dnsSite(sandbox.directory)
  return dnsMachines(options, site, given).map(({ name, directories, files, services: [service] }) => {
    const path = (inside: string) => site.path(name, inside)
    rmSync(path('/etc'), { recursive: true, force: true })
    for (const directory of directories) mkdirSync(path(directory.path), { recursive: true, mode: directory.mode })
    for (const file of files) {
      mkdirSync(dirname(path(file.path)), { recursive: true })
      writeFileSync(path(file.path), reveal(file.content), { mode: file.mode })
    }
    return {
      args: service.command.slice(1),
      files: new Map(files.map((file) => [file.path, { text: reveal(file.content) }])),
    }
  })
}

type Started = Awaited<ReturnType<typeof start>>

async function start(options: DnsSpec, given: DnsContext) {
  const machines = write(options, given)
  const servers = machines.map(({ args }) => sandbox.spawn(args))
  await Promise.all(servers.map((server) => Promise.race([server.logged(/Listening on/u), server.failure()])))
  return { machines, servers }
}

/** What both servers say; they have to agree. */
async function both(...args: readonly string[]): Promise<string> {
  const said = await Promise.all(ADDRESSES.map((address) => dig(PORT, `@${address}`, ...args)))
  const sorted = said.map((text) => text.split('\n').toSorted().join('\n'))
  expect(sorted[1]).toBe(sorted[0])
  return sorted[0]
}

async function rcode(...args: readonly string[]): Promise<string | undefined> {
  return /status: (\w+)/u.exec(await dig(PORT, `@${ADDRESSES[0]}`, ...args))?.[1]
}

function status(options = spec()) {
  return dnsStatus(options, 'lab.test', AbortSignal.timeout(10_000))
}

async function untilReady(): Promise<void> {
  await until('ready servers', async () => (await status()).isReady)
}

/** Both servers have this address for the name, or none. */
async function untilAll(name: string, address: string): Promise<void> {
  for (const server of ADDRESSES)
    await until(`${name} at "${address}"`, async () => {
      return (await resolve(server, PORT, name).catch(() => [])).join() === address
    })
}

async function elect(leader: string): Promise<void> {
  const member = (role: string, address: string) =>
    JSON.stringify({ conn_url: `postgres://${address}:5432/postgres`, state: 'running', role })
  await cluster.etcdctl(
    'put',
    '/service/pg/members/pg-1',
    member(leader === 'pg-1' ? 'master' : 'replica', `${NETWORK}.3.1`),
  )
  await cluster.etcdctl(
    'put',
    '/service/pg/members/pg-2',
    member(leader === 'pg-2' ? 'master' : 'replica', `${NETWORK}.3.2`),
  )
  await cluster.etcdctl('put', '/service/pg/leader', leader)
}

describe('the two servers of a stack', () => {
  const zones = [{ name: 'db.files.test', text: zoneText(['www A 192.0.2.1']) }]
  const options = spec({ zones, skydns: { zones: ['cluster.local'], path: '/skydns' } })
  let machines: Started['machines']
  let servers: Started['servers']

  test("have the stack's own names before etcd is there, and follow it once it is", async () => {
    const given = await context()
    await cluster.kill(0)
    ;({ machines, servers } = await start(options, given))
    expect(await both('+short', 'etcd-1.lab.test')).toBe(`${NETWORK}.2.1`)
    expect(await both('+short', '+tcp', 'pg-1.lab.test')).toBe(`${NETWORK}.3.1`)
    expect(await rcode('primary.pg.lab.test')).toBe('SERVFAIL')
    const waiting = await status()
    expect(waiting).toMatchObject({ isReady: false, problem: 'not all names in etcd are followed' })
    expect(waiting.members[0]).toMatchObject({ machine: 'dns-1', isReady: true, role: 'server' })
    expect(waiting.members[0].problem).toMatch(/^etcd-zones: Cannot read .* refuses connections/u)
    await cluster.restart(0)
    await cluster.healthy()
    await untilReady()
  })

  test('answer every kind of name, and say the same', async () => {
    await elect('pg-1')
    const env = {
      ETCDCTL_ENDPOINTS: cluster.endpoints.join(),
      ETCDCTL_CACERT: cluster.caFile ?? '',
      ETCDCTL_CERT: cluster.certFile ?? '',
      ETCDCTL_KEY: cluster.keyFile ?? '',
      ETCDCTL_USER: 'root:hunter2',
    }
    const files = ['stored.test', 'deep.lab.test'].map((zone) => sandbox.write(zone, zoneText(['www A 192.0.2.2'])))
    expect(await holdfast(['zone', 'put', ...files], { env })).toMatchObject({ code: 0, stderr: '' })
    await cluster.etcdctl('put', '/skydns/local/cluster/web/x1', '{"host":"192.0.2.3"}')
    await untilAll('web.cluster.local', '192.0.2.3')
    await untilAll('primary.pg.lab.test', `${NETWORK}.3.1`)

    expect(await both('+short', 'dns-2.lab.test')).toBe(`${NETWORK}.1.2`)
    expect(await both('+short', 'www.files.test')).toBe('192.0.2.1')
    expect(await both('+short', 'www.stored.test')).toBe('192.0.2.2')
    expect(await both('+short', 'www.deep.lab.test')).toBe('192.0.2.2')
    expect(await both('+short', 'replica.pg.lab.test')).toBe(`${NETWORK}.3.2`)
    expect(await both('+short', '-x', `${NETWORK}.3.1`)).toBe('pg-1.lab.test.')
    for (const zone of ['lab.test', 'pg.lab.test', `3.${NETWORK.split('.').toReversed().join('.')}.in-addr.arpa`]) {
      expect(await both('+short', zone, 'NS')).toBe('dns-1.lab.test.\ndns-2.lab.test.')
      expect(await both('+short', zone, 'SOA')).toMatch(/^dns-1\.lab\.test\. hostmaster\.\S+ \d+ /u)
    }
    expect(await rcode('nobody.lab.test')).toBe('NXDOMAIN')
    expect(await rcode('nobody.pg.lab.test')).toBe('NXDOMAIN')
    expect(await rcode('elsewhere.test')).toBe('REFUSED')
    expect(await dig(PORT, `@${ADDRESSES[1]}`, '+nsid', 'lab.test')).toContain('("dns-2")')
    const { isReady, problem, members } = await status()
    expect({ isReady, problem }).toEqual({ isReady: true, problem: undefined })
    expect(members.map(({ version }) => version)).toEqual([expect.stringMatching(/^\d+\.\d+/u), expect.anything()])
  })

  test('follow the primary, and let nobody remember for long that there is none', async () => {
    await cluster.etcdctl('del', '/service/pg/leader')
    await untilAll('primary.pg.lab.test', '')
    // The TTL, and the last number of the SOA.
    expect(await both('primary.pg.lab.test', '+noall', '+authority')).toMatch(/^pg\.lab\.test\.\s+2\s.* 2$/u)
    await elect('pg-2')
    await untilAll('primary.pg.lab.test', `${NETWORK}.3.2`)
  })

  test('take up a changed stack without a restart, with the same new serial', async () => {
    const existing = machines.map(({ files }) => files)
    const more = [...zones, { name: 'db.new.test', text: zoneText(['www A 192.0.2.9']) }]
    const given = await context({ existing, machines: [...MACHINES, machineSpec('pg-2', `${NETWORK}.3.2`)] })
    write({ ...options, zones: more, skydns: undefined }, given)
    await untilAll('pg-2.lab.test', `${NETWORK}.3.2`)
    await untilAll('www.new.test', '192.0.2.9')
    expect(await both('+short', 'lab.test', 'SOA')).toContain(' 2 ')
    expect(await both('+short', '-x', `${NETWORK}.3.2`)).toBe('pg-2.lab.test.')
    for (const server of servers) server.kill('SIGHUP')
    await Promise.all(servers.map((server) => server.logged(/Reloaded the configuration/u)))
    expect(await rcode('web.cluster.local')).toBe('REFUSED')
    await untilReady()
  })

  test('have the same names and serials after a restart while etcd is away', async () => {
    const before = await both('+short', 'pg.lab.test', 'SOA')
    await cluster.etcdctl('put', '/service/pg/status', '{"optime":1}')
    servers[1].kill('SIGTERM')
    expect(await servers[1].ended()).toBe(0)
    await cluster.kill(0)
    await sandbox.spawn(machines[1].args).logged(/Listening on/u)
    expect(await both('+short', 'primary.pg.lab.test')).toBe(`${NETWORK}.3.2`)
    expect(await both('+short', 'pg.lab.test', 'SOA')).toBe(before)
    await cluster.restart(0)
    await cluster.healthy()
    await untilReady()
    expect(await both('+short', 'pg.lab.test', 'SOA')).toBe(before)
  })
})

describe('servers without etcd', () => {
  const [first, second] = SERVERS.map(({ name }, index) => machineSpec(name, `${NETWORK}.5.${index + 1}`))

  test('ask the alternate servers for what the zones do not have', async () => {
    const zones = [{ name: 'elsewhere.test', text: zoneText(['www A 192.0.2.7']) }]
    const upstream = write(spec({ servers: [second], zones }), { etcd: undefined, machines: [], patroni: [] })
    const alternateDnsServers = [`${second.address}:${PORT}`]
    const asking = spec({ servers: [first], alternateDnsServers })
    const given = { etcd: undefined, machines: MACHINES, patroni: [] }
    const started = [...upstream, ...write(asking, given)].map(({ args }) => sandbox.spawn(args))
    await Promise.all(started.map((server) => server.logged(/Listening on/u)))
    const answer = (name: string) => until(name, () => resolve(first.address, PORT, name).catch(() => undefined))
    expect(await answer('www.elsewhere.test')).toEqual(['192.0.2.7'])
    expect(await answer('pg-1.lab.test')).toEqual([`${NETWORK}.3.1`])
    expect(await answer('nobody.lab.test')).toEqual([])
    await Promise.all(started.map((server) => server.end()))
  })

  test('that are not there, and zones that are wrong, are told', async () => {
    const zones = [{ name: 'broken.test', text: zoneText(['www A 192.0.2.256']) }]
    const options = spec({ servers: [first, second], zones })
    const [{ args }] = write(options, { etcd: undefined, machines: [first, second], patroni: [] })
    const none = await status(options)
    expect(none).toMatchObject({ isReady: false, problem: '0 of 2 servers answer' })
    expect(none.members[0]).toMatchObject({ isReady: false, role: undefined, version: undefined })
    expect(none.members[0].problem).toMatch(/connection refused/u)
    await sandbox.spawn(args).logged(/Listening on/u)
    const one = await status(options)
    expect(one.problem).toBe('1 of 2 servers answer')
    expect(one.members[0].isReady).toBe(true)
    expect(one.members[0].problem).toMatch(/^zone broken\.test\.: .*192\.0\.2\.256/u)
  })
})
