import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WatchEvent } from './client.ts'
import { KnownObjects } from './known-objects.ts'
import type { KubeObject, ObjectChange, Resource } from './resource.ts'

const RESOURCE: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }
const object = (name: string, version: number): KubeObject => ({
  metadata: { name, namespace: 'n', resourceVersion: String(version) },
})
const known = (versions: Readonly<Record<string, string>> = {}) =>
  new KnownObjects(RESOURCE, (kept) => kept, new Map(Object.entries(versions)))

test('events that come twice, and stretches of them that come again, lead to the same objects', () => {
  const event = fc.record({ name: fc.constantFrom('a', 'b', 'c'), deleted: fc.boolean() })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), fc.array(fc.nat(29)), (happened, repeats) => {
      const events = happened.map(({ name, deleted }, index): WatchEvent => {
        return { type: deleted ? 'DELETED' : 'MODIFIED', object: object(name, index + 1) }
      })
      const again = repeats.map((index) => events[index]).filter((one) => one !== undefined)
      expect(replay([...events, ...again])).toEqual(replay(events))
    }),
  )
})

test('an object that was deleted and made again is there, also when its deletion is told once more', () => {
  const objects = known()
  const deletion: WatchEvent = { type: 'DELETED', object: object('a', 5) }
  expect(objects.apply({ type: 'ADDED', object: object('a', 4) })).toBeDefined()
  expect(objects.apply(deletion)).toMatchObject({ key: 'n/a', object: undefined })
  expect(objects.apply({ type: 'ADDED', object: object('a', 6) })).toBeDefined()
  expect(objects.apply(deletion)).toBeUndefined()
  expect(objects.count).toBe(1)
})

test('a list tells what differs: new, changed, gone', () => {
  const comparison = known({ 'n/same': '3', 'n/changed': '4', 'n/gone': '5' }).compare('20')
  comparison.take([object('same', 3), object('changed', 7)])
  comparison.take([object('new', 8)])
  expect(words(comparison.finish())).toEqual(['+n/changed', '+n/new', '-n/gone'])
})

test('versions that are lower than those known are another history, where equal ones are not the same', () => {
  const comparison = known({ 'n/same': '3', 'n/late': '10' }).compare('9')
  comparison.take([object('same', 3)])
  expect(comparison.rewound).toBe(true)
  expect(words(comparison.finish())).toEqual(['+n/same', '-n/late'])
})

test('a list that is not finished changes nothing', () => {
  const objects = known({ 'n/a': '3', 'n/b': '4' })
  objects.compare('20').take([object('c', 9)])
  expect(objects.count).toBe(2)
  const comparison = objects.compare('20')
  comparison.take([object('a', 3), object('b', 4)])
  expect(comparison.finish()).toEqual([])
})

test('a version that was passed with a bookmark is known, too', () => {
  const objects = known()
  objects.apply({ type: 'BOOKMARK', object: object('', 10) })
  expect(objects.version).toBe('10')
  expect(objects.apply({ type: 'MODIFIED', object: object('a', 9) })).toBeUndefined()
  expect(objects.compare('9').rewound).toBe(true)
  expect(objects.compare('10').rewound).toBe(false)
})

function replay(events: readonly WatchEvent[]): Map<string, string> {
  const objects = known()
  const now = new Map<string, string>()
  for (const event of events) {
    const change = objects.apply(event)
    if (change?.object !== undefined) now.set(change.key, change.object.metadata.resourceVersion ?? '')
    else if (change !== undefined) now.delete(change.key)
  }
  return now
}

function words(changes: readonly ObjectChange[]): string[] {
  return changes.map(({ key, object: now }) => (now === undefined ? '-' : '+') + key)
}
