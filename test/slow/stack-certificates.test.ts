// A stack without PostgreSQL, whose users of etcd are known by certificates: by those of an RSA authority that the user
// brings, and with finished certificates for the members, of another authority still.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { zoneText } from '../support/holdfast-process.ts'
import { type IssuedFiles, issueFiles } from '../support/issued-files.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { opensslAuthority, RSA_2048 } from '../support/openssl.ts'
import { DNS_PORT, HOLDFAST, StackLab } from '../support/stack-lab.ts'
import { until } from '../support/until.ts'

const USERS = 'users: [{ name: reader, permissions: [{ access: read, prefix: /books/ }] }]'
const MEMBERS = [1, 2, 3]
const CA = 'ca: { certificate: { file: mine.pem }, key: { file: mine.key } }'

describe.each([
  { name: 'own-authority', network: loopbackNetwork(), isFinished: false },
  { name: 'finished-certificates', network: loopbackNetwork(), isFinished: true },
])('with $name', ({ name, network, isFinished }) => {
  const lab = new StackLab(name, '')
  let strange: IssuedFiles

  /** etcdctl with these files; `ca` is the stack's unless given. */
  const etcdctl = (files: { cert: string; key: string } | undefined, ...args: readonly string[]) =>
    lab.exec('etcdctl', args, {
      env: {
        ...{ ETCDCTL_API: '3', ETCDCTL_CACERT: lab.path('client/etcd-ca.pem'), ETCDCTL_DIAL_TIMEOUT: '2s' },
        ETCDCTL_ENDPOINTS: MEMBERS.map((i) => `https://${network}.10.${i}:2379`).join(','),
        ...(files && { ETCDCTL_CERT: files.cert, ETCDCTL_KEY: files.key }),
      },
    })
  const as = (user: string) => ({
    cert: lab.path('secrets/etcd-user', `${user}.pem`),
    key: lab.path('secrets/etcd-user', `${user}.key`),
  })

  beforeAll(async () => {
    await opensslAuthority(lab.directory, 'mine', { key: RSA_2048 })
    strange = await issueFiles(join(lab.directory, 'strange'), [{ id: 'root', commonName: 'root', usages: ['client'] }])
    const members = isFinished ? await finishedMembers(lab, network) : '3'
    lab.file(`domain: lab.test
network: ${network}.0.0/16
${CA}
etcd: { members: ${members}, ${USERS} }
dns: { servers: 2, zones: ./zones, port: ${DNS_PORT} }`)
    expect(await lab.up()).toMatchObject({ isReady: true, problems: [] })
  })

  afterAll(() => lab.close())

  test('a second "up" changes nothing', async () => {
    const before = await lab.pids()
    expect(await lab.done('up', '--yes', '--detach')).toContain('No changes')
    expect(await lab.pids()).toEqual(before)
  })

  test('the authorities are those of the file', async () => {
    const mine = readFileSync(join(lab.directory, 'mine.pem'), 'utf8')
    expect(readFileSync(lab.path('client/ca.pem'), 'utf8')).toBe(mine)
    const expected = isFinished ? readFileSync(join(lab.directory, 'finished/ca.pem'), 'utf8') : mine
    expect(readFileSync(lab.path('client/etcd-ca.pem'), 'utf8')).toBe(expected)
  })

  test.each([
    ['reader', { reads: ['/books/one'], writes: [] }],
    ['zones', { reads: ['/coredns/x'], writes: ['/coredns/x'] }],
    ['dns', { reads: ['/coredns/x'], writes: [] }],
    ['root', { reads: ['/coredns/x', '/books/one', '/other'], writes: ['/coredns/x', '/books/one', '/other'] }],
  ])('%s may do what its role allows, and nothing else', async (user, { reads, writes }) => {
    const keys = ['/coredns/x', '/books/one', '/other']
    const allowed = async (...command: readonly string[]) => {
      const answers = await Promise.all(keys.map((key) => etcdctl(as(user), command[0], key, ...command.slice(1))))
      for (const { code, stderr } of answers) if (code !== 0) expect(stderr).toContain('permission denied')
      return keys.filter((_, index) => answers[index].code === 0)
    }
    expect(await allowed('get')).toEqual(reads)
    expect(await allowed('put', 'x')).toEqual(writes)
    if (writes.length > 0) expect(await allowed('del')).toEqual(writes)
  })

  test('users of the file find their certificates beside what people need', () => {
    for (const file of ['pem', 'key'] as const)
      expect(readFileSync(lab.path(`client/etcd-user-reader.${file}`), 'utf8')).toBe(
        readFileSync(lab.path(`secrets/etcd-user/reader.${file}`), 'utf8'),
      )
  })

  test('nobody gets in without a certificate, with a password, or with a certificate of another authority', async () => {
    for (const files of [undefined, { cert: strange.cert('root'), key: strange.key('root') }]) {
      const { code, stdout } = await etcdctl(files, '--command-timeout=2s', 'get', '/other')
      expect({ isDone: code === 0, stdout }).toEqual({ isDone: false, stdout: '' })
    }
    const { code } = await etcdctl(undefined, '--command-timeout=2s', '--user', 'root:root', 'get', '/other')
    expect(code).not.toBe(0)
    // The certificates of members have no common name, so that they are nobody.
    const member = {
      cert: lab.path('machines/etcd-1/etc/etcd/server.pem'),
      key: lab.path('machines/etcd-1/etc/etcd/server.key'),
    }
    expect(await etcdctl(member, 'get', '/other')).toMatchObject({ code: 1, stdout: '' })
  })

  test('a client certificate of the same authority is no member', async () => {
    const [at, path] = [`${network}.10.2`, '/members']
    const own = (name: string) => ({ cert: readFileSync(`${name}.pem`), key: readFileSync(`${name}.key`) })
    const member = lab.path('machines/etcd-1/etc/etcd/server')
    expect(await peerAnswer(at, path, own(member))).toContain('etcd-1')
    const client = isFinished ? join(lab.directory, 'finished/client') : lab.path('secrets/etcd-user/root')
    expect(await peerAnswer(at, path, own(client))).toBeUndefined()
  })

  test('a member without its data is replaced, each time', async () => {
    const member = lab.path('machines/etcd-3/var/lib/etcd/member')
    const ids = new Set([await memberId()])
    for (const count of [2, 3]) {
      const { 'etcd-3/etcd': pid } = await lab.pids()
      rmSync(member, { recursive: true })
      process.kill(pid, 'SIGKILL')
      // A start without data leaves an empty database, and no log.
      await until('a start that was refused', () => existsSync(join(member, 'snap/db')))
      expect(await lab.up()).toMatchObject({ isReady: true, problems: [] })
      expect(ids.add(await memberId()).size).toBe(count)
      expect(await lab.done('up', '--yes', '--detach')).toContain('No changes')
    }

    /** Of etcd-3, one of three. */
    async function memberId(): Promise<string | undefined> {
      const lines = (await etcdctl(as('root'), 'member', 'list')).stdout.trim().split('\n')
      expect(lines).toHaveLength(3)
      return lines.find((line) => line.includes('etcd-3'))?.split(',')[0]
    }
  }, 600_000)

  test('name servers follow zones in etcd, and the printed lines work', async () => {
    const file = lab.write('stored.test.zone', zoneText(['www A 192.0.2.99']))
    expect(await lab.client(`${HOLDFAST} zone put ${file}`)).toMatchObject({ code: 0 })
    for (const server of [1, 2].map((i) => `${network}.20.${i}`))
      await until('the stored zone', async () => (await lab.dig(server, 'www.stored.test'))[0] === '192.0.2.99')
    const { examples } = await lab.status()
    expect(examples.map(({ purpose }) => purpose)).toEqual(['names', 'consensus'])
    for (const { command } of examples) expect(await lab.sh(command)).toMatchObject({ code: 0, stderr: '' })
  })

  test('members that all lost their data form a new cluster', async () => {
    const pids = await lab.pids()
    for (const i of MEMBERS) rmSync(lab.path(`machines/etcd-${i}/var/lib/etcd/member`), { recursive: true })
    for (const i of MEMBERS) process.kill(pids[`etcd-${i}/etcd`], 'SIGKILL')
    for (const i of MEMBERS)
      await until('a start that was refused', () =>
        existsSync(lab.path(`machines/etcd-${i}/var/lib/etcd/member/snap/db`)),
      )
    const formed = await lab.up()
    expect((await etcdctl(as('root'), 'get', '/', '--prefix', '--keys-only')).stdout.trim()).toBe('')
    // What the name servers knew stays in service, and the stack says so.
    for (const server of [1, 2]) {
      expect(await lab.dig(`${network}.20.${server}`, 'www.stored.test')).toEqual(['192.0.2.99'])
      expect(formed.machines.find(({ machine }) => machine === `dns-${server}`)).toMatchObject({
        state: 'degraded',
        problem: 'etcd-zones: etcd has lost its keys; those known before are served until one is put again',
      })
    }
    expect(await lab.client(`${HOLDFAST} zone put stored.test.zone`)).toMatchObject({ code: 0 })
    await until('a stack that is ready', async () => (await lab.status()).isReady)
    expect(await lab.done('up', '--yes', '--detach')).toContain('No changes')
  }, 600_000)
})

