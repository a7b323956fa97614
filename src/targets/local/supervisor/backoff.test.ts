import { expect, test } from 'vitest'
import { Backoff } from './backoff.ts'

test('pauses grow up to a limit, each with a jitter', () => {
  const backoff = new Backoff()
  const pauses = Array.from({ length: 10 }, () => backoff.next(0))
  for (const [index, pause] of pauses.entries()) {
    const longest = Math.min(10_000, 100 * 2 ** index)
    expect(pause).toBeGreaterThanOrEqual(longest / 2)
    expect(pause).toBeLessThanOrEqual(longest)
  }
})

test('what has run well begins again with the shortest', () => {
  const backoff = new Backoff()
  for (let each = 0; each < 10; each++) backoff.next(0)
  expect(backoff.next(29_000)).toBeGreaterThan(1000)
  expect(backoff.next(30_000)).toBeLessThanOrEqual(100)
})
