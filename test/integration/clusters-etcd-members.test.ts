// Members of an etcd cluster come and go while somebody writes, and every step that was interrupted is taken up again.

import { existsSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { joinMember, promoteMember, readMembership, removeMember } from '../../src/clusters/etcd/cluster.ts'
import { startedMachine } from '../../src/clusters/etcd/machines.ts'
import { LOG, PATHS } from '../../src/clusters/etcd/settings.ts'
import { etcdStatus } from '../../src/clusters/etcd/status.ts'
import type { EtcdClient } from '../../src/etcd/client.ts'
import { HoldfastError } from '../../src/lib/errors.ts'
import { EtcdMachines, etcdSpec, etcdUser } from '../support/etcd-machines.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { until } from '../support/until.ts'

const NETWORK = loopbackNetwork()

const addresses = [1, 2, 3, 4, 5].map((index) => `${NETWORK}.4.${index}`)
const all = etcdSpec(addresses, { users: [etcdUser('writer', { access: 'readwrite', prefix: '/' })] })
const [first, second, third, fourth, fifth] = all.members
const signal = new AbortController().signal
const names = (members: readonly { readonly name: string }[]) => members.map(({ name }) => name)

/** Writes one key after the other; what is not acknowledged for certain is written again. */
class Writer {
  readonly acknowledged: string[] = []
  readonly errors: unknown[] = []
  readonly #client: EtcdClient
  readonly #running: Promise<void>
  #isStopping = false

  constructor(client: EtcdClient) {
    this.#client = client
    this.#running = this.#run()
  }

  /** Goes on writing from here. */
  async goesOn(): Promise<void> {
    const before = this.acknowledged.length
    await until('further writes', () => this.acknowledged.length > before + 5)
  }

  stop(): Promise<void> {
    this.#isStopping = true
    return this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const key = `/written/${this.acknowledged.length}`
      try {
        await this.#client.put(Buffer.from(key), Buffer.from('x'))
        this.acknowledged.push(key)
      } catch (error) {
        if (!(error instanceof HoldfastError && error.retryable)) this.errors.push(error)
      }
      await sleep(10)
    }
  }
}

