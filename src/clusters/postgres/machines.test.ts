import { expect, test } from 'vitest'
import { postgresSpec } from '../../../test/support/postgres-spec.ts'
import { Secret } from '../../lib/secret.ts'
import { plain, reveal, show } from '../../machine/content.ts'
import type { Machine } from '../../machine/machine.ts'
import type { CertificateRequest, EtcdAccess, Site } from '../site.ts'
import { postgresMachines } from './machines.ts'
import type { PostgresSpec } from './spec.ts'

const etcd: EtcdAccess = {
  endpoints: ['10.0.0.1:2379', '10.0.0.2:2379'],
  ca: plain('etcd authority'),
  login: { username: 'patroni', password: new Secret('etcd password') },
}

function render(change: Partial<PostgresSpec> = {}, access = etcd, postgresVersion = '15', more: Partial<Site> = {}) {
  const requests: CertificateRequest[] = []
  const site: Site = {
    stack: 'lab',
    domain: 'lab.test',
    path: (machine, path) => `/srv/${machine}${path}`,
    program: ['holdfast'],
    postgresVersion,
    watchdogDevice: '/dev/watchdog',
    keyring: {
      secret: (id, given) => given ?? new Secret(`secret of ${id}`),
      authority: plain('authority'),
      certificate: (request) => {
        requests.push(request)
        return { certificate: plain(`certificate ${request.id}`), key: [new Secret(`key ${request.id}`)] }
      },
    },
    ...more,
  }
  const machines = postgresMachines(postgresSpec('10.0.3', change), site, access)
  return { machines, requests }
}

function textOf({ files }: Machine, path: string): string {
  const file = files.find((each) => each.path === path)
  if (file === undefined) throw new Error(`no ${path}`)
  return reveal(file.content)
}

const patroniOf = (machine: Machine) => JSON.parse(textOf(machine, '/etc/patroni/patroni.yml'))
const rolesOf = (machine: Machine) => JSON.parse(textOf(machine, '/etc/patroni/roles.json'))
const settingsOf = (machine: Machine) => JSON.parse(textOf(machine, '/etc/patroni/dynamic.json'))

test('a machine runs Patroni as postgres, on its own address', () => {
  const [{ services, ports, directories, files }] = render().machines
  expect(services[0]).toMatchObject({
    name: 'patroni',
    user: 'postgres',
    command: [
      ...['/usr/bin/python3', '/srv/pg-1/etc/patroni/clear-unfinished.py', '/srv/pg-1/var/lib/postgresql/15/main'],
      ...['/usr/bin/python3', '/srv/pg-1/etc/patroni/start-patroni.py', '/srv/pg-1/etc/patroni'],
    ],
  })
  expect(ports.map(({ port }) => port)).toEqual([5432, 8008])
  expect(directories.filter(({ isData }) => isData)).toEqual([
    { path: '/var/lib/postgresql/15', owner: 'postgres', mode: 0o700, isData: true },
  ])
  expect(files.every(({ owner, mode }) => owner === 'postgres' && mode === 0o600)).toBe(true)
})

test('the watchdog is a device where a member has a machine of its own, and a process where members share one', () => {
  const watchdogOf = (margin: number, watchdogDevice: string | undefined) => {
    const patroni = { ...postgresSpec('10.0.3').patroni, watchdogSafetyMargin: margin }
    const [machine] = render({ patroni }, etcd, '15', { watchdogDevice }).machines
    return patroniOf(machine).watchdog
  }
  expect(watchdogOf(5, '/dev/one')).toEqual({ mode: 'automatic', device: '/dev/one', safety_margin: 5 })
  const ofProcess = { mode: 'automatic', driver: 'holdfast', data_dir: '/srv/pg-1/var/lib/postgresql/15/main' }
  expect(watchdogOf(5, undefined)).toEqual({ ...ofProcess, safety_margin: 1 })
  expect(watchdogOf(-1, undefined)).toEqual({ ...ofProcess, safety_margin: -1 })
})

