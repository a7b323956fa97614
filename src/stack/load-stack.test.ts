// What a stack file becomes.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findStackFile, loadStack, machineAddresses } from './load-stack.ts'
import { load } from './load/testing.ts'

const root = join(import.meta.dirname, '../..')
const SECRETS = {
  CONSOLE_PASSWORD: 'of the console',
  ETCD_ROOT_PASSWORD: 'of root',
  GRAFANA_PASSWORD: 'of grafana',
  POSTGRES_PASSWORD: 'of postgres',
}

describe('the lab of the examples', async () => {
  const stack = await loadStack({ file: join(root, 'examples/lab/stack.yaml'), env: {} })

  test('has eight machines, with names and addresses of their own', () => {
    const addresses = machineAddresses(stack)
    expect(Object.keys(addresses)).toEqual([
      ...['etcd-1', 'etcd-2', 'etcd-3', 'dns-1', 'dns-2', 'postgres-1', 'postgres-2', 'postgres-3'],
    ])
    expect(new Set(Object.values(addresses)).size).toBe(8)
    expect(stack).toMatchObject({ name: 'lab', target: 'local', domain: 'lab.test', authority: undefined, notices: [] })
    expect(stack.file).toBe(join(root, 'examples/lab/stack.yaml'))
  })

  test('has an etcd that Patroni can use, with users of least privilege', () => {
    expect(stack.etcd).toMatchObject({
      autoCompactionMode: 'revision',
      autoCompactionRetention: '1000',
      spaceQuotaBytes: 8 * 1024 ** 3,
      grpcGatewayEnabled: true,
      clientCertAuth: false,
      bootstrapMember: 'etcd-1',
      rootPassword: undefined,
      initialToken: 'lab',
    })
    expect(stack.etcd?.users).toEqual([
      {
        name: 'dns',
        permissions: [
          { access: 'read', prefix: '/coredns/' },
          { access: 'read', prefix: '/patroni/' },
        ],
        password: undefined,
      },
      { name: 'zones', permissions: [{ access: 'readwrite', prefix: '/coredns/' }], password: undefined },
      { name: 'patroni', permissions: [{ access: 'readwrite', prefix: '/patroni/' }], password: undefined },
    ])
  })

  test('has name servers with the zone files of the directory', () => {
    expect(stack.dns).toMatchObject({
      port: 53,
      healthPort: 8080,
      metricsPort: 9153,
      etcd: 'own',
      keyPrefix: '/coredns/',
      skydns: undefined,
    })
    for (const server of stack.dns?.servers ?? [])
      expect(server).toMatchObject({
        ...{ zonefilesReloadIntervalMs: 3000, loadBalanceRecords: true, alternateDnsServers: [], etcdLogin: undefined },
      })
    expect(stack.dns?.zones.map(({ name }) => name)).toEqual(['db.example.lab.test'])
    expect(stack.dns?.zones[0].text).toContain('$ORIGIN example.lab.test.')
  })

  test('has a PostgreSQL cluster that loses no acknowledged write', () => {
    expect(stack.postgres).toMatchObject({
      params: {},
      etcd: 'own',
      patroni: {
        scope: 'pg',
        namespace: '/patroni/',
        ttl: 20,
        loopWait: 5,
        retryTimeout: 5,
        masterStartTimeout: 300,
        masterStopTimeout: 300,
        watchdogSafetyMargin: 5,
        synchronousNodeCount: 1,
        synchronousMode: true,
        synchronousModeStrict: true,
      },
      haproxy: undefined,
    })
    for (const { certificate } of stack.postgres?.members ?? [])
      expect(certificate).toEqual({
        ...{ domains: [], extraIps: [], organization: 'Holdfast', validityHours: 8760, earlyRenewalHours: 720 },
      })
    expect(stack.postgres?.members.map(({ patroniName }) => patroniName)).toEqual([
      ...['postgres-1', 'postgres-2', 'postgres-3'],
    ])
  })

  test('has machines as the documents of the variables have them', () => {
    expect(stack.etcd?.members[0].hardware).toEqual({
      hypervisor: 'qemu:///system',
      accelerator: 'auto',
      autostart: true,
      baseVolume: undefined,
      volumePool: undefined,
      volumeSizeGib: undefined,
      vcpus: 2,
      memoryMib: 8192,
      volumeId: undefined,
      dataVolumeId: undefined,
      networks: [],
      cloudInitVolumePool: undefined,
      cloudInitVolumeName: undefined,
      sshAdminUser: 'ubuntu',
      adminUserPassword: undefined,
      sshAdminPublicKey: undefined,
      installDependencies: true,
      chrony: undefined,
      logs: undefined,
    })
  })
})

