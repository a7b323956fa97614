// Leases of a real etcd: renewed, revoked, expired, and etcd away meanwhile. A second is the least that etcd counts.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { EtcdClient } from '../../src/etcd/client.ts'
import { Leases } from '../../src/names/sources/leases.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { until } from '../support/until.ts'

let cluster: EtcdCluster
let client: EtcdClient
beforeAll(async () => {
  cluster = await EtcdCluster.start({ members: 1 })
  client = new EtcdClient(cluster.options)
})
afterAll(async () => {
  client.close()
  await cluster.stop()
})

let leases: Leases
let moved: bigint[]
let problems: string[]
let end: AbortController
beforeEach(() => {
  moved = []
  problems = []
  end = new AbortController()
  leases = new Leases({
    client,
    signal: end.signal,
    onMoved: (lease) => moved.push(lease),
    onProblem: (message) => problems.push(message),
  })
})
afterEach(() => {
  end.abort()
  expect(problems).toEqual([])
})

/** Seconds that are left of a lease, as far as is known. */
function left(lease: bigint): number | undefined {
  const expiry = leases.expiryOf(lease)
  return expiry === undefined ? undefined : expiry - Math.floor(Date.now() / 1000)
}

async function grant(ttlSeconds: number): Promise<bigint> {
  return (await client.leaseGrant(ttlSeconds)).id
}

test('the end of a lease is known soon after it was first asked for, of many of them as of one', async () => {
  const granted = await Promise.all(Array.from({ length: 100 }, (_, i) => grant(100 + i)))
  for (const lease of granted) expect(left(lease)).toBeUndefined()
  await until('all leases', () => moved.length === granted.length)
  for (const [i, lease] of granted.entries()) {
    expect(left(lease)).toBeGreaterThan(90 + i)
    expect(left(lease)).toBeLessThanOrEqual(101 + i)
  }
})

test('a lease that is renewed ends later, and one that is not does not', async () => {
  const [renewed, other] = await Promise.all([grant(4), grant(4)])
  for (const lease of [renewed, other]) leases.expiryOf(lease)
  await until('both leases', () => moved.length === 2)
  const [first, unmoved] = [renewed, other].map((lease) => leases.expiryOf(lease) ?? 0)
  await until('a later end', async () => {
    await client.leaseKeepAlive(renewed)
    return (leases.expiryOf(renewed) ?? 0) > first
  })
  expect(Math.abs((leases.expiryOf(other) ?? 0) - unmoved)).toBeLessThanOrEqual(1)
})

test('a lease that is gone has nothing left', async () => {
  const lease = await grant(4)
  leases.expiryOf(lease)
  await until('the lease', () => moved.length === 1)
  await client.leaseRevoke(lease)
  await until('its end', () => (left(lease) ?? 1) <= 0)
})

test('while etcd is away the end stays what it was, and is asked for again when it is back', async () => {
  const [known, unknown] = await Promise.all([grant(6), grant(600)])
  leases.expiryOf(known)
  await until('the lease', () => moved.length === 1)
  const before = leases.expiryOf(known)
  await cluster.kill(0)
  expect(leases.expiryOf(unknown)).toBeUndefined()
  await until('some questions in vain', () => (left(known) ?? 0) < 3)
  expect(leases.expiryOf(known)).toBe(before)
  expect(leases.expiryOf(unknown)).toBeUndefined()
  await cluster.restart(0)
  await until('the other lease', () => moved.includes(unknown))
  expect(left(unknown)).toBeGreaterThan(500)
})

test('a lease that is forgotten is not asked for any more', async () => {
  const [forgotten, kept] = await Promise.all([grant(2), grant(2)])
  for (const lease of [forgotten, kept]) leases.expiryOf(lease)
  await until('both leases', () => moved.length === 2)
  leases.forget(forgotten)
  await client.leaseRevoke(forgotten)
  await client.leaseRevoke(kept)
  await until('the end of the other', () => moved.length === 3)
  expect(moved.at(-1)).toBe(kept)
})
