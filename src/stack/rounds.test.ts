import { expect, test } from 'vitest'
import { inRounds } from './rounds.ts'

test('the last round ends the work', async () => {
  const answers = [false, false, true, true]
  await inRounds(4, 'lab', async () => answers.shift() ?? true)
  expect(answers).toEqual([true])
})

test('work that no round ends is an error, not a success', async () => {
  let count = 0
  const work = inRounds(4, 'lab', async () => {
    count++
    return false
  })
  await expect(work).rejects.toMatchObject({ code: 'NotSettled', message: expect.stringContaining('after 4 rounds') })
  expect(count).toBe(4)
})
