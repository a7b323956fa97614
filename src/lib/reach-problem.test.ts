import { expect, test } from 'vitest'
import { reachProblem } from './reach-problem.ts'

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })

test('the reason is found in what caused the error, in words', () => {
  expect(reachProblem(refused)).toBe('connection refused')
  expect(reachProblem(new Error('fetch failed', { cause: refused }))).toBe('connection refused')
  expect(reachProblem(new AggregateError([refused, refused]))).toBe('connection refused')
  expect(reachProblem(AbortSignal.timeout(0).reason ?? new DOMException('', 'TimeoutError'))).toBe('no answer')
})

test('anything else is not about reaching it', () => {
  expect(reachProblem(new Error('it does not have the zone'))).toBeUndefined()
  expect(reachProblem('text')).toBeUndefined()
})