test('secrets are in the files and cannot be seen', () => {
  const [machine] = render({ superuserPassword: new Secret('given password') }).machines
  expect(rolesOf(machine).postgres.password).toBe('given password')
  const seen = machine.files.map(({ content }) => show(content)).join('\n')
  expect(seen).not.toMatch(/given password|secret of|etcd password|key pg-1/u)
})

test('data and programs are those of the version of PostgreSQL', () => {
  const [machine] = render({}, etcd, '17').machines
  const { data_dir, bin_dir, pgpass } = patroniOf(machine).postgresql
  expect({ data_dir, bin_dir, pgpass }).toEqual({
    data_dir: '/srv/pg-1/var/lib/postgresql/17/main',
    bin_dir: '/usr/lib/postgresql/17/bin',
    pgpass: '/srv/pg-1/var/lib/postgresql/17/pgpass',
  })
  expect(machine.services[0].command).toContain('/srv/pg-1/var/lib/postgresql/17/main')
  expect(machine.directories.map(({ path }) => path)).toContain('/var/lib/postgresql/17')
  expect(machine.packages).toContain('postgresql')
  const [elsewhere] = render({}, etcd, '16', { postgresPackage: 'postgresql-16' }).machines
  expect(elsewhere.packages.filter((name) => name.startsWith('postgresql'))).toEqual(['postgresql-16'])
})

test('Patroni has a role of its own, which no password of the stack file is for', () => {
  const passwords = { superuserPassword: new Secret('of people'), replicatorPassword: new Secret('of replicas') }
  const [machine] = render(passwords).machines
  const { superuser, replication, rewind } = patroniOf(machine).postgresql.authentication
  expect([superuser, replication, rewind]).toMatchObject([
    { username: 'patroni', password: 'secret of postgres-patroni-password' },
    { username: 'replicator', password: 'of replicas' },
    { username: 'rewinder', password: 'secret of postgres-rewinder-password' },
  ])
  expect(rolesOf(machine)).toMatchObject({
    patroni: { password: superuser.password },
    postgres: { password: 'of people' },
    replicator: { password: replication.password },
    rewinder: { password: rewind.password },
  })
})

test('a changed password is brought to the roles by the step, and to Patroni by a reload', () => {
  const changedBy = (change: Partial<PostgresSpec>) => changes(render().machines, render(change).machines)
  const step = { name: 'pg-1', path: '/etc/patroni/roles.json', onChange: { restart: 'patroni-settings' } }
  expect(changedBy({ superuserPassword: new Secret('new') })).toEqual([step])
  const reloads = ['pg-1', 'pg-2', 'pg-3'].map((name) => ({
    ...{ name, path: '/etc/patroni/patroni.yml', onChange: { reload: 'patroni' } },
  }))
  expect(changedBy({ replicatorPassword: new Secret('new') })).toEqual([reloads[0], step, ...reloads.slice(1)])
})

test('Patroni logs in to etcd with a password and checks its certificate', () => {
  const [machine] = render().machines
  expect(patroniOf(machine).etcd3).toEqual({
    hosts: ['10.0.0.1:2379', '10.0.0.2:2379'],
    protocol: 'https',
    cacert: '/srv/pg-1/etc/patroni/etcd-ca.pem',
    username: 'patroni',
    password: 'etcd password',
  })
  const withCertificate = { ...etcd, login: { certificate: plain(''), key: plain('') } }
  expect(() => render({}, withCertificate)).toThrow(/expected a user name and a password/u)
})