describe('the stack of the examples for experts', async () => {
  const stack = await loadStack({ file: join(root, 'examples/expert/stack.yaml'), env: SECRETS })
  const { etcd, dns, postgres } = stack

  test('has the nearest setting at each machine', () => {
    expect(etcd?.members.map(({ hardware }) => hardware.memoryMib)).toEqual([4096, 8192, 4096])
    expect(dns?.servers.map(({ hardware }) => hardware.vcpus)).toEqual([1, 1])
    expect(dns?.servers.map(({ hardware }) => hardware.chrony !== undefined)).toEqual([true, false])
    expect(postgres?.members.map(({ hardware }) => hardware.memoryMib)).toEqual([16_384, 16_384, 4096])
    expect(etcd?.members[0].hardware).toMatchObject({
      dataVolumeId: 'etcd-a-data',
      cloudInitVolumePool: 'default',
      sshAdminUser: 'debian',
      chrony: {
        servers: [{ url: 'ntp.expert.test', options: ['iburst'] }],
        pools: [],
        makestep: { threshold: 1, limit: 3 },
      },
    })
  })

  test('has the networks of each machine', () => {
    expect(etcd?.members[0].hardware.networks).toEqual([
      {
        attach: { networkName: 'expert' },
        ip: '192.168.121.4',
        mac: 'aa:00:00:00:00:04',
        prefixLength: 24,
        gateway: '192.168.121.1',
        dnsServers: ['192.168.121.1'],
      },
    ])
    expect(etcd?.members[2].hardware.networks).toMatchObject([{ attach: { macvtap: 'ens3' }, ip: '192.168.121.6' }])
    expect(dns?.servers[0].hardware.networks).toMatchObject([{ attach: { networkName: 'expert' }, mac: undefined }])
  })

  test('has addresses of its network, but for the one that is given', () => {
    expect(machineAddresses(stack)).toEqual({
      'etcd-a': '127.88.10.1',
      'etcd-b': '127.88.10.2',
      'etcd-c': '127.88.10.30',
      'ns-a': '127.88.20.1',
      'ns-b': '127.88.20.2',
      'pg-a': '127.88.30.1',
      'pg-b': '127.88.30.2',
      'pg-c': '127.88.30.3',
      'haproxy-1': '127.88.40.1',
    })
  })

  test('has the settings of its clusters', () => {
    expect(etcd).toMatchObject({
      autoCompactionMode: 'periodic',
      autoCompactionRetention: '1h',
      spaceQuotaBytes: 4 * 1024 ** 3,
      bootstrapMember: 'etcd-a',
      initialToken: 'expert-etcd',
    })
    expect(etcd?.users.map(({ name }) => name)).toEqual(['dns', 'zones', 'patroni', 'grafana'])
    expect(etcd?.users[1].permissions.map(({ prefix }) => prefix)).toEqual(['/coredns/', '/skydns/'])
    expect(dns).toMatchObject({
      skydns: { zones: ['cluster.expert.test.', '88.10.in-addr.arpa.'], path: '/skydns' },
    })
    expect(dns?.servers[0].alternateDnsServers).toEqual(['9.9.9.9', '[2620:fe::fe]:53'])
    expect(postgres).toMatchObject({
      params: { max_connections: '200', shared_buffers: '256MB' },
      patroni: { scope: 'main', ttl: 30, loopWait: 10 },
      haproxy: { readWritePort: 5000, readOnlyPort: 5001 },
    })
    const terms = { organization: 'Expert', validityHours: 2160, earlyRenewalHours: 240 }
    expect(postgres?.members).toMatchObject([1, 2, 3].map(() => ({ certificate: terms })))
    expect(postgres?.members.map(({ patroniName }) => patroniName)).toEqual(['alpha', 'beta', 'pg-c'])
  })

  test('keeps its secrets from printing', () => {
    expect(etcd?.rootPassword?.reveal()).toBe('of root')
    expect(etcd?.users[3].password?.reveal()).toBe('of grafana')
    expect(postgres?.superuserPassword?.reveal()).toBe('of postgres')
    expect(etcd?.members[0].hardware.adminUserPassword?.reveal()).toBe('of the console')
    const printed = inspect(stack, { depth: 12 }) + JSON.stringify(stack)
    for (const secret of Object.values(SECRETS)) expect(printed).not.toContain(secret)
  })

  test('has one word about what this target cannot do', () => {
    expect(stack.notices).toHaveLength(1)
    expect(stack.notices[0]).toMatch(
      /stack\.yaml:\d+:\d+: no effect on target local: the clock and the logs are this host's$/u,
    )
  })
})

