// etcd clusters from the rendered machines, with users by password and by certificate: who gets in, and what the step
// that sets up users does, again and again.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectionCertificate, etcdAccess } from '../../src/clusters/etcd/access.ts'
import { canRestart, etcdStatus } from '../../src/clusters/etcd/status.ts'
import { type EtcdClient, prefixEnd } from '../../src/etcd/client.ts'
import { Secret } from '../../src/lib/secret.ts'
import { reveal } from '../../src/machine/content.ts'
import { EtcdMachines, etcdSpec, etcdUser } from '../support/etcd-machines.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { OpensslKeyring } from '../support/openssl-keyring.ts'
import { until } from '../support/until.ts'

const NETWORK = loopbackNetwork()

const bytes = (text: string) => Buffer.from(text)
const signal = new AbortController().signal
const NOTHING_TO_DO = 'users, roles and permissions are as they should be\n'
const USERS = [
  etcdUser('dns', { access: 'read', prefix: '/zones/' }),
  etcdUser('zones', { access: 'readwrite', prefix: '/zones/' }),
]

async function expectLeastPrivilege(cluster: EtcdMachines): Promise<void> {
  const [dns, zones] = ['dns', 'zones'].map((user) => cluster.client(user))
  await zones.put(bytes('/zones/a'), bytes('1'))
  expect((await dns.range({ key: bytes('/zones/a') })).count).toBe(1n)
  const all = { key: bytes('/zones/'), rangeEnd: prefixEnd(bytes('/zones/')) }
  expect((await dns.range(all)).count).toBe(1n)
  for (const forbidden of [
    () => dns.put(bytes('/zones/a'), bytes('2')),
    () => dns.range({ key: bytes('/zones') }),
    () => dns.range({ key: bytes('/zones0') }),
    () => dns.range({ ...all, rangeEnd: bytes('/zones1') }),
    () => dns.range({ key: bytes('/other/a') }),
    () => zones.put(bytes('/other/a'), bytes('2')),
    () => zones.userList(),
    () => zones.memberRemove(1n),
  ])
    await expect(forbidden()).rejects.toMatchObject({ code: 'EtcdForbidden' })
}

/** Neither etcd's answer nor any other good one. */
async function expectNoPlaintext(address: string): Promise<void> {
  for (const port of [2379, 2380])
    for (const path of ['/version', '/health', '/metrics', '/members']) {
      const request = requestHttp({ host: address, port, path, agent: false }).end()
      const [answer] = (await once(request, 'response').catch(() => [undefined])) as [
        { statusCode: number } | undefined,
      ]
      expect(answer?.statusCode ?? 400).toBe(400)
    }
}