test('Patroni shows etcd a certificate where it asks for one, and is restarted when it gets it', () => {
  const connection = { certificate: plain('etcd certificate'), key: plain('etcd key') }
  const asked = { ...etcd, login: { username: 'patroni', password: new Secret('etcd password'), connection } }
  const [without] = render().machines
  const [machine] = render({}, asked).machines
  const paths = { cert: '/srv/pg-1/etc/patroni/etcd-client.pem', key: '/srv/pg-1/etc/patroni/etcd-client.key' }
  expect(patroniOf(machine).etcd3).toMatchObject({ username: 'patroni', ...paths })
  expect(textOf(machine, '/etc/patroni/etcd-client.pem')).toBe('etcd certificate')
  expect(textOf(machine, '/etc/patroni/etcd-client.key')).toBe('etcd key')
  // Patroni reads only at its start whether there is one.
  expect(machine.services[0].environment).toMatchObject({
    PATRONI_ETCD3_CERT: paths.cert,
    PATRONI_ETCD3_KEY: paths.key,
  })
  expect(without.services[0].environment).not.toHaveProperty('PATRONI_ETCD3_CERT')
})

test('all connections have TLS and are verified; the REST API wants a certificate, and a password for commands', () => {
  const { restapi, postgresql } = patroniOf(render().machines[1])
  expect(restapi).toMatchObject({
    listen: '10.0.3.2:8008',
    verify_client: 'required',
    cafile: '/srv/pg-2/etc/patroni/ca.pem',
  })
  expect(restapi.authentication.password).toBe('secret of patroni-operator-password')
  for (const user of ['superuser', 'replication', 'rewind']) {
    expect(postgresql.authentication[user]).toMatchObject({
      sslmode: 'verify-full',
      sslrootcert: '/srv/pg-2/etc/patroni/ca.pem',
    })
  }
  expect(postgresql.parameters).toMatchObject({ ssl: 'on', unix_socket_directories: '' })
})

test('a machine with several addresses serves all of them, and is told to the others by its first', () => {
  const [first, second] = postgresSpec('10.0.3').members
  const members = [first, { ...second, moreAddresses: ['10.1.3.2', 'fd00::2'] }]
  const { machines, requests } = render({ members })
  const { restapi, postgresql } = patroniOf(machines[1])
  expect(postgresql).toMatchObject({ listen: '10.0.3.2,10.1.3.2,fd00::2:5432', connect_address: '10.0.3.2:5432' })
  expect(restapi).toMatchObject({ listen: '*:8008', connect_address: '10.0.3.2:8008', verify_client: 'required' })
  const addresses = requests.find(({ id }) => id === 'pg-2/server')?.addresses
  expect(addresses).toEqual(expect.arrayContaining(['10.0.3.2', '10.1.3.2', 'fd00::2', '127.0.0.1']))
  expect(patroniOf(machines[0])).toMatchObject({
    postgresql: { listen: '10.0.3.1:5432' },
    restapi: { listen: '10.0.3.1:8008' },
  })
})

test('only scram over TLS is let in', () => {
  const { pg_hba: rules } = patroniOf(render().machines[0]).postgresql as { postgresql: unknown; pg_hba: string[] }
  expect(rules.filter((rule) => !rule.endsWith(' reject'))).toEqual([
    'hostssl replication replicator all scram-sha-256',
    'hostssl all all all scram-sha-256',
  ])
})

test('a certificate has the names of machine, roles, proxies and stack file, and no common name', () => {
  const certificate = {
    domains: ['db.example.com'],
    extraIps: ['192.0.2.7'],
    organization: 'Example',
    validityHours: 100,
    earlyRenewalHours: 10,
  }
  const { members } = postgresSpec('10.0.3')
  const [proxy] = postgresSpec('10.0.4').members
  const haproxy = { servers: [{ ...proxy, name: 'proxy-1' }], readWritePort: 5000, readOnlyPort: 5001 }
  const { requests } = render({ members: [{ ...members[0], certificate }, ...members.slice(1)], haproxy })
  expect(requests[0]).toEqual({
    id: 'pg-1/server',
    organization: 'Example',
    validityHours: 100,
    earlyRenewalHours: 10,
    domains: [
      'pg-1.lab.test',
      'pg-1.pg.lab.test',
      'primary.pg.lab.test',
      'replica.pg.lab.test',
      'sync.pg.lab.test',
      'proxy-1.lab.test',
      'db.example.com',
    ],
    addresses: ['10.0.3.1', '127.0.0.1', '10.0.4.1', '192.0.2.7'],
    usages: ['server', 'client'],
  })
  // Those of other members have nothing of it.
  expect(requests[1]).toMatchObject({ id: 'pg-2/server', organization: 'test', validityHours: 24 })
  expect(requests[1].domains).not.toContain('db.example.com')
})

