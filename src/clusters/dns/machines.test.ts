import { expect, test } from 'vitest'
import { Secret } from '../../lib/secret.ts'
import { plain, reveal, show } from '../../machine/content.ts'
import type { Machine } from '../../machine/machine.ts'
import { loadNames } from '../../server/names-yaml/load-names.ts'
import type { EtcdAccess } from '../site.ts'
import { type DnsContext, dnsMachines } from './machines.ts'
import { type DnsOptions, dnsSite, dnsSpec } from '../../../test/support/dns-spec.ts'
import { machineSpec } from '../../../test/support/machine-spec.ts'

const PASSWORD = 'pässwörd "1"'
const ETCD: EtcdAccess = {
  endpoints: ['127.103.10.1:2379', '[2001:db8::1]:2379'],
  ca: plain('authority\n'),
  login: { username: 'dns', password: new Secret(PASSWORD) },
}
const MACHINES = [
  { name: 'dns-1', address: '127.103.20.1' },
  { name: 'dns-2', address: '127.103.20.2' },
  { name: 'pg-1', address: '127.103.30.1' },
]
const CONTEXT: DnsContext = { etcd: ETCD, machines: MACHINES, patroni: [{ scope: 'pg', namespace: '/service/' }] }

function machines(spec: DnsOptions = {}, context: Partial<DnsContext> = {}): Machine[] {
  return dnsMachines(dnsSpec(spec), dnsSite(), { ...CONTEXT, ...context })
}

function fileOf({ files }: Machine, path: string) {
  const found = files.find((file) => file.path === path)
  if (found === undefined) throw new Error(`there is no ${path}`)
  return found
}

/** names.yaml as the name server understands it. */
function load(machine: Machine) {
  const read = (path: string) => reveal(fileOf(machine, path).content)
  const { config, notices } = loadNames(read('/etc/holdfast/names.yaml'), {
    file: '/etc/holdfast/names.yaml',
    env: {},
    readFile: read,
    readSecret: read,
    hostname: 'host',
  })
  expect(notices).toEqual([])
  expect(config.blocks).toHaveLength(1)
  return { ...config.blocks[0], state: config.state }
}

test('a server listens on its address only, and says its name', () => {
  const [, second] = machines()
  expect(load(second)).toMatchObject({
    ...{
      bind: ['127.103.20.2'],
      port: 53,
      nsid: 'dns-2',
      loadbalance: true,
      forwards: [],
      alternates: [],
      loop: false,
    },
    health: { host: '127.103.20.2', port: 8080 },
    ready: { host: '127.103.20.2', port: 8080 },
    prometheus: { host: '127.103.20.2', port: 9153 },
    state: '/var/lib/holdfast',
  })
  expect(second).toMatchObject({ name: 'dns-2', kind: 'dns', address: '127.103.20.2', packages: ['bind9-dnsutils'] })
  expect(second.ports.map(({ port, protocol }) => `${port}/${protocol}`)).toEqual([
    '53/udp',
    '53/tcp',
    '8080/tcp',
    '9153/tcp',
  ])
})

test("the stack's own zone comes first, then the user's files, then what is in etcd", () => {
  const { files, autos, patronis, etcdZones, skydns } = load(
    machines({ skydns: { zones: ['cluster.local', '10.0.0.0/8'], path: '/skydns' } })[0],
  )
  const ranks = [...files, ...autos, ...patronis, ...etcdZones, ...skydns].map(({ name, rank }) => [rank, name])
  expect(Object.fromEntries(ranks)).toEqual({
    ...{ 0: 'stack', 1: 'zones', 2: 'patroni-pg', 3: 'etcd-zones', 4: 'skydns', 5: 'reverse' },
  })
  expect(files[0]).toMatchObject({ path: '/etc/holdfast/stack.zone', zones: ['lab.test.'], reloadMs: 3000 })
  expect(autos[0]).toMatchObject({ directory: '/etc/holdfast/zones', reloadMs: 3000 })
  expect(etcdZones[0]).toMatchObject({ prefix: '/coredns/' })
  expect(skydns[0].zones).toEqual(['cluster.local.', '10.in-addr.arpa.'])
  expect(patronis[0]).toMatchObject({
    ...{ zone: 'pg.lab.test.', namespace: '/service/', scope: 'pg' },
    nameservers: ['dns-1.lab.test.', 'dns-2.lab.test.'],
  })
})

test('etcd is reached with a password that is in a file of its own', () => {
  const [machine] = machines()
  const [{ etcd }] = load(machine).etcdZones
  expect(etcd).toMatchObject({
    endpoints: ['https://127.103.10.1:2379', 'https://[2001:db8::1]:2379'],
    tls: { caFile: '/etc/holdfast/etcd-ca.pem' },
    username: 'dns',
  })
  expect(etcd.password?.reveal()).toBe(PASSWORD)
  const file = fileOf(machine, '/etc/holdfast/etcd-password')
  expect(file).toMatchObject({ owner: 'holdfast', mode: 0o600, onChange: { reload: 'dns' } })
  expect(machine.files.filter(({ content }) => reveal(content).includes(PASSWORD))).toEqual([file])
  expect(show(file.content)).toBe('***\n')
})

