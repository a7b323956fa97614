// What goes beyond the cases of ExternalDNS, which are in test/vectors.

import { describe, expect, it } from 'vitest'
import { Secret } from '../../lib/secret.ts'
import type { Changes, Endpoint } from '../endpoints/endpoint.ts'
import { FORCE_UPDATE } from '../endpoints/properties.ts'
import { type TxtRegistryOptions, txtRegistry } from './txt.ts'

const KEY = new Secret('0123456789abcdef0123456789abcdef')
const NONE: Changes = { create: [], updateOld: [], updateNew: [], delete: [] }

function a(dnsName: string, labels: Endpoint['labels'] = {}, more: Partial<Endpoint> = {}): Endpoint {
  return { dnsName, recordType: 'A', targets: ['192.0.2.1'], labels, providerSpecific: [], ...more }
}

function txt(dnsName: string, owner: string, labels: Endpoint['labels'] = {}, resource = 'ingress/d/x'): Endpoint {
  const text = `"heritage=external-dns,external-dns/owner=${owner},external-dns/resource=${resource}"`
  return { dnsName, recordType: 'TXT', targets: [text], labels, providerSpecific: [] }
}

const registry = (options: Partial<TxtRegistryOptions> = {}) =>
  txtRegistry({ ownerId: 'me', recordTypes: ['A', 'AAAA', 'CNAME'], ...options })

const owned = (labels: Endpoint['labels'] = {}) => ({ owner: 'me', resource: 'ingress/d/x', ...labels })

describe('reading marks', () => {
  it('a mark without a type speaks for a name, and is to be renewed', () => {
    const [read] = registry().records([a('x.org'), txt('x.org', 'me')])
    expect(read).toEqual(a('x.org', owned(), { providerSpecific: [FORCE_UPDATE] }))
  })

  it('a mark of another name that looks like one without a type does not count', () => {
    const [read] = registry().records([a('a-x.org'), txt('a-x.org', 'me')])
    expect(read.labels.owner).toBeUndefined()
  })

  it('where marks disagree the record is somebody else’s', () => {
    for (const marks of [
      ['me', 'other'],
      ['other', 'me'],
    ]) {
      const [read] = registry().records([a('x.org'), ...marks.map((owner) => txt('a-x.org', owner))])
      expect(read.labels.owner).toBe('other')
    }
  })

  it('labels by which a provider finds its records stay', () => {
    const mark = {
      ...txt('a-x.org', 'me'),
      targets: ['heritage=external-dns,external-dns/owner=me,external-dns/prefix=bad'],
    }
    const [read] = registry().records([a('x.org', { prefix: 'key', owner: '' }), mark])
    expect(read.labels).toEqual({ prefix: 'key', owner: 'me' })
  })

  it('what a former owner has is ours, and is to be renewed', () => {
    const [read] = registry({ oldOwnerId: 'former' }).records([a('x.org'), txt('a-x.org', 'former')])
    expect(read).toEqual(a('x.org', owned(), { providerSpecific: [FORCE_UPDATE] }))
  })

  it('nothing is to be renewed for ever when the former owner is the present one', () => {
    const [read] = registry({ oldOwnerId: 'me' }).records([a('x.org'), txt('a-x.org', 'me')])
    expect(read.providerSpecific).toEqual([])
  })
})