test('a member logs in to etcd with its own name and password, where it has them', () => {
  const { members } = postgresSpec('10.0.3')
  const etcdLogin = { username: 'second', password: new Secret('second password') }
  const { machines } = render({ members: [members[0], { ...members[1], etcdLogin }] })
  expect(machines.map((machine) => patroniOf(machine).etcd3)).toMatchObject([
    { hosts: etcd.endpoints, username: 'patroni', password: 'etcd password' },
    { hosts: etcd.endpoints, username: 'second', password: 'second password' },
  ])
})

test('settings that members share are set by the first one, in names that Patroni 3 and 4 know', () => {
  const { machines } = render()
  expect(machines.map(({ services }) => services.map(({ name }) => name))).toEqual([
    ['patroni', 'patroni-settings'],
    ['patroni'],
    ['patroni'],
  ])
  expect(settingsOf(machines[0])).toMatchObject({
    ttl: 20,
    loop_wait: 5,
    primary_start_timeout: 300,
    primary_stop_timeout: 300,
    synchronous_mode: true,
    synchronous_mode_strict: true,
    synchronous_node_count: 1,
    failsafe_mode: true,
    postgresql: { use_pg_rewind: true, parameters: { wal_retrieve_retry_interval: '500ms' } },
  })
})

test('parameters of the stack file come before the defaults', () => {
  const [machine] = render({ params: { wal_retrieve_retry_interval: '2s', work_mem: '8MB' } }).machines
  expect(settingsOf(machine).postgresql.parameters).toEqual({ wal_retrieve_retry_interval: '2s', work_mem: '8MB' })
})

test('a cluster is made with short loops, checksums and the same settings otherwise; only its first start reads them', () => {
  const [machine] = render({ params: { work_mem: '8MB' } }).machines
  const { bootstrap } = JSON.parse(textOf(machine, '/etc/patroni/bootstrap.yml'))
  expect(bootstrap.dcs).toEqual({ ...settingsOf(machine), loop_wait: 1 })
  expect(bootstrap.initdb).toContain('data-checksums')
  expect(machine.files.filter(({ isInitial }) => isInitial).map(({ path }) => path)).toEqual([
    '/etc/patroni/bootstrap.yml',
  ])
})

test('a changed parameter is one changed file, which the step that sets it reads again', () => {
  expect(changes(render().machines, render({ params: { work_mem: '8MB' } }).machines)).toEqual([
    { name: 'pg-1', path: '/etc/patroni/dynamic.json', onChange: { restart: 'patroni-settings' } },
  ])
})

function changes(before: readonly Machine[], after: readonly Machine[]) {
  return after.flatMap(({ name, files }, index) =>
    files
      .filter(({ content, isInitial }, at) => !isInitial && reveal(content) !== reveal(before[index].files[at].content))
      .map(({ path, onChange }) => ({ name, path, onChange })),
  )
}

test('a primary has the time to stop that Patroni gives it', () => {
  const { patroni } = postgresSpec('10.0.3')
  const stopTimeoutMs = (masterStopTimeout: number) =>
    render({ patroni: { ...patroni, masterStopTimeout } }).machines[0].services[0].stopTimeoutMs
  expect(stopTimeoutMs(300)).toBe(310_000)
  expect(stopTimeoutMs(0)).toBe(60_000)
})
