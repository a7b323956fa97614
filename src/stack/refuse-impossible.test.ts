import { expect, test } from 'vitest'
import { makePlan, type MachinePlan, type Plan } from './plan.ts'
import { refuseLoss } from './refuse-impossible.ts'

function machine(name: string, action: MachinePlan['action'], change: Partial<MachinePlan> = {}): MachinePlan {
  const why = {
    what: 'hardware',
    name: 'volume_id',
    change: 'change',
    why: 'another disk',
    effect: 'replace',
    diff: [],
  }
  const plan = { machine: name, kind: 'etcd', address: '10.0.0.1', action, effect: 'none', details: [why], ...change }
  return plan as MachinePlan
}

function plan(...machines: readonly MachinePlan[]): Plan {
  return makePlan({ stack: 'lab', file: '/stack.yaml', machines, restarts: [], credentials: [], remarks: [] })
}

test.each([
  ['the only machine', plan(machine('a', 'replace'))],
  ['one beside others that are still to be made', plan(machine('a', 'replace'), machine('b', 'create'))],
  ['one beside others of another kind', plan(machine('a', 'replace'), machine('b', 'none', { kind: 'dns' }))],
])('%s is not made anew', (_, given) => {
  expect(() => refuseLoss(given, () => true)).toThrow(
    expect.objectContaining({
      code: 'ReplaceLosesData',
      message: expect.stringContaining('Cannot make "a" anew: it is the only machine with the data of etcd'),
      hint: expect.stringMatching(
        /^what makes it necessary is "volume_id": another disk; .*holdfast down lab --purge/u,
      ),
    }),
  )
})

test.each([
  ['one of several', plan(machine('a', 'replace'), machine('b', 'none'))],
  ['all of several, in their turns', plan(machine('a', 'replace'), machine('b', 'replace'))],
  ['one with its data on a disk that stays', plan(machine('a', 'replace', { keepsData: true }))],
  ['a name server', plan(machine('a', 'replace', { kind: 'dns' }))],
])('%s is', (_, given) => {
  expect(() => refuseLoss(given, () => true)).not.toThrow()
})

test('one that nobody has put anything on is, too', () => {
  expect(() => refuseLoss(plan(machine('a', 'replace')), ({ machine: name }) => name !== 'a')).not.toThrow()
})

test('where all disks with data are gone, nothing begins in their place', () => {
  const lost = { hasLostData: true }
  const all = plan(machine('a', 'update', lost), machine('b', 'replace', lost), machine('c', 'create'))
  expect(() => refuseLoss(all, () => true)).toThrow(
    expect.objectContaining({ code: 'DisksLost', message: expect.stringContaining('are gone (a, b); expected') }),
  )
  expect(() => refuseLoss(plan(machine('a', 'update', lost), machine('b', 'none')), () => true)).not.toThrow()
  expect(() => refuseLoss(plan(machine('a', 'update', { ...lost, kind: 'dns' })), () => true)).not.toThrow()
  expect(() => refuseLoss(plan(machine('a', 'update', lost)), () => false)).not.toThrow()
})
