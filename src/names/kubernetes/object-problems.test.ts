import { expect, test } from 'vitest'
import { fewProblems } from './object-problems.ts'

test('of many problems of one object some are told, and how many more there are', () => {
  const problems = Array.from({ length: 36_000 }, (_, i) => `Cannot use host name ".${i}"`)
  const told = fewProblems('ingress/default/web', problems)
  expect(told).toHaveLength(11)
  expect(told.at(-1)).toBe('Cannot use 35990 more things of ingress/default/web: as above; they are left out')
  expect(fewProblems('ingress/default/web', problems.slice(0, 10))).toEqual(problems.slice(0, 10))
})
