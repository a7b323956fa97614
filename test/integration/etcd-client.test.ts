// The client's calls against real members: one plain, and one with TLS and authentication.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EtcdClient, prefixEnd } from '../../src/etcd/client.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { Recorder } from '../support/etcd-recorder.ts'
import { until } from '../support/until.ts'

const bytes = (text: string) => Buffer.from(text)
const text = (value: Uint8Array | undefined) => value && Buffer.from(value).toString()

describe('keys, transactions and leases', () => {
  let cluster: EtcdCluster
  let client: EtcdClient

  beforeAll(async () => {
    cluster = await EtcdCluster.start({ members: 1, flags: ['--max-txn-ops=5000'] })
    client = new EtcdClient(cluster.options)
  })
  afterAll(async () => {
    client.close()
    await cluster.stop()
  })

  test('a key is put, read, changed and deleted', async () => {
    const put = await client.put(bytes('k'), bytes('1'))
    await client.put(bytes('k'), bytes('2'))
    const read = await client.range({ key: bytes('k') })
    expect(read).toMatchObject({ revision: put.revision + 1n, count: 1n, more: false })
    expect(read.kvs[0]).toMatchObject({
      createRevision: put.revision,
      modRevision: put.revision + 1n,
      version: 2n,
      lease: 0n,
    })
    expect(text(read.kvs[0].value)).toBe('2')
    expect(text((await client.range({ key: bytes('k'), revision: put.revision })).kvs[0].value)).toBe('1')
    expect((await client.delete(bytes('k'))).deleted).toBe(1n)
    expect((await client.range({ key: bytes('k') })).kvs).toEqual([])
  })

  test('a range has a limit, keys alone, and an end', async () => {
    for (const name of ['r/1', 'r/2', 'r/3', 's']) await client.put(bytes(name), bytes(name))
    const range = { key: bytes('r/'), rangeEnd: prefixEnd(bytes('r/')) }
    const two = await client.range({ ...range, limit: 2, keysOnly: true })
    expect(two.kvs.map(({ key, value }) => [text(key), text(value)])).toEqual([
      ['r/1', ''],
      ['r/2', ''],
    ])
    expect(two).toMatchObject({ count: 3n, more: true })
    expect((await client.range({ ...range, serializable: true })).count).toBe(3n)
    expect((await client.delete(range.key, { rangeEnd: range.rangeEnd })).deleted).toBe(3n)
  })

  test('a transaction does one thing or the other, at one revision', async () => {
    const isNew = [{ key: bytes('t/a'), target: 'version', version: 0n }] as const
    const put = [{ put: { key: bytes('t/a'), value: bytes('1') } }, { put: { key: bytes('t/b'), value: bytes('2') } }]
    const otherwise = [{ range: { key: bytes('t/a') } }, { delete: { key: bytes('t/b') } }]
    const first = await client.txn(isNew, put, otherwise)
    expect(first).toMatchObject({ succeeded: true, responses: [{}, {}] })
    const second = await client.txn(isNew, put, otherwise)
    expect(second).toMatchObject({ succeeded: false, revision: first.revision + 1n })
    expect(text(second.responses[0].range?.kvs[0].value)).toBe('1')
    expect(second.responses[1].delete?.deleted).toBe(1n)
    const compared = [
      { key: bytes('t/a'), target: 'mod', revision: first.revision },
      { key: bytes('t/a'), target: 'create', revision: first.revision + 1n, result: 'less' },
      { key: bytes('t/a'), target: 'value', value: bytes('0'), result: 'greater' },
      { key: bytes('t/a'), target: 'lease', lease: 5n, result: 'not equal' },
    ] as const
    expect((await client.txn(compared, [])).succeeded).toBe(true)
  })

  test('a lease takes its keys with it', async () => {
    const { id, ttl } = await client.leaseGrant(60)
    expect(ttl).toBe(60)
    await client.put(bytes('leased'), bytes('x'), { lease: id })
    expect((await client.range({ key: bytes('leased') })).kvs[0].lease).toBe(id)
    expect(await client.leaseTimeToLive(id)).toMatchObject({ grantedTtl: 60 })
    expect(await client.leaseKeepAlive(id)).toEqual({ ttl: 60 })
    await client.leaseRevoke(id)
    expect((await client.range({ key: bytes('leased') })).kvs).toEqual([])
    expect(await client.leaseTimeToLive(id)).toEqual({ ttl: -1, grantedTtl: 0 })
    expect(await client.leaseKeepAlive(id)).toEqual({ ttl: 0 })
  })

  test('a value of 1.4 MB is written, read and watched', async () => {
    const recorder = new Recorder(cluster.options, { prefix: 'large/' })
    await recorder.up()
    const value = Buffer.alloc(1_400_000, 'x')
    await client.put(bytes('large/a'), value)
    expect((await client.range({ key: bytes('large/a') })).kvs[0].value).toHaveLength(value.length)
    await recorder.has('large/a', value.toString())
    await recorder.stop()
  })

  test('many large values go over one connection at once', async () => {
    const value = Buffer.alloc(1_000_000, 'x')
    await Promise.all(Array.from({ length: 20 }, (_, index) => client.put(bytes(`wide/${index}`), value)))
    const range = { key: bytes('wide/'), rangeEnd: prefixEnd(bytes('wide/')) }
    const read = await Promise.all([client.range(range), client.range(range)])
    expect(read.flatMap(({ kvs }) => kvs).filter((kv) => kv.value.length === value.length)).toHaveLength(40)
    await client.delete(range.key, range)
  })

  test('100,000 keys are listed as they were at one revision, and then followed', async () => {
    const batches = Array.from({ length: 20 }, (_, batch) =>
      Array.from({ length: 5000 }, (_, index) => ({
        put: { key: bytes(`many/${batch * 5000 + index}`), value: bytes(`{"host":"10.0.0.1","port":${index}}`) },
      })),
    )
    await Promise.all(batches.map((operations) => client.txn([], operations)))
    const recorder = new Recorder(cluster.options, { prefix: 'many/' })
    await until('100,000 keys', () => recorder.content.size === 100_000)
    await client.put(bytes('many/new'), bytes('1'))
    await recorder.has('many/new', '1')
    expect(recorder.recorded.map(({ info, changes }) => [info.listed, changes.length, info.count])).toEqual([
      [true, 100_000, 100_000],
      [false, 1, 100_001],
    ])
    await recorder.stop()
  })

  test('an aborted call rejects with the reason of the signal', async () => {
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(client.range({ key: bytes('k') }, aborted)).rejects.toThrow('enough')
    const soon = new AbortController()
    const call = client.range({ key: bytes('many/'), rangeEnd: prefixEnd(bytes('many/')) }, soon.signal)
    soon.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
  })

  test('an answer that arrived in time counts, even if this thread was too busy to look', async () => {
    const hasty = new EtcdClient({ ...cluster.options, requestTimeoutMs: 1000 })
    await until('a connection', async () =>
      hasty.range({ key: bytes('k') }).then(
        () => true,
        () => false,
      ),
    )
    const call = hasty.range({ key: bytes('k') })
    await new Promise((resolve) => setImmediate(resolve))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000)
    expect((await call).kvs).toEqual([])
    hasty.close()
  })

  test('members, status, snapshot and alarms are told', async () => {
    const [member] = await client.memberList()
    expect(member).toMatchObject({ name: 'member0', clientUrls: cluster.endpoints, isLearner: false })
    const status = await client.status(cluster.endpoints[0])
    expect(status).toMatchObject({ memberId: member.id, leader: member.id, isLearner: false, errors: [] })
    expect(status.version).toMatch(/^3\./u)
    await client.defragment(cluster.endpoints[0])
    let length = 0
    for await (const piece of client.snapshot()) length += piece.length
    expect(BigInt(length)).toBeGreaterThan(100_000n)
    expect(await client.alarmList()).toEqual([])
    await client.alarmDisarm({ memberId: member.id, kind: 'nospace' })
  })

  test('a member is added as learner, changed and removed', async () => {
    const added = await client.memberAdd(['http://127.0.0.1:9'], { isLearner: true })
    expect(added).toMatchObject({ peerUrls: ['http://127.0.0.1:9'], isLearner: true })
    await client.memberUpdate(added.id, ['http://127.0.0.1:10'])
    expect((await client.memberList()).map(({ peerUrls }) => peerUrls[0])).toContain('http://127.0.0.1:10')
    await expect(client.memberPromote(added.id)).rejects.toMatchObject({ code: 'EtcdFailed' })
    await client.memberRemove(added.id)
    expect(await client.memberList()).toHaveLength(1)
  })

  test('a user that is given where authentication is off does no harm', async () => {
    const named = new EtcdClient({ ...cluster.options, username: 'someone', password: 'x' })
    expect(await named.isAuthEnabled()).toBe(false)
    expect((await named.range({ key: bytes('k') })).count).toBe(0n)
    named.close()
  })

  test('a closed client says so', async () => {
    const closed = new EtcdClient(cluster.options)
    const call = closed.range({ key: bytes('k') })
    closed.close()
    await expect(call).rejects.toMatchObject({ code: 'EtcdFailed' })
    await expect(closed.range({ key: bytes('k') })).rejects.toThrow('the etcd client is closed')
  })
})

