import { expect, test } from 'vitest'
import type { ZoneSource } from './offer.ts'
import { WorkQueue } from './work-queue.ts'
import { type JobOptions, ZoneJobs } from './zone-jobs.ts'

test('only a few texts wait, however fast they come and however many are refused', () => {
  const deferred: (() => void)[] = []
  let now = 0
  const work = new WorkQueue({ sliceMs: 1, now: () => now, defer: (run) => void deferred.push(run) })
  const jobs = new ZoneJobs(work, () => {})
  const source = {} as ZoneSource
  let waiting = 0
  const verdict = { isRefused: false }
  const text = (): JobOptions => {
    waiting++
    const ended = () => void waiting--
    return {
      ...{ source, keepsText: true, lane: 'etcd' },
      *steps() {
        verdict.isRefused = false
        while (!verdict.isRefused) {
          now += 2
          yield
        }
        return false
      },
      ...{ onDone: ended, onFailure: ended, onDropped: ended },
    }
  }
  jobs.begin(text())
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 8; i++) jobs.begin(text())
    verdict.isRefused = true
    for (let i = 0; i < 4; i++) deferred.shift()?.()
  }
  // The one that is read, 8 before it and 8 after it.
  expect(waiting).toBeLessThanOrEqual(17)
})