/** What a member answers on the port for peers; undefined when it refuses the certificate. */
async function peerAnswer(host: string, path: string, own: { cert: Buffer; key: Buffer }): Promise<string | undefined> {
  const request = get({ host, port: 2380, path, rejectUnauthorized: false, agent: false, ...own })
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  request.on('error', () => resolve(undefined))
  request.on('response', (response) => {
    let text = ''
    response.on('data', (chunk) => {
      text += String(chunk)
    })
    response.on('end', () => resolve(text))
  })
  return promise
}

/** Certificates as an operator of old has them, one for each member, and the members of the stack file with them. */
async function finishedMembers(lab: StackLab, network: string): Promise<string> {
  await issueFiles(join(lab.directory, 'finished'), [
    ...MEMBERS.map((i) => ({
      id: `etcd-${i}`,
      addresses: [`${network}.10.${i}`, '127.0.0.1'],
      usages: ['server', 'client'] as const,
    })),
    { id: 'client', usages: ['client'] as const },
  ])
  const members = MEMBERS.map(
    (i) =>
      `{ name: etcd-${i}, tls: { ca_cert: { file: finished/ca.pem }, server_cert: { file: finished/etcd-${i}.pem }, server_key: { file: finished/etcd-${i}.key } } }`,
  )
  return `[${members.join(', ')}]`
}
