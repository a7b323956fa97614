import { expect, test } from 'vitest'
import type { Steps } from '../dns/steps.ts'
import { Batches } from './batches.ts'
import { WorkQueue } from './work-queue.ts'

test('batches are taken in in the order in which they came, also after one that fails', () => {
  const deferred: (() => void)[] = []
  const taken: string[] = []
  const batches = new Batches({
    work: new WorkQueue({ sliceMs: 0, now: () => 0, defer: (run) => deferred.push(run) }),
    lane: 'names',
    onFailure: (thrown) => taken.push(String(thrown)),
    onIdle: () => taken.push('idle'),
  })
  const batch = (name: string) =>
    function* (): Steps<void> {
      yield
      if (name === 'A') throw new Error(name)
      taken.push(name)
    }
  for (const name of ['A', 'B', 'C']) batches.add(batch(name))
  expect(batches.isBusy).toBe(true)
  for (let run = deferred.shift(); run !== undefined; run = deferred.shift()) run()
  expect(taken).toEqual(['Error: A', 'B', 'C', 'idle'])
  batches.add(batch('D'))
  for (let run = deferred.shift(); run !== undefined; run = deferred.shift()) run()
  expect(taken.slice(4)).toEqual(['D', 'idle'])
  expect(batches.isBusy).toBe(false)
})
