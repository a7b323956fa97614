import { expect, test } from 'vitest'
import type { ObjectChange, Resource } from '../../kube/resource.ts'
import { DoubtedObjects } from './doubted-objects.ts'

const resource: Resource = { group: '', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true }
const gone = (key: string): ObjectChange => ({ resource, key, object: undefined })
const there = (key: string): ObjectChange => ({ resource, key, object: { metadata: { name: key } } })
const keys = (changes: readonly ObjectChange[]) =>
  changes.map(({ key, object }) => (object === undefined ? `-${key}` : `+${key}`))
const many = Array.from({ length: 10 }, (_, i) => `o${i}`)

test('deletions are believed as long as history goes on', () => {
  const { believed } = new DoubtedObjects().sift(many.map(gone), { rewound: false, count: 0 })
  expect(believed).toHaveLength(10)
})

test('after history went back, what is missing stays while it is the greater part, also when one comes back', () => {
  const doubted = new DoubtedObjects()
  expect(doubted.sift(many.map(gone), { rewound: true, count: 0 }).believed).toEqual([])
  expect(keys(doubted.sift([there('o0')], { rewound: false, count: 1 }).believed)).toEqual(['+o0'])
  expect(doubted.count).toBe(9)
})

test('once half of everything is there, the rest is gone', () => {
  const doubted = new DoubtedObjects()
  doubted.sift(many.map(gone), { rewound: true, count: 0 })
  const back = ['o0', 'o1', 'o2', 'o3', 'o4'].map(there)
  const { believed, released } = doubted.sift(back, { rewound: false, count: 5 })
  expect(released).toBe(true)
  expect(keys(believed)).toEqual(['-o5', '-o6', '-o7', '-o8', '-o9', '+o0', '+o1', '+o2', '+o3', '+o4'])
  expect(doubted.count).toBe(0)
})

test('a backup that is only a little older is believed', () => {
  const doubted = new DoubtedObjects()
  const { believed } = doubted.sift([gone('o0'), there('o1')], { rewound: true, count: 9 })
  expect(keys(believed)).toEqual(['-o0', '+o1'])
})
