import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Steps } from '../dns/steps.ts'
import { type Lane, WorkQueue } from './work-queue.ts'

/** Time passes only by work, and turns come only when asked for. */
let now: number
let deferred: (() => void)[]
let queue: WorkQueue
let done: string[]

beforeEach(() => {
  now = 0
  deferred = []
  done = []
  queue = new WorkQueue({ sliceMs: 4, now: () => now, defer: (run) => deferred.push(run) })
})

function* busy(milliseconds: number): Steps<void> {
  for (let i = 0; i < milliseconds; i++) {
    now++
    yield
  }
}

function add(name: string, milliseconds: number, lane: Lane = 'etcd'): () => void {
  return queue.add({
    ...{ lane, steps: busy(milliseconds), onDone: () => done.push(name) },
    onFailure: (thrown) => done.push(`${name}: ${String(thrown)}`),
  })
}

/** One turn of the event loop; the time it took. */
function turn(): number {
  const before = now
  for (const run of deferred.splice(0)) run()
  return now - before
}

function finishAll(): void {
  for (let turns = 0; deferred.length > 0; turns++) {
    expect(turns).toBeLessThan(10_000)
    turn()
  }
}

describe('work', () => {
  test('that is short is done at once', () => {
    add('a', 2)
    expect(done).toEqual(['a'])
  })

  test('that is long is done in turns, none of which is long', () => {
    add('a', 100)
    expect(done).toEqual([])
    while (deferred.length > 0) expect(turn()).toBeLessThanOrEqual(8)
    expect(done).toEqual(['a'])
  })

  test('that is small waits for no large one of its kind', () => {
    add('large', 1000)
    for (let i = 0; i < 20; i++) turn()
    add('small', 3)
    for (let i = 0; i < 3; i++) turn()
    expect(done).toEqual(['small'])
  })

  test('on names comes before any number of zones', () => {
    for (let i = 0; i < 1000; i++) add(`zone ${i}`, 3)
    done = []
    add('web', 3, 'names')
    turn()
    expect(done).toContain('web')
    expect(done.length).toBeLessThan(10)
  })

  test('that is urgent comes before everything else, however much of that there is', () => {
    for (const lane of ['names', 'files', 'etcd'] as const)
      for (let i = 0; i < 1000; i++) add(`${lane} ${i}`, i % 100 === 0 ? 500 : 3, lane)
    for (let i = 0; i < 100; i++) turn()
    done = []
    add('primary', 1, 'urgent')
    expect(done).toEqual(['primary'])
    add('many members', 6, 'urgent')
    add('replica', 3, 'urgent')
    for (let i = 0; i < 2; i++) expect(turn()).toBeLessThanOrEqual(12)
    expect(done.filter((name) => /^[a-z ]+$/.test(name))).toEqual(['primary', 'many members', 'replica'])
  })

  test('on names that many events add does not make their turn longer', () => {
    const before = now
    for (let i = 0; i < 100; i++) add(`name ${i}`, 3, 'names')
    expect(now - before).toBeLessThanOrEqual(8)
    finishAll()
    expect(done).toHaveLength(100)
  })

  test('of one kind does not wait for another', () => {
    add('etcd', 5000)
    add('files', 200, 'files')
    for (let i = 0; i < 150; i++) turn()
    expect(done).toEqual(['files'])
  })

  test('that is large is begun for a few at a time, which take turns', () => {
    const begun = new Set<number>()
    const steps = function* (number: number): Steps<void> {
      yield* busy(30)
      begun.add(number)
      yield* busy(500)
    }
    for (let i = 0; i < 10; i++)
      queue.add({ lane: 'etcd', steps: steps(i), onDone: () => done.push(String(i)), onFailure: () => {} })
    while (done.length === 0) turn()
    expect(begun.size).toBeLessThanOrEqual(4)
    finishAll()
    expect(done).toHaveLength(10)
  })

  test('that takes very long does not keep other large work from being done', () => {
    for (let i = 0; i < 3; i++) add(`endless ${i}`, Infinity)
    for (let i = 0; i < 5; i++) add(`large ${i}`, 200)
    for (let left = 60_000; left > 0; ) left -= turn()
    expect(done.toSorted()).toEqual([0, 1, 2, 3, 4].map((i) => `large ${i}`))
  })

  test('that takes very long is still not begun for all at a time', () => {
    const begun = new Set<number>()
    const steps = function* (number: number): Steps<void> {
      yield* busy(30)
      begun.add(number)
      yield* busy(Infinity)
    }
    for (let i = 0; i < 20; i++) queue.add({ lane: 'etcd', steps: steps(i), onDone: () => {}, onFailure: () => {} })
    for (let left = 200_000; left > 0; ) left -= turn()
    expect(begun.size).toBeLessThanOrEqual(9)
  })

  test('that is given up is not heard of again, and cleans up', () => {
    let isClean = false
    const steps = function* (): Steps<void> {
      try {
        yield* busy(100)
      } finally {
        isClean = true
      }
    }
    const giveUp = queue.add({ lane: 'etcd', steps: steps(), onDone: () => done.push('a'), onFailure: () => {} })
    giveUp()
    expect(isClean).toBe(true)
    finishAll()
    giveUp()
    expect(done).toEqual([])
  })

  test('that gives itself up stops after its step', () => {
    let giveUp = (): void => {}
    const steps = function* (): Steps<void> {
      yield* busy(10)
      giveUp()
      yield* busy(10)
    }
    giveUp = queue.add({ lane: 'etcd', steps: steps(), onDone: () => done.push('a'), onFailure: () => {} })
    finishAll()
    expect([now, done]).toEqual([11, []])
  })

  test('that fails is told, and the rest goes on', () => {
    const steps = function* (): Steps<void> {
      yield* busy(10)
      throw new Error('no')
    }
    queue.add({ lane: 'etcd', steps: steps(), onDone: () => {}, onFailure: (thrown) => done.push(String(thrown)) })
    add('b', 10)
    finishAll()
    expect(done).toEqual(['Error: no', 'b'])
  })

  test('is over for who waits until there is none', async () => {
    await queue.whenIdle()
    add('a', 50)
    const idle = queue.whenIdle().then(() => done.push('idle'))
    finishAll()
    await idle
    expect(done).toEqual(['a', 'idle'])
  })
})

test('whatever is added and given up, everything else is done once, and no turn takes long', () => {
  const lane = fc.constantFrom<Lane>('names', 'files', 'etcd')
  const event = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), lane, milliseconds: fc.integer({ min: 0, max: 60 }) }),
    fc.record({ kind: fc.constant('turn' as const) }),
    fc.record({ kind: fc.constant('giveUp' as const), which: fc.nat(20) }),
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      now = 0
      deferred = []
      done = []
      queue = new WorkQueue({ sliceMs: 4, now: () => now, defer: (run) => deferred.push(run) })
      const added: { name: string; giveUp: () => void }[] = []
      const givenUp = new Set<string>()
      for (const [i, each] of events.entries()) {
        if (each.kind === 'add') added.push({ name: String(i), giveUp: add(String(i), each.milliseconds, each.lane) })
        else if (each.kind === 'turn') expect(turn()).toBeLessThanOrEqual(8)
        else {
          const work = added[each.which]
          if (work === undefined || done.includes(work.name)) continue
          work.giveUp()
          givenUp.add(work.name)
        }
      }
      finishAll()
      expect(done.toSorted()).toEqual(
        added
          .map(({ name }) => name)
          .filter((name) => !givenUp.has(name))
          .toSorted(),
      )
    }),
  )
})
