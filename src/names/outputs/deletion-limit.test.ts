import { expect, test } from 'vitest'
import { limitDeletions } from './deletion-limit.ts'

const names = (count: number) => Array.from({ length: count }, (_, i) => `h${i}.example.org`)

/** How many go of so many names, of which some were watched. */
function going(count: number, watched: number, owned: number, most?: number) {
  const all = names(count)
  const isWatched = (name: string) => all.indexOf(name) < watched
  const { withheld, message } = limitDeletions(all, isWatched, most, () => owned)
  return { goes: count - withheld.length, message }
}

test('a few names go without question, even if they are all there are', () => {
  expect(going(20, 0, 20)).toEqual({ goes: 20 })
})

test('of many names, up to half go', () => {
  expect(going(50, 0, 100)).toEqual({ goes: 50 })
})

test('more than half go only as far as they were seen going', () => {
  expect(going(51, 0, 100).goes).toBe(0)
  expect(going(61, 10, 100).goes).toBe(10)
  expect(going(51, 0, 100).message).toMatch(/^Cannot delete 51 names in one run: there are 100, .*--max-deletions=51$/u)
})

test('all that were seen going go, however many', () => {
  expect(going(100, 100, 100)).toEqual({ goes: 100 })
})

test('a limit that is given holds for all of them, and lets nothing go when it is passed', () => {
  expect(going(3, 3, 100, 3)).toEqual({ goes: 3 })
  expect(going(4, 4, 100, 3).goes).toBe(0)
  expect(going(4, 4, 100, 3).message).toMatch(/^Cannot delete 4 names in one run: at most 3 may go; /u)
  expect(going(1, 1, 100, 0).goes).toBe(0)
})
