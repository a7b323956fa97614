import { describe, expect, test } from 'vitest'
import { Secret } from '../../lib/secret.ts'
import { plain, reveal, show } from '../../machine/content.ts'
import type { Hardware } from '../../machine/hardware.ts'
import type { Machine } from '../../machine/machine.ts'
import type { CertificateRequest, Site } from '../site.ts'
import { etcdAccess } from './access.ts'
import { etcdMachines, startedMachine } from './machines.ts'
import type { EtcdMember, EtcdSpec } from './spec.ts'

const requests: CertificateRequest[] = []
const site: Site = {
  stack: 'lab',
  domain: 'lab.test',
  path: (machine, path) => `/machines/${machine}${path}`,
  program: ['holdfast'],
  postgresVersion: '15',
  watchdogDevice: '/dev/watchdog',
  keyring: {
    secret: (id, given) => given ?? new Secret(`secret of ${id}`),
    authority: plain('AUTHORITY\n'),
    certificate: (request) => {
      requests.push(request)
      return { certificate: plain(`certificate ${request.id}\n`), key: [new Secret(`key ${request.id}\n`)] }
    },
  },
}

const [one, two, three] = ['etcd-1', 'etcd-2', 'etcd-3'].map(
  (name, index): EtcdMember => ({
    ...{ name, address: `10.0.0.${index + 1}`, moreAddresses: [] },
    ...{ hardware: {} as Hardware, tls: undefined },
  }),
)

const spec: EtcdSpec = {
  members: [one, two, three],
  autoCompactionMode: 'periodic',
  autoCompactionRetention: '1h',
  spaceQuotaBytes: 2 ** 31,
  grpcGatewayEnabled: false,
  clientCertAuth: true,
  bootstrapMember: 'etcd-1',
  rootPassword: undefined,
  initialToken: 'token',
  users: [{ name: 'dns', permissions: [{ access: 'read', prefix: '/zones/' }], password: undefined }],
}
const byPassword: EtcdSpec = { ...spec, clientCertAuth: false, grpcGatewayEnabled: true }

function fileOf({ files }: Machine, path: string): string | undefined {
  const file = files.find((each) => each.path === path)
  return file === undefined ? undefined : reveal(file.content)
}

function settings(machine: Machine, path = '/etc/etcd/etcd.env'): Record<string, string> {
  const lines = (fileOf(machine, path) ?? '').trimEnd().split('\n')
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/u).slice(0, 2)))
}

function initial(machine: Machine): Record<string, string> {
  return settings(machine, '/etc/etcd/initial.env')
}

describe('a member', () => {
  const [machine] = etcdMachines(spec, site, [])

  test('listens with TLS on its own address only', () => {
    expect(settings(machine)).toMatchObject({
      ETCD_NAME: 'etcd-1',
      ETCD_DATA_DIR: '/machines/etcd-1/var/lib/etcd',
      ETCD_LISTEN_CLIENT_URLS: 'https://10.0.0.1:2379',
      ETCD_ADVERTISE_CLIENT_URLS: 'https://10.0.0.1:2379',
      ETCD_LISTEN_PEER_URLS: 'https://10.0.0.1:2380',
      ETCD_CERT_FILE: '/machines/etcd-1/etc/etcd/server.pem',
      ETCD_PEER_CLIENT_CERT_AUTH: 'true',
      ETCD_PEER_TRUSTED_CA_FILE: '/machines/etcd-1/etc/etcd/ca.pem',
    })
    const text = JSON.stringify(machine.files.map(({ content }) => show(content)))
    expect(text).not.toContain('http://')
    expect(machine.ports.map(({ port }) => port)).toEqual([2379, 2380])
  })

  test('takes its settings from the stack file', () => {
    expect(settings(machine)).toMatchObject({
      ETCD_AUTO_COMPACTION_MODE: 'periodic',
      ETCD_AUTO_COMPACTION_RETENTION: '1h',
      ETCD_QUOTA_BACKEND_BYTES: '2147483648',
      ETCD_ENABLE_GRPC_GATEWAY: 'false',
    })
  })

  test('with an IPv6 address has it in brackets', () => {
    const [other] = etcdMachines({ ...spec, members: [{ ...one, address: 'fd00::1' }] }, site, [])
    expect(settings(other).ETCD_LISTEN_PEER_URLS).toBe('https://[fd00::1]:2380')
  })

  test.each([
    [spec, ['/etc/etcd/server.key', '/etc/etcd/auth/root.key']],
    [
      byPassword,
      [
        ...['/etc/etcd/server.key', '/etc/etcd/auth/root.key'],
        ...['/etc/etcd/auth/root.password', '/etc/etcd/auth/dns.password'],
      ],
    ],
  ])('keeps data and secrets to its own user, and can change nothing else', (each, secrets) => {
    const { directories, files } = etcdMachines(each, site, [])[0]
    const isOwn = ({ owner, mode }: { owner: string; mode: number }) => owner === 'etcd' && (mode & 0o077) === 0
    const isRoots = ({ owner, mode }: { owner: string; mode: number }) => owner === 'root' && (mode & 0o022) === 0
    expect(files.filter(isOwn).map(({ path }) => path)).toEqual(secrets)
    expect(directories.filter(isOwn).map(({ path }) => path)).toEqual(['/var/lib/etcd', '/var/lib/etcd-auth'])
    expect([...files, ...directories].filter((all) => !isOwn(all)).every(isRoots)).toBe(true)
    expect(directories.filter(({ isData }) => isData).every(isOwn)).toBe(true)
  })

  test('is restarted for other settings or authorities, not for a renewed certificate', () => {
    const changes = new Map(machine.files.map(({ path, onChange }) => [path, onChange]))
    for (const path of ['etcd.env', 'ca.pem', 'client-ca.pem'])
      expect(changes.get(`/etc/etcd/${path}`)).toEqual({ restart: 'etcd' })
    for (const path of ['initial.env', 'server.pem', 'server.key', 'auth/root.pem'])
      expect(changes.get(`/etc/etcd/${path}`)).toBe('nothing')
  })

  test('has a certificate for all its names, with none that could be a user', () => {
    const request = requests.find(({ id }) => id === 'etcd-1/server')
    expect(request).toMatchObject({ addresses: ['10.0.0.1', '127.0.0.1'], usages: ['server', 'client'] })
    expect(request?.domains).toEqual(['etcd-1', 'etcd-1.lab.test', 'localhost', 'peers.etcd.lab'])
    expect(request).not.toHaveProperty('commonName')
  })

  test('lets only members in on the port for peers', () => {
    expect(settings(machine).ETCD_PEER_CERT_ALLOWED_HOSTNAME).toBe('peers.etcd.lab')
  })
})

