// What goes beyond the cases of ExternalDNS, which are in test/vectors.

import { describe, expect, it } from 'vitest'
import type { Endpoint } from './endpoint.ts'
import { type PlanInput, planChanges } from './plan.ts'

const NO_CHANGES = { create: [], updateOld: [], updateNew: [], delete: [] }

function a(dnsName: string, target: string, more: Partial<Endpoint> = {}): Endpoint {
  return { dnsName, recordType: 'A', targets: [target], labels: {}, providerSpecific: [], ...more }
}

const of = (resource: string, owner?: string) => ({ labels: { resource, ...(owner !== undefined && { owner }) } })

function plan(input: Partial<PlanInput>) {
  return planChanges({
    ...{ current: [], desired: [], policy: 'sync', managedRecordTypes: ['A', 'AAAA', 'CNAME', 'TXT'] },
    ...{ excludeRecordTypes: [], ownerId: 'me', domainFilter: () => true },
    ...input,
  })
}

const messages = (input: Partial<PlanInput>) => plan(input).conflicts.map(({ message }) => message)

describe('a plan', () => {
  it('changes the record where it is stored, however the name is spelled', () => {
    const current = a('Web.example.org', '192.0.2.1', of('ingress/default/web', 'me'))
    const { updateOld, updateNew, create } = plan({ current: [current], desired: [a('web.example.org', '192.0.2.2')] })
    expect(create).toEqual([])
    expect(updateOld).toEqual([current])
    expect(updateNew).toEqual([a('Web.example.org', '192.0.2.2', { labels: { owner: 'me' } })])
  })

  it('takes a TTL away that nobody wants any more', () => {
    const current = a('web.example.org', '192.0.2.1', { labels: { owner: 'me' }, recordTTL: 300 })
    expect(plan({ current: [current], desired: [a('web.example.org', '192.0.2.1')] }).updateOld).toEqual([current])
  })

  it('sees a difference in properties', () => {
    const desired = [a('web.example.org', '192.0.2.1', { providerSpecific: [{ name: 'alias', value: 'true' }] })]
    const current = [a('web.example.org', '192.0.2.1', { labels: { owner: 'me' } })]
    expect(plan({ current, desired }).updateNew).toHaveLength(1)
  })

  it('leaves names alone that its filter does not let through', () => {
    const current = [a('web.other.org', '192.0.2.1', { labels: { owner: 'me' } })]
    const desired = [a('api.other.org', '192.0.2.1')]
    const domainFilter = (name: string) => name.endsWith('example.org')
    expect(plan({ current, desired, domainFilter })).toEqual({ ...NO_CHANGES, conflicts: [] })
  })

  it('changes our part of a name that somebody else has records of, too', () => {
    const ours = a('web.example.org', '192.0.2.1', { labels: { owner: 'me' } })
    const theirs = a('web.example.org', '192.0.2.9', { labels: { owner: 'other' } })
    for (const current of [
      [ours, theirs],
      [theirs, ours],
    ]) {
      expect(plan({ current, desired: [a('web.example.org', '192.0.2.2')] }).updateOld).toEqual([ours])
      expect(plan({ current }).delete).toEqual([ours])
    }
  })

  it('chooses the same candidate in whatever order they come', () => {
    const desired = [
      a('web.example.org', '192.0.2.1', of('ingress/default/b')),
      a('web.example.org', '192.0.2.1', { ...of('ingress/default/a'), recordTTL: 60 }),
      a('web.example.org', '192.0.2.2', of('ingress/default/0')),
    ]
    expect(plan({ desired }).create).toEqual([desired[1]])
    expect(plan({ desired: desired.toReversed() }).create).toEqual([desired[1]])
  })
})

describe('a conflict is told to whoever does not get the name', () => {
  it('because another resource has it', () => {
    const desired = [
      a('web.example.org', '192.0.2.2', of('ingress/default/b')),
      a('web.example.org', '192.0.2.1', of('ingress/default/a')),
      a('web.example.org', '192.0.2.1', of('ingress/default/same')),
    ]
    expect(plan({ desired }).conflicts).toEqual([
      {
        dnsName: 'web.example.org',
        resource: 'ingress/default/b',
        message:
          'Cannot publish "web.example.org" as A 192.0.2.2 for ingress default/b: it is A 192.0.2.1 of ingress default/a; give one of them another name, or both the same targets',
      },
    ])
  })

  it('because a CNAME cannot stand beside addresses', () => {
    const alias = a('web.example.org', 'lb.example.net', { recordType: 'CNAME', ...of('service/default/web') })
    expect(messages({ desired: [alias, a('web.example.org', '192.0.2.1', of('ingress/default/web'))] })).toEqual([
      'Cannot publish "web.example.org" as CNAME lb.example.net for service default/web: it is A 192.0.2.1 of ingress default/web; expected a CNAME without other records beside it',
    ])
  })

  it('because it belongs to another owner', () => {
    const current = [a('web.example.org', '192.0.2.9', of('ingress/x/y', 'other'))]
    const desired = [a('web.example.org', '192.0.2.1', of('ingress/default/web'))]
    expect(plan({ current, desired })).toMatchObject(NO_CHANGES)
    expect(messages({ current, desired })).toEqual([
      'Cannot publish "web.example.org" as A 192.0.2.1 for ingress default/web: it belongs to owner "other"; if that is us, use --txt-owner-id=other, or take it over with --migrate-from-txt-owner=other, or give the object another name',
    ])
  })

  it('because it belongs to nobody, as of another type', () => {
    const current = [a('web.example.org', 'by.hand', { recordType: 'CNAME' })]
    expect(messages({ current, desired: [a('web.example.org', '192.0.2.1')] })).toEqual([
      'Cannot publish "web.example.org" as A 192.0.2.1: it is there and belongs to nobody; delete CNAME by.hand there, or give the object another name',
    ])
  })

  it('because the policy keeps what is in the way', () => {
    const current = [a('web.example.org', 'lb.example.net', { recordType: 'CNAME', labels: { owner: 'me' } })]
    const desired = [a('web.example.org', '192.0.2.1')]
    expect(plan({ current, desired, policy: 'upsert-only' })).toMatchObject(NO_CHANGES)
    expect(messages({ current, desired, policy: 'upsert-only' })).toEqual([
      'Cannot publish "web.example.org" as A 192.0.2.1: it is CNAME lb.example.net, and a CNAME has no other records beside it; delete it by hand, or use policy "sync" instead of "upsert-only"',
    ])
  })
})

it('ten thousand candidates for ten thousand names and for one are planned', () => {
  const many = Array.from({ length: 10_000 }, (_, index) =>
    a(`n${index}.example.org`, '192.0.2.1', of(`ingress/default/${index}`)),
  )
  expect(plan({ desired: many }).create).toHaveLength(10_000)
  const one = many.map((endpoint, index) => ({
    ...endpoint,
    dnsName: 'one.example.org',
    targets: [`10.0.${index >> 8}.${index & 255}`],
  }))
  const { create, conflicts } = plan({ desired: one })
  expect(create).toEqual([one[0]])
  expect(conflicts).toHaveLength(9999)
})
