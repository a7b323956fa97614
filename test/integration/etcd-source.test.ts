// What all sources in etcd have in common: the state on disk, clusters that are not the one that was known, and followers
// that fail.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EtcdSource, type SourceChange, type SourceState } from '../../src/names/sources/etcd-source.ts'
import { WorkQueue } from '../../src/names/work-queue.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { EtcdProxy } from '../support/etcd-proxy.ts'
import { until } from '../support/until.ts'

const PREFIX = '/names/'

let cluster: EtcdCluster
/** Another one, which is emptied before each test. */
let other: EtcdCluster
let proxy: EtcdProxy
let directory: string
let running: RunningSource | undefined
beforeAll(async () => {
  ;[cluster, other] = await Promise.all([1, 1].map((members) => EtcdCluster.start({ members })))
})
afterAll(() => Promise.all([cluster.stop(), other.stop()]))
beforeEach(async () => {
  await Promise.all([cluster, other].map((each) => each.etcdctl('del', '--prefix', '')))
  directory = mkdtempSync(join(tmpdir(), 'holdfast-source-'))
  proxy = await EtcdProxy.start(cluster.endpoints[0])
})
afterEach(async () => {
  stop()
  await proxy.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** A source whose follower keeps what it is told, but for values that begin with `bad`. */
class RunningSource {
  readonly content = new Map<string, string>()
  /** `key=value` and `key deleted`, one array for each flush. */
  readonly told: string[][] = [[]]
  readonly states: SourceState[] = []
  readonly problems: string[] = []
  readonly source: EtcdSource
  readonly #end = new AbortController()
  /** Keys that the follower cannot cope with. */
  readonly broken = new Set<string>()
  failsToFlush = false

  constructor() {
    this.source = new EtcdSource({
      ...{
        type: 'test',
        name: 'test',
        etcd: { endpoints: [proxy.endpoint] },
        prefix: PREFIX,
        stateDirectory: directory,
        damagedState: 'use',
      },
      signal: this.#end.signal,
      work: new WorkQueue(),
      lane: 'names',
      follower: {
        apply: (change) => this.#apply(change),
        flush: () => {
          this.told.push([])
          if (this.failsToFlush) throw new TypeError('no flush')
        },
        problems: () => [],
      },
      onState: (state) => this.states.push(state),
      onProblem: (message) => this.problems.push(message),
    })
    this.source.start()
  }

  get state(): SourceState {
    const state = this.states.at(-1)
    if (state === undefined) throw new Error('nothing was told')
    return state
  }

  #apply({ key, value }: SourceChange): boolean {
    const name = Buffer.from(key).toString().slice(PREFIX.length)
    if (this.broken.has(name)) throw new TypeError('no such thing')
    const text = value && Buffer.from(value).toString()
    this.told.at(-1)?.push(text === undefined ? `${name} deleted` : `${name}=${text}`)
    if (text?.startsWith('bad') === true) return false
    if (text === undefined) this.content.delete(name)
    else this.content.set(name, text)
    return true
  }

  up(): Promise<true> {
    return until('source that follows', () => this.state.up)
  }

  async has(name: string, value: string | undefined): Promise<void> {
    await until(`${name}=${value}`, () => this.content.get(name) === value)
  }

  stop(): void {
    this.#end.abort()
  }
}

function start(): RunningSource {
  stop()
  running = new RunningSource()
  return running
}

function stop(): void {
  running?.stop()
  running = undefined
}

async function put(name: string, value: string, where = cluster): Promise<void> {
  await where.etcdctl('put', PREFIX + name, value)
}

/** From now on the source meets another cluster at the same place. */
function meet(where: EtcdCluster): void {
  proxy.redirect(where.endpoints[0])
  proxy.cut()
}

describe('the state on disk', () => {
  test('is what a source starts from while etcd is away; then it takes the difference', async () => {
    await put('a', '1')
    await put('b', '1')
    const first = start()
    await first.up()
    await put('b', '2')
    await first.has('b', '2')
    stop()
    proxy.refusing = true
    await put('c', '1')
    await cluster.etcdctl('del', `${PREFIX}a`)
    const second = start()
    await second.source.settled
    expect(second.told.slice(0, -1)).toEqual([['a=1', 'b=2']])
    expect(second.state).toMatchObject({ up: false, keys: 2 })
    expect(second.state.startedFrom).toBeGreaterThan(0)
    proxy.refusing = false
    await second.up()
    expect(second.told.flat()).toEqual(['a=1', 'b=2', 'c=1', 'a deleted'])
    expect(second.state).toMatchObject({ up: true, keys: 2, error: undefined })
  })

  test('does not have values that were refused, but the last good one', async () => {
    await put('a', '1')
    await put('never', 'bad')
    const first = start()
    await first.up()
    await put('a', 'bad')
    await put('b', '1')
    await first.has('b', '1')
    proxy.refusing = true
    const second = start()
    await second.source.settled
    expect([...second.content]).toEqual([
      ['a', '1'],
      ['b', '1'],
    ])
    proxy.refusing = false
    await second.up()
    // They are looked at again, since nobody knows whether they would be refused now.
    expect(second.told.flat().slice(2).toSorted()).toEqual(['a=bad', 'never=bad'])
    expect([...second.content]).toEqual([
      ['a', '1'],
      ['b', '1'],
    ])
  })

  test('tells keys apart that another cluster has written at the same revision', async () => {
    await put('a', 'ours')
    const revision = await revisionOf(cluster)
    while ((await revisionOf(other)) < revision - 1) await put('a', 'filling', other)
    await put('a', 'theirs', other)
    expect(await revisionOf(other)).toBe(revision)
    await start().up()
    stop()
    proxy.redirect(other.endpoints[0])
    const second = start()
    await second.has('a', 'theirs')
    expect(second.told.flat()).toEqual(['a=ours', 'a=theirs'])
  })
})

describe('a cluster that was never seen before and has nothing under the prefix', () => {
  const DOUBT =
    'Cannot believe test: this is another etcd cluster than before, with nothing under "/names/"; the 2 keys known before stay in service until one is put there'

  test('takes no name away until something is put there, also across restarts', async () => {
    await put('a', '1')
    await put('b', '1')
    const first = start()
    await first.up()
    meet(other)
    await until('doubt', () => first.state.doubted)
    expect(first.problems).toEqual([DOUBT])
    expect(first.state).toMatchObject({ keys: 2, doubted: true })
    expect([...first.content.keys()]).toEqual(['a', 'b'])
    for (let i = 0; i < 2; i++) {
      const again = start()
      await until('doubt', () => again.state.doubted && again.state.up)
      expect(again.problems).toEqual([DOUBT])
      expect([...again.content.keys()]).toEqual(['a', 'b'])
    }
    const last = start()
    await last.up()
    await put('b', '2', other)
    await last.has('b', '2')
    expect([...last.content]).toEqual([['b', '2']])
    expect(last.told.at(-2)).toEqual(['a deleted', 'b=2'])
    await until('trust', () => !last.state.doubted && last.state.keys === 1)
    proxy.refusing = true
    const offline = start()
    await offline.source.settled
    expect([...offline.content]).toEqual([['b', '2']])
  })

  test('is forgotten when the one that was known is back, with what has become of it', async () => {
    await put('a', '1')
    await put('b', '1')
    const source = start()
    await source.up()
    meet(other)
    await until('doubt', () => source.state.doubted)
    await cluster.etcdctl('del', `${PREFIX}a`)
    await put('b', '2')
    meet(cluster)
    await source.has('b', '2')
    expect([...source.content]).toEqual([['b', '2']])
    meet(other)
    await until('doubt', () => source.state.doubted)
    await cluster.etcdctl('del', '--prefix', PREFIX)
    meet(cluster)
    await source.has('b', undefined)
    expect(source.state.doubted).toBe(false)
  })

  test('is as little believed when it goes by the same name: it was emptied', async () => {
    const own = await EtcdCluster.start({ members: 1 })
    try {
      await put('a', '1', own)
      await put('b', '1', own)
      proxy.redirect(own.endpoints[0])
      const source = start()
      await source.up()
      await own.kill(0)
      own.empty(0)
      await own.restart(0)
      await own.healthy()
      await until('doubt', () => source.state.doubted)
      expect(source.problems).toEqual([DOUBT])
      expect([...source.content.keys()]).toEqual(['a', 'b'])
      await put('c', '1', own)
      await source.has('c', '1')
      expect([...source.content.keys()]).toEqual(['c'])
    } finally {
      stop()
      await own.stop()
    }
  })

  test('is believed at once when nothing was known, and when it has something', async () => {
    const source = start()
    await source.up()
    meet(other)
    await put('a', '1', other)
    await source.has('a', '1')
    await put('b', '1')
    meet(cluster)
    await source.has('b', '1')
    expect([...source.content.keys()]).toEqual(['b'])
    expect(source.problems).toEqual([])
  })
})

describe('a follower that fails', () => {
  test('costs one line, and the key it failed with; the source goes on', async () => {
    await put('a', '1')
    const source = start()
    await source.up()
    source.broken.add('x').add('y')
    await put('x', '1')
    await put('y', '1')
    await put('b', '1')
    await source.has('b', '1')
    expect(source.problems).toEqual([
      'Cannot take in "/names/x" for test: no such thing; this is a defect, please report it',
    ])
    source.broken.clear()
    await put('x', '2')
    await source.has('x', '2')
    // What could not be taken in was not remembered either.
    proxy.refusing = true
    const again = start()
    await again.source.settled
    expect([...again.content.keys()].toSorted()).toEqual(['a', 'b', 'x'])
  })

  test('to publish costs one line, and the next change is published', async () => {
    const source = start()
    await source.up()
    source.failsToFlush = true
    await put('a', '1')
    await until('problem', () => source.problems.length > 0)
    expect(source.problems[0]).toMatch(
      /^Cannot publish revision \d+ of "\/names\/" for test: no flush; this is a defect/u,
    )
    source.failsToFlush = false
    await put('b', '1')
    await source.has('b', '1')
    expect(source.problems).toHaveLength(1)
    expect(source.state.up).toBe(true)
  })
})

test('how many keys there are and the revision are told while they change', async () => {
  const source = start()
  await source.up()
  for (const name of ['a', 'b', 'c']) await put(name, '1')
  await until('three keys', () => source.state.keys === 3 && source.state.revision !== '0')
  expect(Number(source.state.revision)).toBe(await revisionOf(cluster))
})

async function revisionOf(where: EtcdCluster): Promise<number> {
  const answer = await where.etcdctl('get', 'nothing', '-w', 'json')
  return (JSON.parse(answer) as { header: { revision: number } }).header.revision
}