/** What a member answers to `GET path`, or undefined when it hangs up. */
async function get(options: ConnectionOptions, path: string): Promise<string | undefined> {
  const socket = connect({ rejectUnauthorized: false, ...options })
  const { promise, resolve } = Promise.withResolvers<unknown>()
  for (const event of ['error', 'end', 'close']) socket.once(event, resolve)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n\r\n`)
  let text = ''
  socket.on('data', (chunk) => {
    text += String(chunk)
  })
  await promise
  socket.destroy()
  return text === '' ? undefined : text
}

async function fingerprint(host: string): Promise<string> {
  const socket: TLSSocket = connect({ host, port: 2379, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

interface Caller {
  readonly token?: string
  /** Presents no certificate. */
  readonly isBare?: boolean
}

/** To the JSON gateway. */
async function post(cluster: EtcdMachines, path: string, body: unknown, { token, isBare = false }: Caller = {}) {
  const { certificate, key } = connectionCertificate(cluster.site, 'dns')
  const request = requestHttps({
    host: cluster.spec.members[0].address,
    port: 2379,
    path,
    method: 'POST',
    ca: readFileSync(cluster.keyring.caFile),
    ...(!isBare && { cert: reveal(certificate), key: reveal(key) }),
    headers: token === undefined ? {} : { authorization: token },
    agent: false,
  })
  request.end(JSON.stringify(body))
  const [answer] = await once(request, 'response')
  let text = ''
  for await (const chunk of answer) text += String(chunk)
  return { status: answer.statusCode as number, body: JSON.parse(text) as Record<string, unknown> }
}

/** Without a user, which authentication does not ask for as long as it is disabled. */
async function deleteRole(cluster: EtcdMachines, role: string): Promise<void> {
  const { endpoints, tls = {} } = cluster.options(etcdAccess(cluster.spec, cluster.site, 'zones'))
  const { caFile = '', certFile = '', keyFile = '' } = tls
  const files = { ETCDCTL_CACERT: caFile, ETCDCTL_CERT: certFile, ETCDCTL_KEY: keyFile }
  const env = { PATH: '/usr/bin:/bin', ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: endpoints.join(','), ...files }
  await promisify(execFile)('etcdctl', ['role', 'delete', role], { env })
}

function otherAuthority(directory: string) {
  const keyring = new OpensslKeyring(mkdtempSync(join(directory, 'other-')))
  const identity = { id: 'root', commonName: 'root', organization: '', validityHours: 1, earlyRenewalHours: 0 }
  return { keyring, root: keyring.certificate({ ...identity, domains: [], addresses: [], usages: ['client'] }) }
}

/** Calls that etcd 3.4 answers without a user, and some that it answers before authentication is enabled. */
const CALLS: readonly (readonly [string, object])[] = [
  ['/v3/maintenance/alarm', { action: 'ACTIVATE', alarm: 'NOSPACE' }],
  ['/v3/maintenance/transfer-leadership', { targetID: '1' }],
  ['/v3/maintenance/status', {}],
  ['/v3/maintenance/snapshot', {}],
  ['/v3/kv/compaction', { revision: '1' }],
  ['/v3/kv/put', { key: 'YQ==', value: 'YQ==' }],
  ['/v3/lease/grant', { TTL: '60' }],
  ['/v3/lease/leases', {}],
  ['/v3/cluster/member/list', {}],
  ['/v3/auth/user/add', { name: 'intruder', password: 'intruder' }],
  ['/metrics', {}],
]

async function expectNoneWithoutCertificate(cluster: EtcdMachines): Promise<void> {
  for (const [path, body] of CALLS)
    await expect(post(cluster, path, body, { isBare: true }), path).rejects.toThrow(/certificate|ECONNRESET|EPIPE/u)
  const { caFile } = cluster.keyring
  const bare = cluster.open({ endpoints: cluster.spec.members.map(({ address }) => address), tls: { caFile } })
  await expect(bare.userAdd('intruder', 'intruder')).rejects.toMatchObject({ code: 'EtcdUntrusted' })
  await expect(bare.memberList()).rejects.toMatchObject({ code: 'EtcdUntrusted' })
}

describe('with passwords', () => {
  const addresses = [`${NETWORK}.1.1`, `${NETWORK}.1.2`, `${NETWORK}.1.3`]
  const cluster = new EtcdMachines(
    etcdSpec(addresses, { clientCertAuth: false, grpcGatewayEnabled: true, users: USERS }),
  )
  let root: EtcdClient

  beforeAll(async () => {
    root = cluster.client('root')
    cluster.write(['etcd-1', 'etcd-2', 'etcd-3'], [])
    for (const name of cluster.machines.keys()) cluster.start(name)
  })
  afterAll(() => cluster.end())

  test('the cluster is not ready before users are set up, however often that is interrupted', async () => {
    const status = await until('leader', async () => {
      const seen = await etcdStatus(cluster.spec, root, signal)
      return seen.members.every(({ isReady }) => isReady) && seen
    })
    expect(status).toMatchObject({ isReady: false, problem: 'authentication is not enabled yet' })
    // Until it is, every client may do everything.
    await expectNoneWithoutCertificate(cluster)
    for (const ms of [50, 150, 300, 500]) {
      cluster.at('etcd-1').start('etcd-auth')
      await sleep(ms)
      await cluster.at('etcd-1').end('etcd-auth')
    }
    // What etcdctl was told last may still be under way.
    await until('set up', () =>
      cluster.setUp().then(
        () => true,
        () => false,
      ),
    )
    const roles = status.members.map(({ role }) => String(role)).toSorted()
    expect(roles).toEqual(['follower', 'follower', 'leader'])
    expect(await etcdStatus(cluster.spec, root, signal)).toMatchObject({
      isReady: true,
      problem: undefined,
      members: addresses.map((_, index) => ({ machine: `etcd-${index + 1}`, isReady: true, version: '3.4.23' })),
    })
    expect(await root.userList()).toEqual(['dns', 'root', 'zones'])
  })

  test('users can do what their role allows and nothing else', () => expectLeastPrivilege(cluster))

  test('no client gets in without a certificate, whatever it asks for', () => expectNoneWithoutCertificate(cluster))

  test('no client gets in without logging in, with a wrong password or to a server of another authority', async () => {
    const { keyring } = otherAuthority(cluster.directory)
    const { endpoints, tls = {} } = cluster.options(etcdAccess(cluster.spec, cluster.site, 'dns'))
    const key = { key: bytes('/zones/a') }
    await expect(cluster.open({ endpoints, tls }).range(key)).rejects.toThrow('wants to know the user')
    const wrong = cluster.client('dns', { password: 'wrong' })
    await expect(wrong.range(key)).rejects.toMatchObject({ code: 'EtcdWrongPassword' })
    const elsewhere = cluster.client('dns', { tls: { ...tls, caFile: keyring.caFile } })
    await expect(elsewhere.range(key)).rejects.toMatchObject({ code: 'EtcdUntrusted' })
  })

  test('the gateway knows users by their token, and nobody without', async () => {
    const key = Buffer.from('/zones/a').toString('base64')
    expect((await post(cluster, '/v3/kv/range', { key })).status).not.toBe(200)
    const password = cluster.keyring.secret('etcd-user-dns-password').reveal()
    const { body } = await post(cluster, '/v3/auth/authenticate', { name: 'dns', password })
    expect(await post(cluster, '/v3/kv/range', { key }, { token: String(body.token) })).toMatchObject({
      status: 200,
      body: { count: '1' },
    })
  })

  test('nothing is said in plaintext', () => expectNoPlaintext(addresses[0]))

  test('setting up users again changes nothing', async () => {
    expect(await cluster.setUp()).toBe(NOTHING_TO_DO)
  })

  test('users, permissions and passwords follow the stack file; those of others are left alone', async () => {
    await root.userAdd('foreign', 'foreign')
    await root.roleAdd('foreign')
    await root.userGrantRole('zones', 'foreign')
    const password = new Secret('another')
    const users = [
      {
        ...etcdUser('dns', { access: 'readwrite', prefix: '/zones/' }, { access: 'read', prefix: '/more/' }),
        password,
      },
      etcdUser('new', { access: 'write', prefix: '/new/' }),
    ]
    const before = cluster.client('dns')
    await cluster.change({ users })
    await cluster.client('dns').put(bytes('/zones/b'), bytes('1'))
    await cluster.client('dns').range({ key: bytes('/more/b') })
    await cluster.client('new').put(bytes('/new/b'), bytes('1'))
    await expect(before.range({ key: bytes('/zones/b') })).rejects.toMatchObject({ code: 'EtcdWrongPassword' })
    expect(await root.userList()).toEqual(['dns', 'foreign', 'new', 'root', 'zones'])
    expect(await root.roleList()).toEqual(['foreign', 'holdfast-dns', 'holdfast-new'])
    expect(await root.userRoles('zones')).toEqual(['foreign'])
    await cluster.change({ users: [etcdUser('dns', { access: 'read', prefix: '/more/' })] })
    await expect(cluster.client('dns').range({ key: bytes('/zones/b') })).rejects.toMatchObject({
      code: 'EtcdForbidden',
    })
    expect(await root.userList()).toEqual(['dns', 'foreign', 'root', 'zones'])
    expect(await cluster.setUp()).toBe(NOTHING_TO_DO)
  })

  test('an alarm that names no member is seen, too', async () => {
    const operator = cluster.client('root')
    await post(cluster, '/v3/maintenance/alarm', { action: 'ACTIVATE', alarm: 'NOSPACE' })
    const raised = await until('alarm', async () => {
      const seen = await etcdStatus(cluster.spec, operator, signal)
      return !seen.isReady && seen
    })
    expect(raised).toMatchObject({ problem: 'alarm NOSPACE', isReady: false })
    for (const alarm of await operator.alarmList()) await operator.alarmDisarm(alarm)
    await until('ready', async () => (await etcdStatus(cluster.spec, operator, signal)).isReady)
  })

  test("root's own password can be changed", async () => {
    await cluster.change({ rootPassword: new Secret('new-root-password') })
    await cluster.change({ rootPassword: new Secret('newer-root-password') })
    expect(await cluster.client('root').userList()).toContain('dns')
    await expect(root.put(bytes('k'), bytes('v'))).rejects.toMatchObject({ code: 'EtcdWrongPassword' })
    expect(await cluster.setUp()).toBe(NOTHING_TO_DO)
  })

  test('a renewed certificate is served without a restart', async () => {
    const before = await fingerprint(addresses[0])
    expect(await fingerprint(addresses[0])).toBe(before)
    cluster.keyring.expire('etcd-1/server')
    cluster.write(['etcd-1'], cluster.spec.members)
    expect(await fingerprint(addresses[0])).not.toBe(before)
  })

  test('members that are down are told, and hold up nobody', async () => {
    const operator = cluster.client('root')
    await cluster.at('etcd-3').end('etcd')
    const look = async (...problems: readonly (string | undefined)[]) =>
      until(`problems ${problems}`, async () => {
        const seen = await etcdStatus(cluster.spec, operator, signal)
        return seen.members.every(({ problem }, index) => problem === problems[index]) && seen
      })
    const status = await look(undefined, undefined, 'not reachable')
    expect(status).toMatchObject({ isReady: false, problem: '2 of 3 members' })
    expect(status.members[2]).toMatchObject({ isReady: false, role: undefined })
    expect(['etcd-1', 'etcd-2', 'etcd-3'].map((name) => canRestart(status, name))).toEqual([false, false, true])
    await cluster.at('etcd-2').end('etcd')
    expect((await look('no leader', 'not reachable', 'not reachable')).problem).toBe('no leader')
    for (const name of ['etcd-2', 'etcd-3']) cluster.start(name)
    await until('ready', async () => (await etcdStatus(cluster.spec, operator, signal)).isReady)
  })
})

describe('with certificates', () => {
  const addresses = [`${NETWORK}.2.1`, `${NETWORK}.2.2`, `${NETWORK}.2.3`]
  const cluster = new EtcdMachines(etcdSpec(addresses, { users: USERS }))
  const at = { host: addresses[1], port: 2380 }
  let root: EtcdClient

  beforeAll(async () => {
    await cluster.form()
    root = cluster.client('root')
  })
  afterAll(() => cluster.end())

  test('the cluster is ready, and users can do what their role allows and nothing else', async () => {
    expect(await etcdStatus(cluster.spec, root, signal)).toMatchObject({ isReady: true, problem: undefined })
    await expectLeastPrivilege(cluster)
  })

  test('nobody gets in without a certificate, with one of another authority, or with that of a server', async () => {
    const { root: stranger } = otherAuthority(cluster.directory)
    const { caFile } = cluster.keyring
    const key = { key: bytes('/zones/a') }
    const files = ({ certificate, key }: typeof stranger) => ({
      caFile,
      certFile: cluster.file(certificate),
      keyFile: cluster.file(key),
    })
    await expect(cluster.open({ endpoints: addresses, tls: { caFile } }).range(key)).rejects.toMatchObject({
      code: 'EtcdUntrusted',
    })
    await expect(cluster.open({ endpoints: addresses, tls: files(stranger) }).range(key)).rejects.toMatchObject({
      code: 'EtcdUntrusted',
    })
    const server = cluster.keyring.certificate({ id: 'etcd-1/server' } as never)
    await expect(cluster.open({ endpoints: addresses, tls: files(server) }).range(key)).rejects.toMatchObject({
      code: 'EtcdForbidden',
    })
  })

  test('the port for peers is open to members only, not to users with a certificate of the same authority', async () => {
    const pair = (id: string) => {
      const { certificate, key } = cluster.keyring.certificate({ id } as never)
      return { cert: readFileSync(cluster.file(certificate)), key: readFileSync(cluster.file(key)) }
    }
    expect(await get({ ...at, ...pair('etcd-1/server') }, '/members')).toContain('etcd-1')
    for (const user of ['dns', 'root']) {
      cluster.client(user)
      expect(await get({ ...at, ...pair(`etcd-user/${user}`) }, '/members')).toBeUndefined()
    }
    expect(await get(at, '/members')).toBeUndefined()
  })

  test('nothing is said in plaintext', () => expectNoPlaintext(addresses[0]))

  test('setting up users again changes nothing, and users follow the stack file', async () => {
    expect(await cluster.setUp()).toBe(`Authentication Enabled\n${NOTHING_TO_DO}`)
    await cluster.change({ users: [etcdUser('dns', { access: 'write', prefix: '/more/' }), etcdUser('new')] })
    await cluster.client('dns').put(bytes('/more/a'), bytes('1'))
    await expect(cluster.client('dns').range({ key: bytes('/zones/a') })).rejects.toMatchObject({
      code: 'EtcdForbidden',
    })
    expect(await root.userList()).toEqual(['dns', 'new', 'root'])
    expect(await root.roleList()).toEqual(['holdfast-dns', 'holdfast-new'])
  })
})

describe.each([{ clientCertAuth: true }, { clientCertAuth: false }])('a new cluster, $clientCertAuth,', (how) => {
  const cluster = new EtcdMachines(etcdSpec([`${NETWORK}.4.1`], { ...how, users: USERS }))
  let intruder: EtcdClient

  beforeAll(async () => {
    cluster.write(['etcd-1'], [])
    cluster.start('etcd-1')
    intruder = cluster.client('zones')
    const hasLeader = async () => (await intruder.status(undefined, signal)).leader !== 0n
    await until('leader', () => hasLeader().catch(() => false))
  })
  afterAll(() => cluster.end())

  test('is not taken with users, roles or keys that the step did not make', async () => {
    await intruder.userAdd('evil', 'evil')
    await intruder.userAdd('dns', 'evil')
    for (const role of ['root', 'other']) await intruder.roleAdd(role)
    for (const user of ['evil', 'dns']) await intruder.userGrantRole(user, 'root')
    await intruder.put(bytes('/planted'), bytes('1'))
    const found = ['role root of user dns', 'user evil', 'role root of user evil', 'role other', 'key /planted']
    await expect(cluster.setUp()).rejects.toThrow(
      `Cannot enable authentication: etcd is new and has what this stack did not make: ${found.join('; ')}; expected nothing`,
    )
    expect(await intruder.isAuthEnabled(signal)).toBe(false)
  })

  test('is taken once they are gone', async () => {
    for (const user of ['evil', 'dns']) await intruder.userDelete(user)
    await intruder.delete(bytes('/planted'))
    await expect(cluster.setUp()).rejects.toThrow('did not make: role other; expected')
    await deleteRole(cluster, 'other')
    expect(await cluster.setUp()).toContain(NOTHING_TO_DO)
    expect(await cluster.client('root').userList()).toEqual(['dns', 'root', 'zones'])
  })

  test('that was taken before is taken again when authentication was disabled, with what is in it', async () => {
    const root = cluster.client('root')
    await root.put(bytes('/mine'), bytes('1'))
    await root.authDisable()
    expect(await cluster.setUp()).toContain(NOTHING_TO_DO)
    expect(await root.isAuthEnabled(signal)).toBe(true)
  })

  test('that an older version took is taken again, too: it did not make the file that is lost with the data', async () => {
    const root = cluster.client('root')
    await root.userAdd('operator', 'operator')
    await root.put(bytes('/mine'), bytes('2'))
    await root.authDisable()
    const machine = cluster.at('etcd-1')
    rmSync(join(machine.path('/var/lib/etcd'), 'member/authentication-enabled'))
    const enabled = machine.path('/var/lib/etcd-auth/enabled')
    // As if the data had been made after it.
    utimesSync(enabled, 0, 0)
    await expect(cluster.setUp()).rejects.toThrow(
      /etcd was formed again, or authentication was disabled, and .* did not make: user operator; key \/mine; expected only keys that users of the stack may write; remove the rest with etcdctl$/mu,
    )
    utimesSync(enabled, new Date(), new Date())
    await machine.end('etcd')
    cluster.start('etcd-1')
    await until('etcd', async () => !(await root.isAuthEnabled(signal).catch(() => true)))
    expect(await cluster.setUp()).toContain(NOTHING_TO_DO)
    expect(await root.isAuthEnabled(signal)).toBe(true)
    await root.userDelete('operator')
  })

  test('that lost its data is a new one: only keys that users of the stack may write are expected', async () => {
    const machine = cluster.at('etcd-1')
    await machine.end('etcd')
    rmSync(join(machine.path('/var/lib/etcd'), 'member'), { recursive: true })
    cluster.start('etcd-1')
    intruder = cluster.client('zones')
    await until('an etcd without users', async () => !(await intruder.isAuthEnabled(signal).catch(() => true)))
    await intruder.userAdd('evil', 'evil')
    for (const key of ['/planted', '/zones/a', '\n/zones/b']) await intruder.put(bytes(key), bytes('1'))
    await expect(cluster.setUp()).rejects.toThrow(
      String.raw`did not make: user evil; key \n/zones/b; key /planted; expected`,
    )
    expect(await intruder.isAuthEnabled(signal)).toBe(false)
    await intruder.userDelete('evil')
    for (const key of ['/planted', '\n/zones/b']) await intruder.delete(bytes(key))
    expect(await cluster.setUp()).toContain(NOTHING_TO_DO)
    expect(await cluster.client('root').isAuthEnabled(signal)).toBe(true)
    await machine.end('etcd')
    cluster.start('etcd-1')
    await until('an etcd that starts again', async () =>
      cluster
        .client('root')
        .isAuthEnabled(signal)
        .catch(() => false),
    )
  })
})

test('an alarm is told', async () => {
  const cluster = new EtcdMachines(etcdSpec([`${NETWORK}.3.1`], { spaceQuotaBytes: 1 << 20, users: [] }))
  try {
    await cluster.form()
    const root = cluster.client('root')
    const value = Buffer.alloc(1_000_000)
    await until('no space', () =>
      root.put(bytes('k'), value).then(
        () => false,
        () => true,
      ),
    )
    const status = await etcdStatus(cluster.spec, root, signal)
    expect(status).toMatchObject({ isReady: false, problem: 'alarm NOSPACE', members: [{ problem: 'alarm NOSPACE' }] })
  } finally {
    await cluster.end()
  }
})
