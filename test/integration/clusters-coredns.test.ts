// CoreDNS as the name server of a stack: the real one with the Corefile that is rendered for it, and our updater beside it, which
// keeps the zone files as a real etcd has them.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dnsStatus } from '../../src/clusters/dns/cluster.ts'
import { resolve } from '../../src/clusters/dns/dns-client.ts'
import { dnsMachines } from '../../src/clusters/dns/machines.ts'
import { Secret } from '../../src/lib/secret.ts'
import { plain, reveal } from '../../src/machine/content.ts'
import type { Machine, Service } from '../../src/machine/machine.ts'
import { findCoredns } from '../side-by-side/servers.ts'
import { describeWithCoredns } from '../support/describe-with-kubernetes.ts'
import { dnsSite, dnsSpec } from '../support/dns-spec.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { dig, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { machineSpec } from '../support/machine-spec.ts'
import { until } from '../support/until.ts'

const NETWORK = loopbackNetwork()

const [ADDRESS, SECOND, ELSEWHERE] = [`${NETWORK}.1.1`, `${NETWORK}.1.2`, `${NETWORK}.1.9`]
const PORT = 5300
const SPEC = dnsSpec({
  engine: 'coredns',
  servers: [{ ...machineSpec('dns-1', ADDRESS), moreAddresses: [SECOND] }],
  port: PORT,
  zones: [{ name: 'db.files.test', text: zoneText(['www A 192.0.2.1']) }],
  zonefilesReloadIntervalMs: 500,
  alternateDnsServers: [`${ELSEWHERE}:${PORT}`],
})
const MACHINES = [machineSpec('dns-1', ADDRESS), machineSpec('pg-1', `${NETWORK}.3.1`)]

describeWithCoredns('CoreDNS in the place of our name server', () => {
  let cluster: EtcdCluster
  let sandbox: Sandbox
  let machine: Machine
  let coredns: ChildProcess

  beforeAll(async () => {
    sandbox = new Sandbox()
    cluster = await EtcdCluster.start({ members: 1, tls: 'server', auth: { rootPassword: 'hunter2' } })
    await cluster.etcdctl('user', 'add', 'dns:swordfish')
    await cluster.etcdctl('role', 'add', 'dns')
    await cluster.etcdctl('role', 'grant-permission', 'dns', 'read', '/coredns/', '--prefix')
    await cluster.etcdctl('user', 'grant-role', 'dns', 'dns')
    const etcd = {
      endpoints: cluster.endpoints.map((endpoint) => endpoint.replace('https://', '')),
      ca: plain(readFileSync(cluster.caFile ?? '', 'utf8')),
      login: { username: 'dns', password: new Secret('swordfish') },
    }
    const site = dnsSite(sandbox.directory)
    const patroni = [{ scope: 'pg', namespace: '/service/' }]
    ;[machine] = dnsMachines(SPEC, site, { etcd, machines: MACHINES, patroni })
    for (const { path, mode } of machine.directories) mkdirSync(site.path('dns-1', path), { recursive: true, mode })
    for (const { path, content, mode } of machine.files) {
      mkdirSync(dirname(site.path('dns-1', path)), { recursive: true })
      writeFileSync(site.path('dns-1', path), reveal(content), { mode })
    }
    const elsewhere = sandbox.write(
      'Elsewhere',
      `.:${PORT} {\n bind ${ELSEWHERE}\n file ${sandbox.path('elsewhere.test')} elsewhere.test\n}\n`,
    )
    sandbox.write('elsewhere.test', zoneText(['www A 192.0.2.9']))
    await sandbox.serve('-conf', elsewhere)
    coredns = spawn(findCoredns() ?? '', service('dns').command.slice(1), { stdio: 'ignore' })
    sandbox.spawn(service('zonefiles').command.slice(1))
    await untilAddress('dns-1.lab.test', ADDRESS)
  })
  afterAll(async () => {
    const exited = once(coredns, 'exit')
    coredns.kill('SIGTERM')
    await exited
    await sandbox.close()
    await cluster.stop()
  })

  const service = (name: string) => machine.services.find((each) => each.name === name) as Service
  const addressOf = async (name: string) => (await resolve(ADDRESS, PORT, name).catch(() => [])).join()
  const untilAddress = (name: string, address: string) =>
    until(`${name} at "${address}"`, async () => (await addressOf(name)) === address)
  const ask = (...args: readonly string[]) => dig(PORT, `@${ADDRESS}`, '+short', ...args)

  test("has the stack's own zones and the user's files, over UDP and TCP, on every interface", async () => {
    expect(await ask('pg-1.lab.test')).toBe(`${NETWORK}.3.1`)
    expect(await ask('+tcp', 'www.files.test')).toBe('192.0.2.1')
    expect(await ask('-x', `${NETWORK}.3.1`)).toBe('pg-1.lab.test.')
    expect(await dig(PORT, `@${SECOND}`, '+short', 'pg-1.lab.test')).toBe(`${NETWORK}.3.1`)
    expect(await dig(PORT, `@${ADDRESS}`, '+nsid', 'lab.test')).toContain('"dns-1"')
  })

  test('does not promise names that nobody serves', async () => {
    expect(await dig(PORT, `@${ADDRESS}`, 'primary.pg.lab.test')).toContain('status: NXDOMAIN')
  })

  test('asks the alternate servers for everything else', async () => {
    expect(await ask('www.elsewhere.test')).toBe('192.0.2.9')
  })

  test('follows zones that are put into etcd, also below those of the stack', async () => {
    await cluster.etcdctl('put', '/coredns/put.test', zoneText(['www A 192.0.2.2']))
    await cluster.etcdctl('put', '/coredns/app.lab.test', zoneText(['www A 192.0.2.3']))
    await untilAddress('www.put.test', '192.0.2.2')
    await untilAddress('www.app.lab.test', '192.0.2.3')
    await cluster.etcdctl('del', '/coredns/put.test')
    await untilAddress('www.put.test', '')
    expect(await ask('pg-1.lab.test')).toBe(`${NETWORK}.3.1`)
  })

  test("lets nobody replace the stack's own zone, but the reverse zones of its machines", async () => {
    await cluster.etcdctl('put', '/coredns/lab.test', zoneText(['pg-1 A 192.0.2.66'], 2))
    // CoreDNS changes to another file of a zone when that has another serial.
    await cluster.etcdctl(
      'put',
      `/coredns/3.${NETWORK.split('.').toReversed().join('.')}.in-addr.arpa`,
      zoneText(['1 PTR theirs.test.'], 2),
    )
    await until('the reverse zone of etcd', async () => (await ask('-x', `${NETWORK}.3.1`)) === 'theirs.test.')
    expect(await ask('pg-1.lab.test')).toBe(`${NETWORK}.3.1`)
  })

  test('is known to be well', async () => {
    expect(await dnsStatus(SPEC, 'lab.test', AbortSignal.timeout(10_000))).toMatchObject({
      isReady: true,
      members: [{ machine: 'dns-1', isReady: true, role: 'server' }],
    })
  })

  test('goes on with the zones it has when etcd is gone', async () => {
    await cluster.kill(0)
    expect(await ask('www.app.lab.test')).toBe('192.0.2.3')
    await cluster.restart(0)
    await cluster.healthy()
    await cluster.etcdctl('put', '/coredns/later.test', zoneText(['www A 192.0.2.4']))
    await untilAddress('www.later.test', '192.0.2.4')
  })
})
