import { describe, expect, test } from 'vitest'
import { HoldfastError } from '../lib/errors.ts'
import { makePlan } from '../stack/plan.ts'
import { PlanChangedError } from '../stack/plan-changed.ts'
import type { MachineStatus, StackStatus } from '../stack/status.ts'
import { exitCodeFor, isBeforeChanges, refuseBadHost, settledStatus, warnIfDegraded } from './up.ts'

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
    ...{ isSupervised: true, supervisorPid: 1, unreadHypervisors: [], machines: [], names: [], examples: [] },
  }
  const { signal } = new AbortController()
  const looksAt = async (statuses: readonly StackStatus[]) => {
    let looks = 0
    const status = async () => statuses[Math.min(looks++, statuses.length - 1)]
    return { last: await settledStatus({ status }, signal), looks }
  }

  const warnings = (status: StackStatus, json = false) => {
    const lines: string[] = []
    const stderr = { write: (text: string) => lines.push(text) > 0 } as never
    warnIfDegraded(status, { io: { stderr }, json })
    return lines
  }

  test('by its disk is not waited for: it works, and "up" ends with 0 and a warning', async () => {
    expect(await looksAt([degraded])).toEqual({ last: degraded, looks: 1 })
    expect(exitCodeFor(degraded)).toBe(0)
    expect(warnings(degraded)).toEqual([
      'holdfast: lab works, but is degraded: the disk at / is nearly full: 900 of 99000 MiB free\n',
    ])
  })

  test('by a cluster or its supervisor is waited for', async () => {
    const blinking = { ...degraded, clusters: [etcd('degraded')] }
    const unsupervised = { ...degraded, isSupervised: false }
    const unread = { ...degraded, unreadHypervisors: ['qemu:///system'] }
    expect(await looksAt([blinking, unsupervised, unread, degraded])).toEqual({ last: degraded, looks: 4 })
  })

  test('without a supervisor, or with a hypervisor that cannot be read, ends "up" with 1', () => {
    expect(exitCodeFor({ ...degraded, isSupervised: false })).toBe(1)
    expect(exitCodeFor({ ...degraded, unreadHypervisors: ['qemu:///system'] })).toBe(1)
  })

  test('is reported with the problems of its machines, too; and not as text next to JSON', () => {
    const machines = ['restart pending', 'the disk at / is nearly full', undefined].map(
      (problem, index) => ({ machine: `etcd-${index + 1}`, problem }) as MachineStatus,
    )
    const both = { ...degraded, problems: ['the disk at / is nearly full'], machines }
    expect(warnings(both)).toEqual([
      'holdfast: lab works, but is degraded: the disk at / is nearly full; etcd-1: restart pending\n',
    ])
    expect(warnings(both, true)).toEqual([])
  })

  test('is neither one that is ready nor one that does not work', () => {
    const states = (['ready', 'down', 'stopped'] as const).map((state) => ({ ...degraded, state }))
    expect(states.flatMap((status) => warnings(status))).toEqual([])
    expect(states.map(exitCodeFor)).toEqual([0, 1, 1])
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
