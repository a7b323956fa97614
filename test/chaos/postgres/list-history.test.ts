import { expect, test } from 'vitest'
import { type Append, ListHistory, type Read, type Stored } from './list-history.ts'

const A = '127.0.0.1'
const B = '127.0.0.2'

/** An append of each value to list 1, at the next place, acknowledged one after the other. */
function history(...values: readonly number[]): ListHistory {
  const made = new ListHistory()
  values.forEach((value, index) => add(made, { value, place: index + 1, beganAt: 10 * index, endedAt: 10 * index + 5 }))
  return made
}

function add(to: ListHistory, change: Partial<Append> & Pick<Append, 'value' | 'place'>): void {
  to.sent(change.value)
  to.acknowledged({ list: 1, node: A, timeline: 1, beganAt: 0, endedAt: 1, ...change })
}

const stored = (...values: readonly number[]): Stored[] =>
  values.map((value, index) => ({ list: 1, place: index + 1, value }))
const read = (change: Partial<Read>): Read => ({
  ...{ list: 1, node: A, beganAt: 100, endedAt: 101, length: 3, tail: [] },
  ...change,
})

test('a history in which all is right has nothing to report', () => {
  const made = history(7, 8, 9)
  made.read(
    read({
      tail: [
        [3, 9],
        [2, 8],
      ],
    }),
  )
  made.sent(10)
  made.sent(11)
  made.refused(11)
  expect(made.check(stored(7, 8, 9, 10))).toEqual({
    ...{ acknowledged: 3, unknown: 1, reads: 1, stale: 0 },
    ...{ lost: [], misplaced: [], doubled: [], phantoms: [], dirty: [], backward: [], splitBrain: [] },
  })
})

test('values that are lost, elsewhere, there twice, or from nowhere are found', () => {
  const made = history(7, 8, 9)
  made.sent(10)
  made.refused(10)
  const verdict = made.check([
    { list: 1, place: 1, value: 8 },
    { list: 1, place: 2, value: 10 },
    { list: 1, place: 3, value: 9 },
    { list: 2, place: 1, value: 9 },
    { list: 2, place: 2, value: 99 },
  ])
  expect(verdict.lost).toEqual([`value 7 at 1 of list 1, acknowledged by ${A}`])
  expect(verdict.misplaced).toEqual([`value 8 at 2 of list 1, acknowledged by ${A}`])
  expect(verdict.doubled).toEqual(['value 9'])
  expect(verdict.phantoms).toEqual(['value 10', 'value 99'])
})

test('a value that was read and is not stored was read before it was safe', () => {
  const made = history(7, 8)
  made.read(
    read({
      tail: [
        [3, 9],
        [2, 8],
      ],
    }),
  )
  expect(made.check(stored(7, 8)).dirty).toEqual([`value 9 at 3 of list 1, read from ${A}`])
})

test('a list never gets shorter for those who read from the primary', () => {
  const made = history(7, 8, 9)
  made.read(read({ length: 2 }))
  expect(made.check(stored(7, 8, 9)).backward).toEqual([`list 1 had 2 values at ${A}, and 3 before`])
})

test('what a read says counts for those that begin after it, and for no others', () => {
  const made = history(7)
  made.read(read({ length: 2, beganAt: 50, endedAt: 60 }))
  made.read(read({ length: 1, beganAt: 55, endedAt: 70 }))
  expect(made.check(stored(7, 8)).backward).toEqual([])
  made.read(read({ length: 1, beganAt: 65, endedAt: 80 }))
  expect(made.check(stored(7, 8)).backward).toHaveLength(1)
})

test('a short list at a primary that was replaced is stale', () => {
  const made = history(7, 8)
  add(made, { value: 9, place: 3, node: B, timeline: 2, beganAt: 50, endedAt: 60 })
  made.read(read({ length: 2 }))
  expect(made.check(stored(7, 8, 9))).toMatchObject({ stale: 1, backward: [] })
})

test('an acknowledgement of an older timeline after one of a newer timeline is a split brain', () => {
  const made = history(7)
  add(made, { value: 8, place: 2, node: B, timeline: 2, beganAt: 20, endedAt: 30 })
  add(made, { value: 9, place: 3, node: A, timeline: 1, beganAt: 25, endedAt: 40 })
  expect(made.check(stored(7, 8, 9)).splitBrain).toEqual([])
  add(made, { value: 10, place: 4, node: A, timeline: 1, beganAt: 31, endedAt: 40 })
  expect(made.check(stored(7, 8, 9, 10)).splitBrain).toHaveLength(1)
})

test('two members with one timeline are a split brain', () => {
  const made = history(7)
  add(made, { value: 8, place: 2, node: B, timeline: 1, beganAt: 20, endedAt: 30 })
  expect(made.check(stored(7, 8)).splitBrain).toHaveLength(1)
})

test('the longest time without an acknowledgement counts from the beginning to the end', () => {
  const made = history(7, 8, 9)
  expect(made.longestGap(0, 30)).toBe(10)
  expect(made.longestGap(0, 60)).toBe(35)
})