describe('users come', () => {
  test('with certificates where the stack file says so', () => {
    const [machine] = etcdMachines(spec, site, [])
    expect(settings(machine)).toMatchObject({
      ETCD_CLIENT_CERT_AUTH: 'true',
      ETCD_TRUSTED_CA_FILE: '/machines/etcd-1/etc/etcd/client-ca.pem',
    })
    expect(fileOf(machine, '/etc/etcd/auth/root.key')).toBe('key etcd-user/root\n')
    expect(etcdAccess(spec, site, 'dns')).toMatchObject({
      endpoints: ['10.0.0.1:2379', '10.0.0.2:2379', '10.0.0.3:2379'],
      ca: ['AUTHORITY\n'],
      login: { certificate: ['certificate etcd-user/dns\n'] },
    })
    expect(requests.find(({ id }) => id === 'etcd-user/dns')).toMatchObject({ commonName: 'dns', usages: ['client'] })
  })

  test('else with passwords, and still only with a client certificate', () => {
    const [machine] = etcdMachines(byPassword, site, [])
    expect(settings(machine)).toMatchObject({ ETCD_CLIENT_CERT_AUTH: 'false', ETCD_ENABLE_GRPC_GATEWAY: 'true' })
    expect(settings(machine)).toHaveProperty('ETCD_TRUSTED_CA_FILE', '/machines/etcd-1/etc/etcd/client-ca.pem')
    expect(fileOf(machine, '/etc/etcd/client-ca.pem')).toBe('AUTHORITY\n')
    expect(fileOf(machine, '/etc/etcd/auth/root.key')).toBe('key etcd-connection/root\n')
    expect(fileOf(machine, '/etc/etcd/auth/dns.password')).toBe('secret of etcd-user-dns-password\n')
    const given = { ...byPassword, rootPassword: new Secret('given') }
    const { login } = etcdAccess(given, site, 'root')
    expect(login).toMatchObject({
      username: 'root',
      connection: { certificate: ['certificate etcd-connection/root\n'] },
    })
    // The JSON gateway rejects a client certificate with a common name.
    expect(requests.find(({ id }) => id === 'etcd-connection/root')).not.toHaveProperty('commonName')
    expect(fileOf(etcdMachines(given, site, [])[0], '/etc/etcd/auth/root.password')).toBe('given\n')
  })

  test('and are made on one member only, without a secret in the script', () => {
    for (const each of [spec, byPassword]) {
      const [first, second, third] = etcdMachines(each, site, [])
      expect(first.services.map(({ name, once }) => [name, once ?? false])).toEqual([
        ['etcd', false],
        ['etcd-auth', true],
      ])
      for (const other of [second, third]) {
        expect(other.services.map(({ name }) => name)).toEqual(['etcd'])
        expect(other.files.filter(({ path }) => path.startsWith('/etc/etcd/auth'))).toEqual([])
      }
      const script = fileOf(first, '/etc/etcd/auth/set-up.sh')
      expect(script).toContain(`user 'dns' '{"key":"L3pvbmVzLw==","range_end":"L3pvbmVzMA=="}' 'read' '/zones/'`)
      expect(script).not.toContain('secret of')
    }
  })
})

