// Three members that are killed, stopped and restarted while clients write, read and watch; with TLS and password.

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { EtcdClient } from '../../src/etcd/client.ts'
import { HoldfastError } from '../../src/lib/errors.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { Recorder } from '../support/etcd-recorder.ts'
import { until } from '../support/until.ts'

const bytes = (value: string) => Buffer.from(value)
const text = (value: Uint8Array) => Buffer.from(value).toString()
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

let cluster: EtcdCluster
let client: EtcdClient
let recorder: Recorder

beforeAll(async () => {
  cluster = await EtcdCluster.start({ tls: 'server', auth: { rootPassword: 'pw' } })
  client = new EtcdClient({ ...cluster.options, requestTimeoutMs: 60_000 })
  recorder = new Recorder(cluster.options)
  await recorder.up()
})
afterEach(() => cluster.healthy())
afterAll(async () => {
  await recorder.stop()
  client.close()
  await cluster.stop()
})

test('killed one after the other: every acknowledged write is told exactly once, in order', async () => {
  const acknowledged: { readonly name: string; readonly revision: bigint }[] = []
  const errors: string[] = []
  const writing = new AbortController()
  const write = async (lane: number) => {
    for (let count = 0; !writing.signal.aborted; count++) {
      const name = `${lane}-${count}`
      try {
        const { revision } = await client.put(bytes(`/t/${name}`), bytes(name))
        acknowledged.push({ name, revision })
      } catch (error) {
        errors.push((error as { code: string }).code)
      }
    }
  }
  const lanes = Array.from({ length: 4 }, (_, lane) => write(lane))
  for (const member of [0, 1, 2]) {
    await cluster.kill(member)
    const before = acknowledged.length
    await until('writes while a member is down', () => acknowledged.length > before + 20)
    await cluster.restart(member)
    await cluster.healthy()
  }
  writing.abort()
  await Promise.all(lanes)
  await client.put(bytes('/t/last'), bytes('last'))
  await recorder.has('/t/last', 'last')

  const told = recorder.recorded.slice(1).map(({ info, changes }) => ({ name: changes[0][1], revision: info.revision }))
  expect(told.every(({ revision }, index) => index === 0 || revision > told[index - 1].revision)).toBe(true)
  const revisions = new Map(told.map(({ name, revision }) => [name, revision]))
  expect(revisions.size).toBe(told.length)
  expect(acknowledged.filter(({ name, revision }) => revisions.get(name) !== revision)).toEqual([])
  // A write whose result is lost with the member that took it is not repeated, but told to be uncertain.
  expect(errors.filter((code) => code !== 'EtcdTimeout' && code !== 'EtcdUnreachable')).toEqual([])
  expect(recorder.recorded.filter(({ info }) => info.listed)).toHaveLength(1)
  const { count } = await client.range({ key: bytes('/t/'), rangeEnd: bytes('/t0') })
  expect(recorder.content.size).toBe(Number(count))
})

test('all down and up again: calls say so meanwhile, and the mirror goes on afterwards', async () => {
  await Promise.all([0, 1, 2].map((member) => cluster.kill(member)))
  await expect(client.range({ key: bytes('/t/last') })).rejects.toMatchObject({ code: 'EtcdUnreachable' })
  await until('down', () => !recorder.isUp)
  await Promise.all([0, 1, 2].map((member) => cluster.restart(member)))
  await cluster.healthy()
  await client.put(bytes('/t/last'), bytes('after all'))
  await recorder.has('/t/last', 'after all')
  expect(recorder.recorded.filter(({ info }) => info.listed)).toHaveLength(1)
})

test('a minority that is left says that it has no leader, to calls and to watches', async () => {
  const alone = new Recorder({ ...cluster.options, endpoints: [cluster.endpoints[2]], requestTimeoutMs: 1000 })
  await alone.up()
  await Promise.all([0, 1].map((member) => cluster.kill(member)))
  const hasty = new EtcdClient({ ...cluster.options, requestTimeoutMs: 1000 })
  try {
    const message = await until('no leader', async () => {
      const told = await hasty.range({ key: bytes('/t/last') }).catch(String)
      return typeof told === 'string' && told.includes('no leader') && told
    })
    expect(message).toBe(
      `HoldfastError: Cannot read "/t/last": etcd at "${cluster.endpoints[2]}" has no leader; a majority of the members has to be up`,
    )
    await until('down', () => !alone.isUp)
    expect(alone.states[1]).toMatchObject({
      error: { code: 'EtcdUnreachable', message: expect.stringContaining('no leader') },
    })
  } finally {
    hasty.close()
    await Promise.all([0, 1].map((member) => cluster.restart(member)))
  }
  await alone.up()
  await alone.stop()
})

test('a member that hangs is left for another, by reads and by writes', async () => {
  const leader = await cluster.leader()
  const hanging = (leader + 1) % 3
  // The first endpoint is asked first.
  const random = vi.spyOn(Math, 'random').mockReturnValue(0)
  const endpoints = [hanging, leader, 3 - hanging - leader].map((member) => cluster.endpoints[member])
  const patience = { ...cluster.options, endpoints, requestTimeoutMs: 60_000 }
  const connected = new EtcdClient(patience)
  const unconnected = new EtcdClient(patience)
  random.mockRestore()
  try {
    await connected.put(bytes('/t/hang'), bytes('0'))
    // Long enough ago for the connection to be doubted.
    await wait(1100)
    cluster.pause(hanging)
    // Should it have become the leader meanwhile, the others find a new one first.
    await cluster.healthy()
    for (const [index, patient] of [connected, unconnected].entries()) {
      await patient.put(bytes('/t/hang'), bytes(`w${index}`))
      expect(text((await patient.range({ key: bytes('/t/hang') })).kvs[0].value)).toBe(`w${index}`)
    }
    await recorder.has('/t/hang', 'w1')
  } finally {
    cluster.resume(hanging)
    connected.close()
    unconnected.close()
  }
})

test('a member that hangs keeps nobody beyond the deadline', async () => {
  const [endpoint] = cluster.endpoints
  const lonely = new EtcdClient({ ...cluster.options, endpoints: [endpoint], requestTimeoutMs: 500 })
  const read = () => lonely.range({ key: bytes('/t/last') })
  /** The failure of a call to a member that stopped a moment ago: a second later the connection would be doubted first. */
  const hung = (call: () => Promise<unknown>) =>
    until('a call that hangs', async () => {
      cluster.resume(0)
      const isHeard = await read().then(
        () => true,
        () => false,
      )
      cluster.pause(0)
      if (!isHeard) return undefined
      const failure: unknown = await call().catch((error: unknown) => error)
      return failure instanceof HoldfastError && failure.code === 'EtcdTimeout' && failure
    })
  expect((await hung(read)).retryable).toBe(true)
  expect((await hung(() => lonely.put(bytes('/t/last'), bytes('x')))).message).toContain('it may be done or not')
  await wait(1000)
  await expect(read()).rejects.toMatchObject({ code: 'EtcdUnreachable' })
  cluster.resume(0)
  lonely.close()
})
