import { expect, test } from 'vitest'
import { HandoverLimit } from './handover-limit.ts'

test('what waits is counted over all threads; what comes beyond the limit is dropped until something is answered', () => {
  const main = new HandoverLimit()
  const worker = new HandoverLimit(main.buffer)
  worker.add(9999)
  expect(main.admits()).toBe(true)
  main.add(1)
  expect([worker.admits(), main.admits()]).toEqual([false, false])
  expect([main.waiting, main.droppedTotal]).toEqual([10_000, 2])
  main.answered()
  expect(worker.admits()).toBe(true)
})