describe('given certificates', () => {
  const tls = { caCert: 'GIVEN CA', serverCert: 'GIVEN CERT\n', serverKey: new Secret('GIVEN KEY\n') }
  const given: EtcdSpec = { ...spec, members: spec.members.map((member) => ({ ...member, tls })) }

  test('are used as they are, and their authority is trusted beside ours', () => {
    const [machine] = etcdMachines(given, site, [])
    expect(fileOf(machine, '/etc/etcd/server.pem')).toBe('GIVEN CERT\n')
    expect(fileOf(machine, '/etc/etcd/server.key')).toBe('GIVEN KEY\n')
    expect(fileOf(machine, '/etc/etcd/ca.pem')).toBe('GIVEN CA\n')
    expect(fileOf(machine, '/etc/etcd/client-ca.pem')).toBe('AUTHORITY\nGIVEN CA\n')
    expect(etcdAccess(given, site, 'dns').ca).toEqual(['GIVEN CA\n'])
  })

  test('pass as a member with the one address that all of them are valid for', () => {
    expect(settings(etcdMachines(given, site, [])[0]).ETCD_PEER_CERT_ALLOWED_HOSTNAME).toBe('127.0.0.1')
  })
})

describe('at its first start', () => {
  test('a new cluster has all its members', () => {
    for (const machine of etcdMachines(spec, site, [])) {
      expect(initial(machine)).toMatchObject({
        ETCD_INITIAL_CLUSTER: 'etcd-1=https://10.0.0.1:2380,etcd-2=https://10.0.0.2:2380,etcd-3=https://10.0.0.3:2380',
        ETCD_INITIAL_CLUSTER_STATE: 'new',
        ETCD_INITIAL_CLUSTER_TOKEN: 'token',
      })
    }
  })

  test('a member that joins knows those that run, also one that is to leave, and those that join before it', () => {
    const leaving = { name: 'old', address: '10.0.0.9' }
    const [, first, second] = etcdMachines(spec, site, [one, leaving])
    const known = 'etcd-1=https://10.0.0.1:2380,old=https://10.0.0.9:2380'
    expect(initial(first)).toMatchObject({
      ETCD_INITIAL_CLUSTER: `${known},etcd-2=https://10.0.0.2:2380`,
      ETCD_INITIAL_CLUSTER_STATE: 'existing',
    })
    expect(initial(second).ETCD_INITIAL_CLUSTER).toBe(
      `${known},etcd-2=https://10.0.0.2:2380,etcd-3=https://10.0.0.3:2380`,
    )
  })

  test('a member that runs is sent to no other one, so that it does not start without its data', () => {
    const alone = {
      ETCD_INITIAL_CLUSTER: 'etcd-1=https://10.0.0.1:2380',
      ETCD_INITIAL_CLUSTER_STATE: 'existing',
    }
    expect(initial(etcdMachines(spec, site, [one, two])[0])).toMatchObject(alone)
    const started = startedMachine(spec, etcdMachines(spec, site, [])[0])
    expect(initial(started)).toMatchObject(alone)
    expect(started.files.find(({ path }) => path === '/etc/etcd/initial.env')?.isInitial).toBe(false)
  })

  test('and only then is that file of use, so it is left alone on members that run', () => {
    const isInitial = etcdMachines(spec, site, [one, two]).map(
      ({ files }) => files.find(({ path }) => path === '/etc/etcd/initial.env')?.isInitial,
    )
    expect(isInitial).toEqual([true, true, false])
  })
})

test.each([
  [
    'a:b',
    'x',
    'Cannot make etcd user "a:b": it has other characters than letters, digits and "_.-"; choose another name',
  ],
  ['root', 'x', 'Cannot make etcd user "root": the name is taken; choose another one'],
  ['dns', '', 'Cannot make etcd user "dns": its password is empty; give one, or none to have one generated'],
  [
    'dns',
    'two words',
    'Cannot make etcd user "dns": its password has white space or control characters in it; choose another one',
  ],
  ['dns', 'x'.repeat(73), 'Cannot make etcd user "dns": its password is longer than 72 bytes; choose a shorter one'],
])('user %j with password %j is refused', (name, password, message) => {
  const users = [{ name, permissions: [], password: new Secret(password) }]
  expect(() => etcdMachines({ ...byPassword, users }, site, [])).toThrow(message)
})