describe('entries', () => {
  test('take the variables of the documents, and may repeat what the cluster has', async () => {
    const { etcd, dns, postgres } = await load(`
name: lab
domain: lab.test
etcd:
  members:
    - name: etcd-1
      etcd: &etcd { auto_compaction_retention: 500, grpc_gateway_enabled: true, client_cert_auth: false }
      authentication_bootstrap: { bootstrap: false, root_password: "" }
    - { name: etcd-2, etcd: *etcd, authentication_bootstrap: { bootstrap: true, root_password: given } }
    - { name: etcd-3, etcd: *etcd, macvtap_interfaces: [{ interface: ens3, prefix_length: "24", ip: 192.168.21.200 }] }
dns:
  servers:
    - name: coredns-1
      etcd:
        ca_certificate: PEM
        key_prefix: /zones
        endpoints: [10.0.0.1:2379, "https://10.0.0.2:2379"]
        client: { certificate: PEM, key: KEY }
      dns: { zonefiles_reload_interval: 1m, load_balance_records: false, alternate_dns_servers: ["8.8.8.8"] }
      fluentd:
        enabled: true
        coredns_tag: dns
        forward: { domain: logs.test, port: 24224, hostname: "", shared_key: shared, ca_cert: PEM }
        buffer: { customized: true, custom_value: <buffer></buffer> }
postgres:
  members:
    - name: pg-1
      postgres: { params: [{ key: work_mem, value: 4MB }], replicator_password: one, certificate: { domains: [db.test, 10.0.0.9] } }
      etcd: &backend { endpoints: [10.0.0.1:2379], ca_cert: PEM, username: patroni, password: word }
      patroni: { name: one, synchronous_node_count: 1, synchronous_mode_strict: false }
    - { name: pg-2, etcd: *backend, postgres: { params: { work_mem: 4MB } } }
`)
    expect(etcd).toMatchObject({ autoCompactionRetention: '500', bootstrapMember: 'etcd-2', users: [] })
    expect(etcd?.rootPassword?.reveal()).toBe('given')
    expect(etcd?.members[2].hardware.networks[0].prefixLength).toBe(24)
    expect(dns).toMatchObject({
      keyPrefix: '/zones/',
      etcd: { endpoints: ['10.0.0.1:2379', '10.0.0.2:2379'], ca: ['PEM'], login: { certificate: ['PEM'] } },
    })
    expect(dns?.servers[0]).toMatchObject({
      ...{ zonefilesReloadIntervalMs: 60_000, loadBalanceRecords: false, alternateDnsServers: ['8.8.8.8'] },
    })
    expect(dns?.servers[0].hardware.logs).toMatchObject({
      agent: 'fluentd',
      tags: { coredns: 'dns' },
      forward: { domain: 'logs.test', port: 24_224, hostname: 'coredns-1', caCert: 'PEM' },
      buffer: '<buffer></buffer>',
    })
    expect(postgres).toMatchObject({
      params: { work_mem: '4MB' },
      etcd: { endpoints: ['10.0.0.1:2379'], login: { username: 'patroni' } },
      patroni: { synchronousModeStrict: false },
    })
    expect(postgres?.members.map(({ patroniName }) => patroniName)).toEqual(['one', 'pg-2'])
    expect(postgres?.members[0].certificate).toMatchObject({ domains: ['db.test'], extraIps: ['10.0.0.9'] })
    expect(postgres?.members[1].certificate).toMatchObject({ domains: [], extraIps: [] })
  })

  test('take the configuration of fluent-bit from etcd', async () => {
    const fluentbit = `
  enabled: true
  etcd_tag: etcd
  node_exporter_tag: ""
  etcd:
    enabled: true
    key_prefix: /fluent-bit/
    endpoints: [10.0.0.1:2379]
    ca_certificate: { file: ca.pem }
    client: { username: logs, password: word }`
    const { etcd } = await load(`name: a\ndomain: a.test\netcd: { members: 1 }\nfluentbit:${fluentbit}`, {
      files: { 'ca.pem': 'PEM' },
    })
    expect(etcd?.members[0].hardware.logs).toMatchObject({
      agent: 'fluentbit',
      tags: { etcd: 'etcd' },
      forward: undefined,
      etcd: { keyPrefix: '/fluent-bit/', caCertificate: 'PEM', client: { username: 'logs' } },
    })
  })
})