describe('marking changes', () => {
  it('a record takes its mark along, found by the labels it was stored with', () => {
    const stored = [
      a('x.org', { prefix: 'k1' }),
      txt('a-x.org', 'me', { prefix: 'k2' }),
      txt('a-x.org', 'me', { prefix: 'k3' }),
    ]
    const subject = registry()
    const { delete: deleted } = subject.mark({ ...NONE, delete: subject.records(stored) }, stored)
    expect(deleted.map(({ labels }) => labels.prefix)).toEqual(['k1', 'k2', 'k3'])
  })

  it('a mark without a type goes with the last record of its name', () => {
    const stored = [a('x.org'), a('x.org', {}, { recordType: 'MX', targets: ['1 m.org'] }), txt('x.org', 'me')]
    const subject = registry()
    const [first, second] = subject.records(stored)
    expect(subject.mark({ ...NONE, delete: [first] }, stored).delete).toEqual([first])
    expect(subject.mark({ ...NONE, delete: [first, second] }, stored).delete).toEqual([first, second, stored[2]])
  })

  it('a mark is rewritten only if it has to say something else', () => {
    const stored = [a('x.org'), txt('a-x.org', 'me', { prefix: 'key' })]
    const subject = registry()
    const [current] = subject.records(stored)
    const same = subject.mark({ ...NONE, updateOld: [current], updateNew: [a('x.org', owned())] }, stored)
    expect(same.updateNew).toEqual([a('x.org', owned())])
    const wanted = a('x.org', { owner: 'me', resource: 'ingress/d/y' })
    const other = subject.mark({ ...NONE, updateOld: [current], updateNew: [wanted] }, stored)
    expect(other.updateOld).toEqual([current, stored[1]])
    expect(other.updateNew).toEqual([wanted, txt('a-x.org', 'me', { ownedRecord: 'x.org' }, 'ingress/d/y')])
  })

  it('a mark that was left behind is used again, whoever left it', () => {
    const stored = [txt('a-x.org', 'other', { prefix: 'key' })]
    const { create, updateOld, updateNew } = registry().mark(
      { ...NONE, create: [a('x.org', { resource: 'ingress/d/x' })] },
      stored,
    )
    expect(create).toEqual([a('x.org', owned())])
    expect(updateOld).toEqual(stored)
    expect(updateNew).toEqual([txt('a-x.org', 'me', { ownedRecord: 'x.org' })])
  })

  it('a record whose mark would be too long is not published, and that is told', () => {
    const name = `${'l'.repeat(62)}.org`
    const { create, conflicts } = registry().mark({ ...NONE, create: [a(name)] }, [])
    expect(create).toEqual([])
    expect(conflicts[0].message).toBe(
      `Cannot publish "${name}" as A 192.0.2.1: its mark of ownership "a-${name}" is no name; expected labels of up to 63 bytes, 253 in all`,
    )
  })

  it('a mark that would also be that of a foreign record is not written', () => {
    const subject = registry({ prefix: 'm.', wildcardReplacement: 'any' })
    const { create, conflicts } = subject.mark({ ...NONE, create: [a('*.x.org')] }, [a('any.x.org')])
    expect(create).toEqual([])
    expect(conflicts[0].message).toBe(
      'Cannot publish "*.x.org" as A 192.0.2.1: its mark of ownership "m.a-any.x.org" would make somebody else\'s record ours; give the object another name, or use another prefix or suffix for marks',
    )
  })
})

describe('encrypted marks', () => {
  it('are read again and not rewritten', () => {
    const subject = registry({ encrypt: true, aesKey: KEY })
    const { create: stored } = subject.mark({ ...NONE, create: [a('x.org', { resource: 'ingress/d/x' })] }, [])
    expect(stored[1].targets[0]).not.toContain('heritage')
    const [read] = subject.records(stored)
    expect(read).toEqual(a('x.org', owned()))
    expect(subject.mark({ ...NONE, updateOld: [read], updateNew: [read] }, stored).updateNew).toEqual([read])
  })

  it('replace plain ones when something changes', () => {
    const subject = registry({ encrypt: true, aesKey: KEY })
    const stored = [a('x.org'), txt('a-x.org', 'me')]
    const [read] = subject.records(stored)
    const { updateOld, updateNew } = subject.mark({ ...NONE, updateOld: [read], updateNew: [read] }, stored)
    expect(updateOld[1]).toBe(stored[1])
    expect(subject.markedNames(updateNew[1])).toEqual(['x.org'])
    expect(registry().markedNames(updateNew[1])).toEqual([])
  })

  it('take a key', () => {
    expect(() => registry({ encrypt: true })).toThrow('Cannot encrypt TXT records: there is no key')
  })
})

describe('names of marks', () => {
  it('are all those at which marks of a name can be, with names that share them', () => {
    expect(registry().markNames('x.org')).toEqual(['a-x.org', 'aaaa-x.org', 'cname-x.org'])
    const subject = registry({ suffix: '-%{record_type}', wildcardReplacement: 'any', recordTypes: ['A'] })
    expect(subject.markNames('*.x.org')).toEqual(['any-a.x.org', 'any-.x.org', 'any.x.org'])
  })

  it('lead back to the names they are for', () => {
    expect(registry().markedNames(txt('cname-x.org', 'other'))).toEqual(['x.org'])
    expect(registry({ wildcardReplacement: 'any' }).markedNames(txt('a-any.x.org', 'me'))).toEqual([
      'any.x.org',
      '*.x.org',
    ])
    expect(registry().markedNames({ ...txt('a-x.org', 'me'), targets: ['v=spf1 -all'] })).toEqual([])
    expect(registry().markedNames(a('a-x.org'))).toEqual([])
  })
})