test('authentication is set up from nothing, and users reach only what they may', async () => {
  const cluster = await EtcdCluster.start({ members: 1, tls: 'client' })
  const anyone = new EtcdClient(cluster.options)
  const root = new EtcdClient({ ...cluster.options, username: 'root', password: 'root pass' })
  const dns = new EtcdClient({ ...cluster.options, username: 'dns', password: 'secret' })
  try {
    await anyone.userAdd('root', 'root pass')
    await anyone.userGrantRole('root', 'root')
    expect(await anyone.isAuthEnabled()).toBe(false)
    await anyone.authEnable()
    expect(await root.isAuthEnabled()).toBe(true)
    await root.userAdd('dns', 'secret')
    await root.userAdd('by-certificate')
    await root.roleAdd('reader')
    await root.roleGrantPermission('reader', { type: 'read', key: bytes('/z/'), rangeEnd: prefixEnd(bytes('/z/')) })
    for (const user of ['dns', 'by-certificate']) await root.userGrantRole(user, 'reader')
    expect(await root.userList()).toEqual(['by-certificate', 'dns', 'root'])
    expect(await root.roleList()).toEqual(['reader'])
    expect(await root.userRoles('dns')).toEqual(['reader'])
    await root.put(bytes('/z/a'), bytes('1'))

    expect(text((await dns.range({ key: bytes('/z/a') })).kvs[0].value)).toBe('1')
    await expect(dns.put(bytes('/z/a'), bytes('2'))).rejects.toMatchObject({ code: 'EtcdForbidden' })
    await expect(anyone.range({ key: bytes('/z/a') })).rejects.toMatchObject({ code: 'EtcdForbidden' })
    const certificate = await cluster.clientCertificate('by-certificate')
    const certified = new EtcdClient({ ...cluster.options, tls: { ...cluster.options.tls, ...certificate } })
    expect((await certified.range({ key: bytes('/z/a') })).count).toBe(1n)
    certified.close()

    await root.userChangePassword('dns', 'other')
    await root.userDelete('by-certificate')
    await root.authDisable()
    expect((await anyone.range({ key: bytes('/z/a') })).count).toBe(1n)
  } finally {
    for (const client of [anyone, root, dns]) client.close()
    await cluster.stop()
  }
})
