import { expect, it } from 'vitest'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { planChanges } from '../endpoints/plan.ts'
import { inValueRegistry } from './in-value.ts'
import { noopRegistry } from './noop.ts'

function a(dnsName: string, target: string, labels: Endpoint['labels'] = {}): Endpoint {
  return { dnsName, recordType: 'A', targets: [target], labels, providerSpecific: [] }
}

const settings = {
  ...({ policy: 'sync', managedRecordTypes: ['A'], excludeRecordTypes: [] } as const),
  domainFilter: () => true,
}

it('new values have the owner, and nothing else is published', () => {
  const registry = inValueRegistry({ ownerId: 'me' })
  const plan = planChanges({ ...settings, current: [], desired: [a('x.org', '192.0.2.1')], ownerId: registry.ownerId })
  expect(registry.mark(plan, []).create).toEqual([a('x.org', '192.0.2.1', { owner: 'me' })])
})

it('values of another owner, or of none, stay', () => {
  const registry = inValueRegistry({ ownerId: 'me' })
  const stored = [
    a('x.org', '192.0.2.1', { owner: 'other' }),
    a('y.org', '192.0.2.1'),
    a('z.org', '192.0.2.1', { owner: 'me' }),
  ]
  const current = registry.records(stored)
  const { delete: deleted } = registry.mark({ create: [], updateOld: [], updateNew: [], delete: current }, stored)
  expect(deleted).toEqual([stored[2]])
})

it('what a former owner has is taken over', () => {
  const registry = inValueRegistry({ ownerId: 'me', oldOwnerId: 'former' })
  const stored = [a('x.org', '192.0.2.1', { owner: 'former', prefix: 'key' })]
  const desired = [a('x.org', '192.0.2.1')]
  const plan = planChanges({ ...settings, current: registry.records(stored), desired, ownerId: registry.ownerId })
  const { updateOld, updateNew } = registry.mark(plan, stored)
  expect(updateOld[0].labels.prefix).toBe('key')
  expect(updateNew).toEqual([a('x.org', '192.0.2.1', { owner: 'me' })])
})

it('nobody’s values are not those of a former owner that is not given', () => {
  const stored = [a('x.org', '192.0.2.1', { owner: '' })]
  expect(inValueRegistry({ ownerId: 'me', oldOwnerId: '' }).records(stored)).toEqual(stored)
})

it.each(['', 'me,you', '"me"'])('owner "%s" is refused', (ownerId) => {
  expect(() => inValueRegistry({ ownerId })).toThrow(`Cannot use "${ownerId}" as owner: `)
})

it('without a registry everything is as it is stored and as it is planned', () => {
  const registry = noopRegistry()
  const stored = [a('x.org', '192.0.2.1')]
  const changes = { create: [a('y.org', '192.0.2.1')], updateOld: [], updateNew: [], delete: stored }
  expect(registry.records(stored)).toBe(stored)
  expect(registry.mark(changes, stored)).toEqual({ ...changes, conflicts: [] })
})
