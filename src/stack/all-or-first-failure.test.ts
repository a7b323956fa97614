import { expect, test } from 'vitest'
import { allOrFirstFailure } from './all-or-first-failure.ts'

test('who fails is told when everybody else has come to an end', async () => {
  const ended: string[] = []
  const [slow, failing, slower] = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
  const told = allOrFirstFailure([slow.promise, failing.promise, slower.promise]).catch((error: unknown) => {
    ended.push(String(error))
  })
  const end = async (name: string, act: () => void) => {
    ended.push(name)
    act()
    await new Promise(setImmediate)
  }
  await end('failing', () => failing.reject(new Error('first')))
  await end('slow', () => slow.resolve())
  await end('slower', () => slower.reject(new Error('second')))
  await told
  expect(ended).toEqual(['failing', 'slow', 'slower', 'Error: first'])
})
