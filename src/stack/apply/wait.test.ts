import { expect, test } from 'vitest'
import { machine } from '../../../test/support/local-stack.ts'
import type { MachineState } from '../../targets/target.ts'
import { untilReady } from './wait.ts'
import type { Work } from './work.ts'

test('a cluster that is not ready in time is reported with the disk that is full, once', async () => {
  const disk = { path: '/var', freeBytes: 0, totalBytes: 2 ** 30 }
  const state: MachineState = { services: new Map(), disk }
  const members = ['a', 'b'].map((name) => ({ machine: name, isReady: false, problem: 'unknown' }))
  const work = {
    ...{ machines: ['a', 'b'].map((name) => ({ ...machine(name, []), kind: 'postgres' })), timeoutMs: 1 },
    target: { observe: async () => new Map(['a', 'b'].map((name) => [name, state])) },
    clients: { status: async () => ({ members, isReady: false, isWorking: false, problem: 'no leader' }) },
    ...{ progress: () => undefined, signal: new AbortController().signal },
  }
  await expect(untilReady(work as unknown as Work, 'postgres')).rejects.toMatchObject({
    code: 'NotReady',
    message: expect.stringMatching(
      /; no leader; a: unknown; b: unknown; the disk at \/var is full: 0 of 1024 MiB free$/u,
    ),
  })
})