test('or with a certificate, whose key only the server may read', () => {
  const key = [new Secret('key\n')]
  const [machine] = machines({}, { etcd: { ...ETCD, login: { certificate: plain('certificate\n'), key } } })
  const [{ etcd }] = load(machine).etcdZones
  expect(etcd.tls).toEqual({
    caFile: '/etc/holdfast/etcd-ca.pem',
    certFile: '/etc/holdfast/etcd-client.pem',
    keyFile: '/etc/holdfast/etcd-client.key',
  })
  expect(etcd.username).toBeUndefined()
  expect(fileOf(machine, '/etc/holdfast/etcd-client.key')).toMatchObject({
    owner: 'holdfast',
    mode: 0o600,
    content: key,
  })
  expect(fileOf(machine, '/etc/holdfast/etcd-client.pem').onChange).toBe('nothing')
})

test('without etcd there are the zones of files', () => {
  const [machine] = machines(
    { etcd: undefined, skydns: { zones: ['cluster.local'], path: '/skydns' } },
    { etcd: undefined },
  )
  const { files, autos, patronis, etcdZones, skydns } = load(machine)
  expect([patronis, etcdZones, skydns]).toEqual([[], [], []])
  expect([...files, ...autos].map(({ name }) => name)).toEqual(['stack', 'zones', 'reverse'])
  expect(reveal(fileOf(machine, '/etc/holdfast/stack.zone').content)).not.toContain('pg.lab.test.')
  expect(machine.files.filter(({ mode }) => mode !== 0o644)).toEqual([])
})

test('what the zones do not have is asked of the alternate servers', () => {
  const [machine] = machines({ alternateDnsServers: ['192.0.2.53', '[2001:db8::53]:5353'], loadBalanceRecords: false })
  expect(load(machine)).toMatchObject({
    forwards: [
      {
        from: '.',
        to: [
          { host: '192.0.2.53', port: 53 },
          { host: '2001:db8::53', port: 5353 },
        ],
      },
    ],
    loop: true,
    loadbalance: false,
  })
})

test('a server with an IPv6 address listens on that', () => {
  const [machine] = machines({ servers: [machineSpec('dns-1', '2001:db8::1')], port: 5353 })
  expect(load(machine)).toMatchObject({
    bind: ['2001:db8::1'],
    port: 5353,
    health: { host: '2001:db8::1', port: 8080 },
  })
})

test('names are served on every interface, health and metrics on the first', () => {
  const server = { ...machineSpec('dns-1', '10.1.0.1'), moreAddresses: ['10.2.0.1', '2001:db8::1'] }
  const [machine] = machines({ servers: [server] })
  expect(load(machine)).toMatchObject({
    bind: ['10.1.0.1', '10.2.0.1', '2001:db8::1'],
    health: { host: '10.1.0.1', port: 8080 },
    prometheus: { host: '10.1.0.1', port: 9153 },
  })
})

test('zone files of the user are put on every server, and a reverse zone of theirs is left to them', () => {
  const zones = [
    { name: 'db.example.test', text: 'text\n' },
    { name: '30.103.127.in-addr.arpa', text: 'reverse\n' },
  ]
  for (const machine of machines({ zones })) {
    expect(reveal(fileOf(machine, '/etc/holdfast/zones/db.example.test').content)).toBe('text\n')
    expect(machine.files.map(({ path }) => path).filter((path) => path.includes('reverse'))).toEqual([
      '/etc/holdfast/reverse/20.103.127.in-addr.arpa',
    ])
  }
})

test('serials go on from what servers have', () => {
  const [before] = machines()
  const existing = [new Map(before.files.map(({ path, content }) => [path, { text: reveal(content) }]))]
  expect(machines({}, { existing })[0]).toEqual(before)
  const [after] = machines({}, { existing, machines: [...MACHINES, { name: 'pg-2', address: '127.103.30.2' }] })
  const serials = after.files.flatMap(({ path, content }) => {
    const [, serial] = / SOA \S+ \S+ (\d+)/u.exec(reveal(content)) ?? []
    return serial === undefined ? [] : [[path.split('/').at(-1), serial]]
  })
  expect(Object.fromEntries(serials)).toEqual({
    'stack.zone': '2',
    '20.103.127.in-addr.arpa': '1',
    '30.103.127.in-addr.arpa': '2',
  })
})

test('the service runs as its own user, and may use port 53', () => {
  const site = { ...dnsSite('/root/of'), program: ['/program/node', '/program/main.ts'] }
  const [{ services }] = dnsMachines(dnsSpec(), site, CONTEXT)
  expect(services).toEqual([
    {
      name: 'dns',
      user: 'holdfast',
      command: ['/program/node', '/program/main.ts', 'dns', '--config', '/root/of/dns-1/etc/holdfast/names.yaml'],
      environment: {},
      reloadSignal: 'SIGHUP',
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 5000,
      bindsLowPorts: true,
    },
  ])
  const [unprivileged] = machines({ port: 5300 })
  expect(unprivileged.services[0].bindsLowPorts).toBe(false)
})

test("a file for the stack's own zone is refused, and a cluster with the name of a machine", () => {
  const file = () => machines({ zones: [{ name: 'db.Lab.test', text: '' }] })
  expect(file).toThrow(expect.objectContaining({ code: 'NameTaken' }))
  expect(file).toThrow(/^Cannot serve zone file "db\.Lab\.test": lab\.test is the stack's own zone/u)
  const scope = () => machines({}, { patroni: [{ scope: 'pg-1', namespace: '/service/' }] })
  expect(scope).toThrow('Cannot make the zone "pg-1.lab.test": a machine has the name "pg-1"; expected another scope')
})
