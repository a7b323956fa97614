import { expect, test } from 'vitest'
import { HARDWARE } from '../../test/support/machine-spec.ts'
import type { Machine } from '../machine/machine.ts'
import type { MachinePlan, Plan } from './plan.ts'
import { refuseLoss } from './refuse-impossible.ts'

function machine(name: string, dataVolumeId?: string): Machine {
  return {
    ...{ name, kind: 'etcd', address: '10.0.0.1', hardware: { ...HARDWARE, dataVolumeId } },
    ...{ packages: [], directories: [], files: [], services: [], ports: [] },
  }
}

function replacing(name: string): Plan {
  const why = {
    what: 'hardware',
    name: 'volume_id',
    change: 'change',
    why: 'another disk',
    effect: 'replace',
    diff: [],
  }
  const plan = {
    machine: name,
    kind: 'etcd',
    address: '10.0.0.1',
    action: 'replace',
    effect: 'replace',
    details: [why],
  }
  return { stack: 'lab', file: '/stack.yaml', machines: [plan as MachinePlan] }
}

test('the only machine with the data is not made anew', () => {
  expect(() => refuseLoss(replacing('a'), [machine('a')])).toThrow(
    expect.objectContaining({
      code: 'ReplaceLosesData',
      message: expect.stringContaining('Cannot make "a" anew: it is the only machine with the data of etcd'),
      hint: 'what makes it necessary is "volume_id": another disk',
    }),
  )
})

test('one of several, or one with its data on a disk of its own is', () => {
  expect(() => refuseLoss(replacing('a'), [machine('a'), machine('b')])).not.toThrow()
  expect(() => refuseLoss(replacing('a'), [machine('a', '/data.qcow2')])).not.toThrow()
})
