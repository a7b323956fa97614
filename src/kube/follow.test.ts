import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../test/support/until.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { ListOptions, ObjectList, WatchEvent, WatchOptions } from './client.ts'
import { StatusFailure } from './failure.ts'
import { follow, type FollowInfo, type FollowState } from './follow.ts'
import type { KubeObject, ObjectChange, Resource, Selection } from './resource.ts'

const THINGS: Resource = { group: 'test', version: 'v2', plural: 'things', kind: 'Thing', namespaced: false }
const PAGE_SIZE = 3

/** An API server in memory: it lists in pages, and watches get what the test sends. */
class FakeApi {
  readonly objects = new Map<string, KubeObject>()
  version = 0
  /** What was asked, in order. */
  readonly asked: string[] = []
  /** Thrown by the next calls instead of an answer. */
  readonly failures: HoldfastError[] = []
  /** Given out with each list, beside the objects. */
  odd = 0
  #send: ((events: readonly WatchEvent[] | HoldfastError | 'end') => void) | undefined

  put(name: string, type: 'ADDED' | 'MODIFIED' = 'ADDED'): WatchEvent {
    const object: KubeObject = { metadata: { name, resourceVersion: String(++this.version) } }
    this.objects.set(name, object)
    return { type, object }
  }

  delete(name: string): WatchEvent {
    const object = this.objects.get(name)
    this.objects.delete(name)
    return { type: 'DELETED', object: object && { metadata: { name, resourceVersion: String(++this.version) } } }
  }

  get isWatched(): boolean {
    return this.#send !== undefined
  }

  /** To the watch there is: events, or how it ends. */
  send(what: readonly WatchEvent[] | HoldfastError | 'end'): void {
    this.#send?.(what)
  }

  async list({ resource }: Selection, options: ListOptions = {}): Promise<ObjectList> {
    const from = Number(options.continue ?? 0)
    this.asked.push(`list ${resource.version} limit ${options.limit} from ${from}`)
    const failure = this.failures.shift()
    if (failure !== undefined) throw failure
    const all = [...this.objects.values()]
    const end = from + (options.limit ?? all.length)
    return {
      items: all.slice(from, end),
      odd: from === 0 ? this.odd : 0,
      resourceVersion: String(this.version),
      continue: end < all.length ? String(end) : undefined,
    }
  }

  async *watch(
    _: Selection,
    { resourceVersion }: WatchOptions,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly WatchEvent[]> {
    this.asked.push(`watch ${resourceVersion}`)
    yield []
    for (;;) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly WatchEvent[] | HoldfastError | 'end'>()
      const onAbort = () => reject(signal?.reason as Error)
      signal?.addEventListener('abort', onAbort, { once: true })
      if (signal?.aborted === true) onAbort()
      this.#send = resolve
      try {
        const what = await promise
        if (what === 'end') return
        if (what instanceof HoldfastError) throw what
        yield what
      } finally {
        this.#send = undefined
        signal?.removeEventListener('abort', onAbort)
      }
    }
  }
}

let api: FakeApi
let told: { changes: readonly string[]; info: FollowInfo }[]
let states: FollowState[]
let odd: number[]
let ending: AbortController
let calls: EventTarget
let following: Promise<void>

beforeEach(() => {
  api = new FakeApi()
  told = []
  states = []
  odd = []
  ending = new AbortController()
  calls = new EventTarget()
})

afterEach(async () => {
  ending.abort()
  await following
})

function begin(options: { known?: ReadonlyMap<string, string>; resource?: Resource } = {}): void {
  const { known, resource = THINGS } = options
  following = follow({
    ...{ client: api, selection: { resource }, signal: ending.signal, pageSize: PAGE_SIZE, calls },
    ...(known !== undefined && { known }),
    onChanges: (changes, info) => told.push({ changes: changes.map(brief), info }),
    onState: (state) => states.push(state),
    onOdd: (count) => odd.push(count),
  })
}

function brief({ key, object }: ObjectChange): string {
  return object === undefined ? `-${key}` : key
}

/** To the watch, once there is one that listens. */
async function send(what: Parameters<FakeApi['send']>[0]): Promise<void> {
  await until('a watch', () => api.isWatched)
  api.send(what)
}

async function watched(): Promise<void> {
  await until('a watch', () => api.isWatched && states.at(-1)?.up === true)
}

const FAILURES = {
  gone: () =>
    new HoldfastError('KubeGone', 'Cannot watch things: too old', {
      ...{ retryable: true, cause: new StatusFailure(410, undefined, 'too old') },
    }),
  away: () => new HoldfastError('KubeUnreachable', 'Cannot list things: nobody answers', { retryable: true }),
  missing: () => new HoldfastError('KubeResourceMissing', 'Cannot list things: no such resource'),
} as const

