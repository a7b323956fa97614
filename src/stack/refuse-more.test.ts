import { expect, test } from 'vitest'
import type { PlannedRestart } from '../clusters/postgres/parameters/order-restarts.ts'
import { type Detail, type MachinePlan, makePlan } from './plan.ts'
import { refuseMore } from './refuse-more.ts'

const CERTIFICATE: Detail = {
  ...{ what: 'certificate', name: '/etc/etcd/ca.pem', change: 'change', reason: 'replaced' },
  ...{ why: 'replaced', effect: 'restart', diff: [] },
}
const FILE: Detail = { ...CERTIFICATE, what: 'file', name: '/etc/etcd/etcd.env', reason: 'content' }

function refuse(change: Partial<MachinePlan>, restarts: readonly PlannedRestart[] = []): void {
  const machine = { machine: 'etcd-1', kind: 'etcd', address: '127.0.0.1', effect: 'none' } as const
  const machines: MachinePlan[] = [{ ...machine, action: 'update', details: [], ...change }]
  refuseMore(makePlan({ stack: 'lab', file: 'stack.yaml', machines, restarts, credentials: [], remarks: [] }))
}

test('a later round of a confirmed change has certificates and what they restart', () => {
  expect(() => refuse({ details: [CERTIFICATE] })).not.toThrow()
  expect(() => refuse({ action: 'none' })).not.toThrow()
})

test.each([
  [{ details: [CERTIFICATE, FILE] }, [], 'file /etc/etcd/etcd.env on etcd-1'],
  [{ action: 'replace', details: [CERTIFICATE] }, [], 'replace etcd-1'],
  [{ action: 'delete' }, [], 'delete etcd-1'],
  [{}, [{ machine: 'pg-1', parameters: [], how: 'restart' }], 'restart of PostgreSQL on pg-1'],
] as const)('anything else is refused: %j', (change, restarts, name) => {
  expect(() => refuse(change, restarts as readonly PlannedRestart[])).toThrow(
    expect.objectContaining({ code: 'RoundUnplanned', message: expect.stringContaining(`: ${name};`) }),
  )
})
