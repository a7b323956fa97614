import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { file, machine, service } from '../../../test/support/local-stack.ts'
import type { ProgressEvent } from '../progress.ts'
import type { ServiceFailure } from '../../targets/service-failure.ts'
import { applyAll, applyMachine, needsRestart, unfinishedSteps, type Work } from './work.ts'

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

const STEP = service('step', 'true', { once: true })

test.each([
  [78, 'Cannot do that', true],
  [1, 'exit code 78: Cannot do that', false],
])(
  'whether a step is refused is decided by its exit code (%i), not by its words',
  async (exitCode, detail, isRefused) => {
    const failure: ServiceFailure = { at: 0, kind: 'exited', exitCode, detail }
    const state = { state: 'waiting', pid: undefined, since: 0, restarts: 1, failure }
    const target = { observe: async () => new Map([['a', { services: new Map([['step', state]]) }]]) }
    const left = unfinishedSteps({ target } as unknown as Work, [machine('a', [STEP])])
    if (isRefused) await expect(left).rejects.toMatchObject({ code: 'StepRefused', message: 'Cannot do that' })
    else expect(await left).toEqual(['step on a (exit code 1: exit code 78: Cannot do that)'])
  },
)

test.each([
  ['started-otherwise', 'any words', []],
  ['content', 'started in another way', ['a/daemon']],
] as const)('a service is restarted once, by the reason %s of its plan', async (reason, why, expected) => {
  const restarted: string[] = []
  const target = {
    write: async () => {},
    start: async () => {},
    restart: async (name: string, what: string) => void restarted.push(`${name}/${what}`),
  }
  const detail = { change: 'change', effect: 'restart', diff: [] }
  const details = [
    { ...detail, what: 'file', name: '/x', reason: 'content', why: '' },
    { ...detail, what: 'service', name: 'daemon', reason, why },
  ]
  const work = {
    ...{ target, progress: () => {} },
    plans: new Map([['a', { action: 'update', details }]]),
    existing: new Map([['a', { pending: new Map() }]]),
  }
  await applyMachine(
    work as unknown as Work,
    machine('a', [service('daemon', 'true')], { files: [file('/x', '', { restart: 'daemon' })] }),
  )
  expect(restarted).toEqual(expected)
})

test.each([
  [{ what: 'file', effect: 'restart' }, true],
  [{ what: 'file', effect: 'restart', hostService: 'fluent-bit' }, false],
  [{ what: 'parameter', effect: 'restart' }, false],
  [{ what: 'file', effect: 'reload' }, false],
])('whether %j interrupts the cluster: %s', (detail, expected) => {
  const work = { plans: new Map([['a', { action: 'update', details: [detail] }]]) }
  expect(needsRestart(work as unknown as Work, machine('a', []))).toBe(expected)
})