describe('defaults depend on what is in the stack', () => {
  test('etcd without PostgreSQL wants certificates', async () => {
    const { etcd } = await load('name: a\ndomain: a.test\netcd: { members: 3 }')
    expect(etcd).toMatchObject({ clientCertAuth: true, grpcGatewayEnabled: false, users: [] })
  })

  test('name servers without etcd have only zone files', async () => {
    const { dns } = await load('name: a\ndomain: A.test.\ndns: { servers: 1 }')
    expect(dns).toMatchObject({ etcd: undefined, zones: [] })
  })

  test('certificates that live short are renewed at a third of their life', async () => {
    const { postgres } = await load(
      'name: a\ndomain: a.test\netcd: { members: 1 }\npostgres: { members: 2, certificate: { validity_period: 24 } }',
    )
    expect(postgres?.members[0].certificate.earlyRenewalHours).toBe(8)
  })

  test('one PostgreSQL server is fine when commits need not wait', async () => {
    const { postgres } = await load(
      'name: a\ndomain: a.test\netcd: { members: 1 }\npostgres: { members: 1, patroni: { synchronous_mode_strict: false } }',
    )
    expect(postgres?.members).toHaveLength(1)
  })
})

test('machines keep the addresses they had', async () => {
  const stack = await load('name: a\ndomain: a.test\nnetwork: 127.9.0.0/16\netcd: { members: 2 }', {
    kept: { 'etcd-1': '127.9.10.7', 'etcd-9': '127.9.10.1' },
  })
  expect(machineAddresses(stack)).toEqual({ 'etcd-1': '127.9.10.7', 'etcd-2': '127.9.10.2' })
})

describe('users of etcd are set up by', () => {
  async function chosen(...says: readonly (boolean | undefined)[]) {
    const members = says.map((bootstrap, index) => {
      const variables = bootstrap === undefined ? '{}' : `{ bootstrap: ${bootstrap}, root_password: "" }`
      return `{ name: m${index + 1}, authentication_bootstrap: ${variables} }`
    })
    const { etcd, notices } = await load(`name: a\ndomain: a.test\netcd: { members: [${members.join(', ')}] }`)
    return { member: etcd?.bootstrapMember, notices }
  }

  test('the member that says so, else the first that does not say otherwise', async () => {
    expect(await chosen(undefined, undefined, undefined)).toEqual({ member: 'm1', notices: [] })
    expect(await chosen(undefined, false, true)).toEqual({ member: 'm3', notices: [] })
    expect(await chosen(false, undefined, false)).toEqual({ member: 'm2', notices: [] })
  })

  test('the first where all say no, and that is told', async () => {
    const { member, notices } = await chosen(false, false, false)
    expect(member).toBe('m1')
    expect(notices).toEqual([
      expect.stringMatching(/:3:\d+: no effect, as authentication is always turned on: "m1" does it$/u),
    ])
  })
})

test('an even number of etcd members is worth a word', async () => {
  const { notices } = await load('name: a\ndomain: a.test\netcd: { members: 4 }')
  expect(notices).toEqual([
    expect.stringMatching(/stack\.yaml:3:18: 4 etcd members tolerate 1 failed, like 3; use an odd number$/u),
  ])
})

describe('a directory', () => {
  let directory = ''
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-stack-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  test.each(['stack.yaml', 'stack.yml', 'holdfast.config.ts'])('has its stack file as %s', (name) => {
    expect(findStackFile(directory)).toBeUndefined()
    writeFileSync(join(directory, name), '')
    expect(findStackFile(directory)).toBe(join(directory, name))
  })

  test('with two of them leaves the choice to others', () => {
    for (const name of ['stack.yaml', 'holdfast.config.ts']) writeFileSync(join(directory, name), '')
    expect(() => findStackFile(directory)).toThrow(
      'Cannot choose between stack.yaml and holdfast.config.ts: they are all here; name one of them',
    )
  })

  test('without the file is told', async () => {
    const missing = loadStack({ file: join(directory, 'stack.yaml'), env: {} })
    await expect(missing).rejects.toThrow(/^Cannot read ".*stack\.yaml": no such file or directory$/u)
  })
})

test('what is no file is not waited for', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-stack-'))
  try {
    const pipe = join(directory, 'pipe.yaml')
    execFileSync('mkfifo', [pipe, join(directory, 'db.example.test')])
    await expect(loadStack({ file: pipe, env: {} })).rejects.toMatchObject({
      code: 'FileUnreadable',
      message: `Cannot read "${pipe}": not a regular file`,
    })
    const stack = join(directory, 'stack.yaml')
    writeFileSync(stack, 'name: lab\ndomain: lab.test\ndns: { servers: 1, zones: . }\n')
    await expect(loadStack({ file: stack, env: {} })).rejects.toThrow(
      'db.example.test is not a readable zone file (not a regular file); expected text',
    )
  } finally {
    rmSync(directory, { recursive: true })
  }
})
