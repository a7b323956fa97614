import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { allOrFirstFailure } from './all-or-first-failure.ts'

test('who fails is told when everybody else has come to an end', async () => {
  const ended: string[] = []
  const work = async (name: string, ms: number, error?: Error) => {
    await sleep(ms)
    ended.push(name)
    if (error !== undefined) throw error
  }
  const works = [work('slow', 60), work('failing', 1, new Error('first')), work('slower', 90, new Error('second'))]
  await expect(allOrFirstFailure(works)).rejects.toThrow('first')
  expect(ended).toEqual(['failing', 'slow', 'slower'])
})
