import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

test('no more than so many work at the same time, in the order of coming, and a failure gives its turn away', async () => {
  const turns = new Turns(2)
  const begun: number[] = []
  let [working, most] = [0, 0]
  const work = async (index: number) => {
    begun.push(index)
    most = Math.max(most, ++working)
    await new Promise(setImmediate)
    working--
    if (index === 1) throw new Error('failed')
    return index
  }
  const ended = await Promise.allSettled([0, 1, 2, 3, 4].map((index) => turns.take(() => work(index))))
  expect(ended.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, true, true])
  expect({ begun, most }).toEqual({ begun: [0, 1, 2, 3, 4], most: 2 })
})
