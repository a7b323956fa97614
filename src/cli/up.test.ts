import { describe, expect, test } from 'vitest'
import { HoldfastError } from '../lib/errors.ts'
import { makePlan } from '../stack/plan.ts'
import { PlanChangedError } from '../stack/plan-changed.ts'
import type { StackStatus } from '../stack/status.ts'
import { degradation, exitCodeFor, isBeforeChanges, refuseBadHost, settledStatus } from './up.ts'

const plan = makePlan({ stack: 'lab', file: 'stack.yaml', machines: [], restarts: [], credentials: [], remarks: [] })

test.each([
  ['another plan than the confirmed one', true, new PlanChangedError(plan)],
  ['a lock', true, new HoldfastError('StackLocked', '')],
  ['a parameter', true, new HoldfastError('ParameterInvalid', '')],
  ['a restart that the plan did not have', false, new HoldfastError('RestartUnplanned', '')],
  ['a step that was given its files', false, new HoldfastError('StepRefused', '')],
  ['anything else', false, new Error('no')],
])('%s ends "up" before it has changed anything: %s', (_, expected, error) => {
  expect(isBeforeChanges(error)).toBe(expected)
})

describe('a stack that is degraded', () => {
  const etcd = (state: 'ready' | 'degraded') => ({ kind: 'etcd' as const, state, problem: undefined })
  const degraded: StackStatus = {
    ...{ stack: 'lab', file: 'stack.yaml', directory: '/lab', state: 'degraded', isReady: false, stoppedAt: undefined },
    ...{ problems: ['the disk at / is nearly full: 900 of 99000 MiB free'], clusters: [etcd('ready')] },
    ...{ isSupervised: true, supervisorPid: 1, machines: [], names: [], examples: [] },
  }
  const { signal } = new AbortController()
  const looksAt = async (statuses: readonly StackStatus[]) => {
    let looks = 0
    const status = async () => statuses[Math.min(looks++, statuses.length - 1)]
    return { last: await settledStatus({ status }, signal), looks }
  }

  test('by its disk is not waited for: it works, and "up" ends with 0 and a warning', async () => {
    expect(await looksAt([degraded])).toEqual({ last: degraded, looks: 1 })
    expect(exitCodeFor(degraded)).toBe(0)
    expect(degradation(degraded)).toBe(
      'lab works, but is degraded: the disk at / is nearly full: 900 of 99000 MiB free',
    )
  })

  test('by a cluster or its supervisor is waited for', async () => {
    const blinking = { ...degraded, clusters: [etcd('degraded')] }
    const unsupervised = { ...degraded, isSupervised: false }
    expect(await looksAt([blinking, unsupervised, degraded])).toEqual({ last: degraded, looks: 3 })
  })

  test('is neither one that is ready nor one that does not work', () => {
    expect(degradation({ ...degraded, state: 'ready' })).toBeUndefined()
    expect(degradation({ ...degraded, state: 'down' })).toBeUndefined()
    expect([
      exitCodeFor({ state: 'ready' }),
      exitCodeFor({ state: 'down' }),
      exitCodeFor({ state: 'stopped' }),
    ]).toEqual([0, 1, 1])
  })
})

test('a host that cannot run the stack is looked at twice, and reported once', async () => {
  const lines: string[] = []
  let looks = 0
  const operator = {
    stack: { name: 'lab', file: 'stack.yaml' },
    refuseLocked: async () => undefined,
    checkHost: async () => {
      looks += 1
      return [
        { check: 'state', state: 'warning' as const, message: 'kept in memory' },
        { check: 'disk', state: 'problem' as const, message: 'full' },
      ]
    },
  }
  const stderr = { write: (text: string) => lines.push(text) > 0 }
  await expect(
    refuseBadHost(operator as never, { stderr } as never, new AbortController().signal),
  ).rejects.toMatchObject({ code: 'HostNotReady' })
  expect({ looks, lines }).toEqual({ looks: 2, lines: ['holdfast: kept in memory\n'] })
})
