import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { machine } from '../../../test/support/local-stack.ts'
import type { ProgressEvent } from '../progress.ts'
import { applyAll, type Work } from './work.ts'

test('one that fails is told at once, and the work ends when nobody works any more', async () => {
  const started: string[] = []
  const target = {
    write: async (each: { readonly name: string }) => {
      if (each.name === 'bad') throw new Error('no disk')
      await sleep(50)
    },
    start: async (each: { readonly name: string }) => void started.push(each.name),
  }
  const told: ProgressEvent[] = []
  const work = { target, plans: new Map(), existing: new Map(), progress: (event: ProgressEvent) => told.push(event) }
  const all = applyAll(work as unknown as Work, [machine('bad', []), machine('good', [])])
  await expect(all).rejects.toThrow('no disk')
  expect(started).toEqual(['good'])
  expect(told).toContainEqual({ machine: 'bad', state: 'failed', message: 'no disk' })
})