describe('the first list', () => {
  test('comes in pages and is told in one piece', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) api.put(name)
    begin()
    await watched()
    expect(told).toMatchObject([
      {
        changes: ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
        info: { listed: true, rewound: false, count: 7, resourceVersion: '7' },
      },
    ])
    expect(api.asked).toEqual(['list v2 limit 3 from 0', 'list v2 limit 3 from 3', 'list v2 limit 3 from 6', 'watch 7'])
  })

  test('is compared with what is known from an earlier run', async () => {
    for (const name of ['a', 'b', 'c']) api.put(name)
    begin({
      known: new Map([
        ['a', '1'],
        ['b', '1'],
        ['gone', '1'],
      ]),
    })
    await watched()
    expect(told).toMatchObject([{ changes: ['b', 'c', '-gone'], info: { listed: true, count: 3 } }])
  })

  test('is begun again when its continuation is too old; nothing is told of the half', async () => {
    for (const name of ['a', 'b', 'c', 'd']) api.put(name)
    const original = api.list.bind(api)
    let isCut = false
    api.list = async (selection, options) => {
      if (options?.continue !== undefined && !isCut) {
        isCut = true
        throw FAILURES.gone()
      }
      return original(selection, options)
    }
    begin()
    await watched()
    expect(told).toMatchObject([{ changes: ['a', 'b', 'c', 'd'], info: { listed: true } }])
  })

  test('leaves out what is no object, and says how much that is', async () => {
    api.put('a')
    api.odd = 2
    begin()
    await watched()
    expect(told).toMatchObject([{ changes: ['a'] }])
    expect(odd).toEqual([2])
  })

  test('is of the newest version of the kind that there is', async () => {
    api.failures.push(FAILURES.missing())
    begin({ resource: { ...THINGS, olderVersions: ['v1'] } })
    await watched()
    expect(api.asked.slice(0, 2)).toEqual(['list v2 limit 3 from 0', 'list v1 limit 3 from 0'])
  })
})

describe('a watch', () => {
  beforeEach(async () => {
    for (const name of ['a', 'b']) api.put(name)
    begin()
    await watched()
    told = []
    api.asked.length = 0
  })

  test('tells what arrives together in one piece', async () => {
    await send([api.put('c'), api.put('a', 'MODIFIED'), api.delete('b')])
    await until('changes', () => told.length === 1)
    expect(told).toMatchObject([{ changes: ['c', 'a', '-b'], info: { listed: false, count: 2, resourceVersion: '5' } }])
  })

  test('goes on after a cut where it was, by bookmarks too, and what comes twice is told once', async () => {
    const added = api.put('c')
    await send([added])
    await until('the change', () => told.length === 1)
    api.version = 9
    await send([{ type: 'BOOKMARK', object: { metadata: { name: '', resourceVersion: '9' } } }])
    await send('end')
    await until('another watch', () => api.asked.includes('watch 9'))
    await watched()
    await send([added, { type: 'DELETED', object: { metadata: { name: 'b', resourceVersion: '2' } } }])
    await send([api.put('d')])
    await until('the next change', () => told.length === 2)
    expect(told.map(({ changes }) => changes)).toEqual([['c'], ['d']])
    // Whether history goes on is asked with the smallest list there is.
    expect(api.asked).toEqual(['list v2 limit 1 from 0', 'watch 9'])
  })

  test('that is too old is followed by a list, of which only the difference is told', async () => {
    api.put('c')
    api.delete('a')
    await send(FAILURES.gone())
    await until('the list', () => told.length === 1)
    expect(told).toMatchObject([{ changes: ['c', '-a'], info: { listed: true, rewound: false, count: 2 } }])
    await watched()
    expect(states.every(({ up }) => up)).toBe(true)
  })

  test('of a server that was restored is followed by a list, of which everything is told', async () => {
    api.version = 0
    api.objects.clear()
    api.put('b')
    await send('end')
    await until('the list', () => told.length === 1)
    expect(told).toMatchObject([{ changes: ['b', '-a'], info: { listed: true, rewound: true, count: 1 } }])
  })

  test('that cannot be had for a while is told once, and lists when it is back', async () => {
    api.failures.push(FAILURES.away(), FAILURES.away(), FAILURES.away())
    await send('end')
    await until('an error', () => states.at(-1)?.up === false)
    api.put('c')
    await watched()
    expect(states.map(({ up }) => up)).toEqual([true, false, true])
    expect(told).toMatchObject([{ changes: ['c'], info: { listed: true } }])
  })

  test('passes over an event that is about no object', async () => {
    await send([{ type: 'ADDED', object: undefined }, api.put('c')])
    await until('the change', () => told.length === 1)
    expect(told).toMatchObject([{ changes: ['c'] }])
    expect(odd).toEqual([0, 1])
  })

  test('is interrupted by who wants a list at once', async () => {
    const before = performance.now()
    calls.dispatchEvent(new Event('relist'))
    await until('the list', () => told.length === 1)
    expect(told).toMatchObject([{ changes: [], info: { listed: true } }])
    expect(told[0].info.asOf).toBeGreaterThanOrEqual(before)
  })

  test('ends with its signal', async () => {
    ending.abort()
    await following
    const asked = api.asked.length
    await sleep(0)
    expect(api.asked).toHaveLength(asked)
  })
})
