// Machines that are made anew, one at a time, while their clusters keep what they have. The target tells which ones: here it is made
// to, as on this host no machine has hardware of its own.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { EtcdClient } from '../../src/etcd/client.ts'
import { Operator } from '../../src/stack/operator.ts'
import type { ProgressEvent } from '../../src/stack/progress.ts'
import { MemberLab } from '../support/member-lab.ts'
import { until } from '../support/until.ts'

const MEMBERS = {
  etcd: ['etcd-1', 'etcd-2', 'etcd-3'],
  dns: ['dns-1'],
  postgres: ['postgres-1', 'postgres-2'],
}
const ALL = [...MEMBERS.etcd, ...MEMBERS.dns, ...MEMBERS.postgres]
const SLOW_MS = 900_000
const isRoot = process.getuid?.() === 0

const lab = new MemberLab('stack-replace', MEMBERS)
let etcd: EtcdClient

beforeAll(async () => {
  await lab.up()
  etcd = new EtcdClient(await lab.etcdOptions())
  await etcd.put(Buffer.from('/kept'), Buffer.from('etcd'))
  await lab.sql('create table kept as select 42 as answer')
}, SLOW_MS)
afterAll(async () => {
  etcd.close()
  await lab.close()
})

interface Run {
  readonly progress?: (event: ProgressEvent) => void
  readonly signal?: AbortSignal
}

function open(): Promise<Operator> {
  return Operator.open({
    ...{ file: `${lab.directory}/stack.yaml`, state: lab.state, env: {}, isRoot },
    stopSignal: () => new AbortController().signal,
  })
}

/** `up`, with machines whose hardware has become another one, until they are made anew. The names of those that were, in order. */
async function replace(names: readonly string[], { progress, signal }: Run = {}): Promise<string[]> {
  const operator = await open()
  const waiting = new Set(names)
  const { target } = operator
  const removed: string[] = []
  const remove = target.remove.bind(target)
  target.remove = async (name, options) => {
    await remove(name, options)
    if (waiting.delete(name)) removed.push(name)
  }
  target.compareHardware = async (machines) =>
    new Map(machines.filter(({ name }) => waiting.has(name)).map(({ name }) => [name, [CHANGE]]))
  await operator.up({
    ...{ progress: progress ?? (() => undefined), signal: signal ?? new AbortController().signal },
    ...{ timeoutMs: 60_000, adopt: false },
  })
  return removed
}
const CHANGE = { name: 'volume_id', from: 'a', to: 'b', takes: 'replace', why: 'another disk' } as const

function members() {
  return etcd.memberList(new AbortController().signal)
}

async function memberIds(): Promise<Map<string, bigint>> {
  const all = await members()
  expect(all.filter(({ isLearner }) => isLearner)).toEqual([])
  return new Map(all.map(({ name, id }) => [name, id]))
}

async function expectData(): Promise<void> {
  const { kvs } = await etcd.range({ key: Buffer.from('/kept') }, new AbortController().signal)
  expect(Buffer.from(kvs[0].value).toString()).toBe('etcd')
  expect(await lab.sql('select answer from kept')).toBe('42')
  expect((await lab.status()).problems).toEqual([])
}

test(
  'all of them are, one after the other, and the primary last of its cluster',
  async () => {
    const before = await memberIds()
    const primary = await lab.primary()
    const removed = await replace(ALL)
    expect(removed.toSorted()).toEqual(ALL.toSorted())
    expect(removed.findLast((name) => name.startsWith('postgres'))).toBe(primary)
    const after = await memberIds()
    for (const name of MEMBERS.etcd) expect(after.get(name)).not.toBe(before.get(name))
    await expectData()
  },
  SLOW_MS,
)

test(
  'a run that is cut short between leaving and joining is gone on with',
  async () => {
    const cut = new AbortController()
    const progress = ({ machine, message }: ProgressEvent) => {
      if (machine === 'etcd-1' && message.startsWith('removing')) cut.abort()
    }
    await expect(replace(MEMBERS.etcd, { progress, signal: cut.signal })).rejects.toThrow(/interrupted|aborted/u)
    await replace(MEMBERS.etcd)
    expect((await memberIds()).size).toBe(3)
    await expectData()
  },
  SLOW_MS,
)

test(
  'a learner that nobody waited for goes on to be a member; one that has lost its data meanwhile joins anew',
  async () => {
    for (const isLost of [false, true]) {
      const cut = new AbortController()
      const progress = ({ machine, message }: ProgressEvent) => {
        if (machine === 'etcd-1' && /catching up|first start/u.test(message)) cut.abort()
      }
      await expect(replace(['etcd-1'], { progress, signal: cut.signal })).rejects.toThrow(/interrupted|aborted/u)
      const isListed = async () => (await members()).some(({ name, isLearner }) => isLearner && name === 'etcd-1')
      if (isLost) {
        await until('a learner that has started', isListed, 30_000)
        await (await open()).target.remove('etcd-1', { keepData: false })
      }
      await lab.up()
      expect((await memberIds()).size).toBe(3)
      await expectData()
    }
  },
  SLOW_MS,
)

test(
  'those that were stopped are started first, as they have the data',
  async () => {
    await lab.done('down', lab.name, '--yes')
    await replace(ALL)
    await expectData()
  },
  SLOW_MS,
)