describe('while somebody writes', () => {
  const cluster = new EtcdMachines({ ...all, members: [first, second, third] })
  let root: EtcdClient
  let writer: Writer

  beforeAll(async () => {
    await cluster.form()
    root = cluster.client('root', { endpoints: addresses })
    writer = new Writer(cluster.client('writer', { endpoints: addresses }))
  })
  afterAll(async () => {
    await writer.stop()
    await cluster.end()
  })

  test('nothing is to be done for a cluster as it should be', async () => {
    const { running, joining, leaving } = await readMembership(cluster.spec, root, signal)
    expect(running.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual(
      [first, second, third].map(({ name, address }) => ({ name, address })),
    )
    expect([...joining, ...leaving]).toEqual([])
  })

  test('a member that was added and never started is started by doing it again', async () => {
    cluster.spec = { ...all, members: [first, second, third, fourth] }
    await joinMember(root, fourth, signal)
    // Here the first attempt was interrupted.
    const membership = await readMembership(cluster.spec, root, signal)
    expect(names(membership.running).toSorted()).toEqual(['etcd-1', 'etcd-2', 'etcd-3'])
    expect(names(membership.joining)).toEqual(['etcd-4'])
    await joinMember(root, fourth, signal)
    expect(await root.memberList()).toHaveLength(4)
    cluster.write(['etcd-4'], membership.running)
    cluster.start('etcd-4')
    await writer.goesOn()
  })

  test('a learner is no member with a vote yet, and becomes one by doing it again', async () => {
    const status = await until('learner', async () => {
      const seen = await etcdStatus(cluster.spec, root, signal)
      return seen.members[3].role === 'learner' && seen
    })
    expect(status).toMatchObject({ isReady: false, problem: '3 of 4 members' })
    expect(status.members[3].problem).toBe('not promoted yet')
    // Here the second attempt was interrupted.
    const { running, joining } = await readMembership(cluster.spec, root, signal)
    expect(names(joining)).toEqual(['etcd-4'])
    expect(names(running)).toContain('etcd-4')
    await joinMember(root, fourth, signal)
    const waited: string[] = []
    await promoteMember(root, fourth, signal, (message) => waited.push(message))
    expect(waited[0]).toBe('catching up with the leader')
    await promoteMember(root, fourth, signal, () => {})
    expect((await readMembership(cluster.spec, root, signal)).joining).toEqual([])
    await until('ready', async () => (await etcdStatus(cluster.spec, root, signal)).isReady)
    await writer.goesOn()
  })

  test('the leader leaves after it has handed over, and its place is taken by another', async () => {
    const { members } = await etcdStatus(cluster.spec, root, signal)
    const leader = cluster.spec.members[members.findIndex(({ role }) => role === 'leader')]
    const rest = cluster.spec.members.filter((member) => member !== leader)
    cluster.spec = { ...cluster.spec, members: rest }
    expect(names((await readMembership(cluster.spec, root, signal)).leaving)).toEqual([leader.name])
    await removeMember(root, leader, signal)
    await removeMember(root, leader, signal)
    expect((await root.memberList()).map(({ name }) => name).toSorted()).toEqual(names(rest).toSorted())
    await until('end of the process', () => !cluster.at(leader.name).isRunning('etcd'))
    await writer.goesOn()
    const status = await until('ready', async () => {
      const seen = await etcdStatus(cluster.spec, root, signal)
      return seen.isReady && seen
    })
    expect(status.members.some(({ role }) => role === 'leader')).toBe(true)
    expect(cluster.at(leader.name).log('etcd')).toContain('leadership transfer finished')
  })

  test('a place that was kept for a member and given up goes to the next one', async () => {
    await joinMember(root, { name: 'given-up', address: `${NETWORK}.4.9` }, signal)
    cluster.spec = { ...cluster.spec, members: [...cluster.spec.members, fifth] }
    expect((await readMembership(cluster.spec, root, signal)).leaving).toEqual([
      { name: '', address: `${NETWORK}.4.9` },
    ])
    await joinMember(root, fifth, signal)
    const { running, leaving } = await readMembership(cluster.spec, root, signal)
    expect(leaving).toEqual([])
    cluster.write(['etcd-5'], running)
    cluster.start('etcd-5')
    await promoteMember(root, fifth, signal, () => {})
    await until('ready', async () => (await etcdStatus(cluster.spec, root, signal)).isReady)
    await writer.goesOn()
  })

  test('nobody leaves when the others would not have quorum', async () => {
    const [one, , ...others] = cluster.spec.members
    for (const { name } of others) await cluster.at(name).end('etcd')
    await expect(removeMember(root, one, signal)).rejects.toMatchObject({
      code: 'EtcdQuorum',
      message: expect.stringMatching(/: [01] of the 3 others are healthy; at least 2 must be/u) as string,
    })
    expect(await root.memberList()).toHaveLength(4)
    for (const { name } of others) cluster.start(name)
    await until('ready', async () => (await etcdStatus(cluster.spec, root, signal)).isReady)
  })

  test('no write that was acknowledged is lost, and none was refused', async () => {
    await writer.stop()
    expect(writer.errors).toEqual([])
    const { kvs } = await root.range({
      key: Buffer.from('/written/'),
      rangeEnd: Buffer.from('/written0'),
      keysOnly: true,
    })
    const found = new Set(kvs.map(({ key }) => Buffer.from(key).toString()))
    expect(writer.acknowledged.filter((key) => !found.has(key))).toEqual([])
  })
})

test('a member that has started does not start without its data, whether the others answer or not', async () => {
  const cluster = new EtcdMachines(etcdSpec([6, 7, 8].map((index) => `${NETWORK}.5.${index}`)))
  try {
    await cluster.form()
    const found = cluster.at('etcd-3')
    found.write(startedMachine(cluster.spec, found.machine))
    await found.end('etcd')
    cluster.start('etcd-3')
    await until('ready', async () => (await etcdStatus(cluster.spec, cluster.client('root'), signal)).isReady)
    for (const others of [[], ['etcd-1', 'etcd-2']]) {
      await found.end('etcd')
      for (const name of others) await cluster.at(name).end('etcd')
      rmSync(found.path(`${PATHS.data}/member`), { recursive: true })
      cluster.start('etcd-3')
      await until('end of the process', () => !found.isRunning('etcd'))
      expect(existsSync(found.path(LOG))).toBe(false)
    }
    expect(found.log('etcd')).toContain('could not retrieve cluster information from the given URLs')
  } finally {
    await cluster.end()
  }
})

test('a member that the cluster does not have is not promoted', async () => {
  const cluster = new EtcdMachines(etcdSpec([`${NETWORK}.5.1`]))
  try {
    await cluster.form()
    const root = cluster.client('root')
    await expect(promoteMember(root, fifth, signal, () => {})).rejects.toMatchObject({ code: 'EtcdMember' })
    await expect(removeMember(root, cluster.spec.members[0], signal)).rejects.toThrow('it is the only one')
  } finally {
    await cluster.end()
  }
})
