// The mirror while connections are cut at the worst moments, history is compacted, and clusters are replaced.

import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EtcdClient, type RangeRequest, type RangeResult } from '../../src/etcd/client.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { EtcdProxy, holdsCreated } from '../support/etcd-proxy.ts'
import { Recorder } from '../support/etcd-recorder.ts'
import { until } from '../support/until.ts'

const bytes = (text: string) => Buffer.from(text)

describe('one member behind a proxy', () => {
  let cluster: EtcdCluster
  let writer: EtcdClient
  let proxy: EtcdProxy
  let recorder: Recorder

  beforeAll(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
    writer = new EtcdClient(cluster.options)
  })
  afterAll(async () => {
    writer.close()
    await cluster.stop()
  })
  beforeEach(async () => {
    await writer.delete(bytes('/t/'), { rangeEnd: bytes('/t0') })
    await writer.put(bytes('/t/first'), bytes('0'))
    proxy = await EtcdProxy.start(cluster.endpoints[0])
    recorder = new Recorder({ endpoints: [proxy.endpoint] })
    await recorder.up()
  })
  afterEach(async () => {
    await recorder.stop()
    await proxy.stop()
  })

  test('a connection cut just after a resumed watch is acknowledged costs no event', async () => {
    proxy.refusing = true
    proxy.cut()
    const written = await writeMany(300)
    let cuts = 0
    proxy.onAnswer = (answer) => {
      if (cuts === 3 || !holdsCreated(answer)) return undefined
      cuts++
      return 'cut'
    }
    proxy.refusing = false
    await recorder.has('/t/299', '299')
    const after = await writeMany(20, 300)
    await recorder.has('/t/319', '319')
    expect(cuts).toBe(3)
    expect(recorder.told).toEqual(['/t/first=0', ...written, ...after])
    expect(recorder.recorded.filter(({ info }) => info.listed)).toHaveLength(1)
  })

  test('connections cut again and again in the middle of the events cost none and double none', async () => {
    let passed = 0
    const cutting = setInterval(() => proxy.cut(), 100)
    proxy.onAnswer = (answer) => {
      passed += answer.length
      if (passed < 5000) return undefined
      passed = 0
      return 'cut'
    }
    const written = await writeMany(500)
    clearInterval(cutting)
    proxy.onAnswer = () => undefined
    await recorder.has('/t/499', '499')
    expect(proxy.connections).toBeGreaterThan(3)
    expect(recorder.told).toEqual(['/t/first=0', ...written])
  })

  test('while nobody can be reached the state is told once, and again when it is over', async () => {
    proxy.refusing = true
    proxy.cut()
    await until('down', () => !recorder.isUp)
    await writer.put(bytes('/t/first'), bytes('1'))
    await until('several attempts', () => proxy.refusals > 3)
    proxy.refusing = false
    await recorder.has('/t/first', '1')
    expect(recorder.states.map(({ up }) => up)).toEqual([true, false, true])
    expect(recorder.states[1]).toMatchObject({ error: { code: 'EtcdUnreachable' } })
  })

  test('after a compaction past the watch only the difference is reported, deletions included', async () => {
    await writer.put(bytes('/t/stays'), bytes('1'))
    await writer.put(bytes('/t/goes'), bytes('1'))
    await recorder.has('/t/goes', '1')
    const before = recorder.recorded.length
    proxy.refusing = true
    proxy.cut()
    await writer.delete(bytes('/t/goes'))
    await writer.put(bytes('/t/passing'), bytes('1'))
    await writer.delete(bytes('/t/passing'))
    await writer.put(bytes('/t/first'), bytes('1'))
    const { revision } = await writer.put(bytes('/t/new'), bytes('1'))
    await cluster.etcdctl('compaction', String(revision))
    proxy.refusing = false
    await recorder.has('/t/new', '1')
    await writer.put(bytes('/t/later'), bytes('1'))
    await recorder.has('/t/later', '1')
    expect(recorder.recorded.slice(before)).toMatchObject([
      {
        info: { listed: true, revision, count: 3 },
        changes: [
          ['/t/first', '1'],
          ['/t/new', '1'],
          ['/t/goes', undefined],
        ],
      },
      { info: { listed: false, revision: revision + 1n, count: 4 }, changes: [['/t/later', '1']] },
    ])
  })

  test('transactions too large for one answer stay whole', async () => {
    proxy.refusing = true
    proxy.cut()
    const large = 'x'.repeat(100_000)
    for (let round = 0; round < 5; round++) {
      const puts = Array.from({ length: 10 }, (_, index) => ({
        put: { key: bytes(`/t/${index}`), value: bytes(`${round}${large}`) },
      }))
      await writer.txn([], puts)
    }
    proxy.refusing = false
    await recorder.has('/t/9', `4${large}`)
    const rounds = recorder.recorded.slice(1).map(({ changes }) => changes.map(([, value]) => value?.[0]).join(''))
    expect(rounds).toEqual(['0000000000', '1111111111', '2222222222', '3333333333', '4444444444'])
  })

  test('what is known from an earlier run is not reported again', async () => {
    const { kvs, clusterId } = await writer.range({ key: bytes('/t/first') })
    const known = new Map([
      ['/t/first', kvs[0].modRevision],
      ['/t/gone', 1n],
    ])
    const again = new Recorder(cluster.options, { known, knownClusterId: clusterId })
    const elsewhere = new Recorder(cluster.options, { known, knownClusterId: clusterId + 1n })
    const future = new Recorder(cluster.options, { known: new Map([['/t/first', 1n << 40n]]) })
    await Promise.all([again.up(), elsewhere.up(), future.up()])
    expect(again.told).toEqual(['/t/gone deleted'])
    expect(elsewhere.told).toEqual(['/t/first=0', '/t/gone deleted'])
    expect(future.told).toEqual(['/t/first=0'])
    for (const each of [again, elsewhere, future]) await each.stop()
  })

  test('a revision compacted while its pages are read is listed again from the start', async () => {
    await writer.txn(
      [],
      Array.from({ length: 100 }, (_, index) => ({ put: { key: bytes(`/t/${index}`), value: bytes('1') } })),
    )
    let isFirst = true
    /** Compacts after the first page. */
    class Compacting extends EtcdClient {
      override async range(request: RangeRequest, signal?: AbortSignal): Promise<RangeResult> {
        const page = await super.range(request, signal)
        if (!isFirst) return page
        isFirst = false
        expect(page.more).toBe(true)
        await writer.delete(bytes('/t/0'))
        const { revision } = await writer.put(bytes('/t/99'), bytes('2'))
        await cluster.etcdctl('compaction', String(revision))
        return page
      }
    }
    const lister = new Recorder(cluster.options, { client: new Compacting(cluster.options) })
    await lister.up()
    expect(lister.recorded.map(({ info, changes }) => [info.listed, changes.length])).toEqual([[true, 100]])
    expect([lister.content.has('/t/0'), lister.content.get('/t/99')]).toEqual([false, '2'])
    await lister.stop()
  })

  test('a cluster in the place of another is listed anew, even where revisions are the same', async () => {
    const other = await EtcdCluster.start({ members: 1 })
    const there = new EtcdClient(other.options)
    try {
      await writer.put(bytes('/t/only-here'), bytes('1'))
      await recorder.has('/t/only-here', '1')
      const before = recorder.recorded.at(-1)
      await there.put(bytes('/t/first'), bytes('there'))
      proxy.redirect(other.endpoints[0])
      proxy.cut()
      await recorder.has('/t/first', 'there')
      expect(recorder.told.slice(-2)).toEqual(['/t/first=there', '/t/only-here deleted'])
      expect(recorder.recorded.at(-1)?.info.clusterId).not.toBe(before?.info.clusterId)
      await there.put(bytes('/t/more'), bytes('1'))
      await recorder.has('/t/more', '1')
    } finally {
      there.close()
      await other.stop()
    }
  })

  /** Returns what a mirror has to tell of it. */
  async function writeMany(count: number, first = 0): Promise<string[]> {
    const names = Array.from({ length: count }, (_, index) => String(first + index))
    for (const name of names) await writer.put(bytes(`/t/${name}`), bytes(name))
    return names.map((name) => `/t/${name}=${name}`)
  }
})

test('a cluster restored from an older backup is listed again, and what was written since the backup is gone', async () => {
  const cluster = await EtcdCluster.start({ members: 1 })
  const recorder = new Recorder(cluster.options)
  const writer = new EtcdClient(cluster.options)
  const data = join(cluster.directory, 'member0')
  const backup = join(cluster.directory, 'backup')
  const restart = async (prepare: () => void) => {
    await cluster.kill(0)
    prepare()
    await cluster.restart(0)
    await cluster.healthy()
  }
  try {
    await writer.put(bytes('/t/old'), bytes('1'))
    await restart(() => cpSync(data, backup, { recursive: true }))
    await writer.put(bytes('/t/new'), bytes('2'))
    await writer.put(bytes('/t/old'), bytes('2'))
    await recorder.has('/t/old', '2')
    await restart(() => {
      rmSync(data, { recursive: true })
      cpSync(backup, data, { recursive: true })
    })
    await recorder.has('/t/old', '1')
    expect(recorder.told.slice(-2)).toEqual(['/t/old=1', '/t/new deleted'])
    await writer.put(bytes('/t/after'), bytes('3'))
    await recorder.has('/t/after', '3')
  } finally {
    await recorder.stop()
    writer.close()
    await cluster.stop()
  }
})
