// Whatever the order of changes, a tree that has followed them has the names of one that was built from the outcome.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { flushed, put, remove, treeOf } from './testing.ts'
import type { SkydnsTree, SkydnsTreeOptions } from './tree.ts'

const ZONES = ['test.', 'b.test.', 'arpa.']
const LABELS = ['a', 'b', 'B', 'a-b', 'dns', 'ns', 'apex', '*', 'any', 'in-addr']

const key = fc
  .tuple(fc.constantFrom('test', 'test/b', 'arpa', 'com'), fc.array(fc.constantFrom(...LABELS), { maxLength: 4 }))
  .map(([top, labels]) => `/skydns/${[top, ...labels].join('/')}`)

const value = fc.oneof(
  fc.constantFrom('{}', '{"host":"a..b"}', 'null'),
  fc
    .record(
      {
        host: fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1', 'a.test', 'B.test', 'x.a.test', 'far.example'),
        text: fc.constantFrom('', 'x', 'y'),
        port: fc.constantFrom(-1, 0, 80),
        priority: fc.constantFrom(0, 10, 20),
        weight: fc.nat(200),
        mail: fc.boolean(),
        ttl: fc.constantFrom(0, 60, 600),
        targetstrip: fc.nat(4),
        group: fc.constantFrom('', 'g', 'h'),
      },
      { requiredKeys: [] },
    )
    .map((fields) => JSON.stringify(fields)),
)

const expiresAt = fc.option(fc.constantFrom(1000, 2000), { nil: undefined })
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ key, value, expiresAt }) },
  { weight: 1, arbitrary: fc.record({ key, value: fc.constant(undefined), expiresAt }) },
)

interface Step {
  readonly key: string
  /** None deletes. */
  readonly value: string | undefined
  readonly expiresAt: number | undefined
}

/** Takes the steps with a flush after every few, and compares with a tree that has the outcome alone. */
function follow(
  steps: readonly Step[],
  every: number,
  before: Readonly<Record<string, object>>,
  options: Pick<SkydnsTreeOptions, 'mode' | 'zones'>,
): void {
  const tree = treeOf(before, options)
  const good = new Map<string, Step>()
  for (const [at, given] of Object.entries(before))
    good.set(at, { key: at, value: JSON.stringify(given), expiresAt: undefined })
  const names = flushed(tree)
  const broken = new Set<string>()
  for (const [i, change] of steps.entries()) {
    broken.delete(change.key)
    if (change.value === undefined) {
      remove(tree, change.key)
      good.delete(change.key)
    } else if (put(tree, change.key, change.value, change.expiresAt) === undefined) good.set(change.key, change)
    else broken.add(change.key)
    if (i % every === 0) Object.assign(names, flushed(tree))
  }
  Object.assign(names, flushed(tree))
  const fresh = treeOf({}, options)
  for (const { key: at, value: given, expiresAt: end } of good.values()) put(fresh, at, given ?? '', end)
  expect(present(names)).toEqual(present(flushed(fresh)))
  expect(tree.size).toBe(fresh.size)
  const conflicts = (from: SkydnsTree) => new Map([...from.problems()].filter(([at]) => !broken.has(at)))
  expect(conflicts(tree)).toEqual(conflicts(fresh))
}

function present(names: Readonly<Record<string, readonly string[]>>) {
  return Object.fromEntries(Object.entries(names).filter(([, records]) => records.length > 0))
}

it.each(['compatible', 'exact'] as const)(
  'in %s mode changes lead to the same names as a start from nothing',
  (mode) => {
    const run = (steps: readonly Step[], every: number) => follow(steps, every, {}, { mode, zones: ZONES })
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), run), { numRuns: 100 })
  },
)

it('so they do around the last key that a name answers with', () => {
  const many = Object.fromEntries(
    Array.from({ length: 1100 }, (_, i) => [`/skydns/test/x/${String(i * 10)}`, { host: `10.0.${i >> 8}.${i & 255}` }]),
  )
  const nearby = fc.record({
    key: fc.nat(11_000).map((i) => `/skydns/test/x/${i}`),
    value: fc.option(fc.constantFrom('{"host":"192.0.2.1"}', '{"text":"x"}'), { nil: undefined }),
    expiresAt: fc.constant(undefined),
  })
  const run = (steps: readonly Step[]) => follow(steps, 3, many, { mode: 'compatible', zones: ZONES })
  fc.assert(fc.property(fc.array(nearby, { minLength: 20, maxLength: 200 }), run), { numRuns: 10 })
})
