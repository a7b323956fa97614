import { describe, expect, test } from 'vitest'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { DEFAULT_SHAPE, endpointShape, reverseName } from './shape.ts'

const A: Endpoint = {
  ...{ dnsName: 'a.test', recordType: 'A', targets: ['192.0.2.1', '10.0.0.1'], labels: { resource: 'crd/x/y' } },
  providerSpecific: [],
}

describe('endpoints on their way to the index', () => {
  test('stay as they are when nothing is set', () => {
    expect(endpointShape(DEFAULT_SHAPE)([A])).toEqual([A])
  })

  test('get default targets where they have none, and everywhere when that is forced', () => {
    const without = { ...A, targets: [] }
    const shape = { ...DEFAULT_SHAPE, defaultTargets: ['192.0.2.9', '2001:db8::9'] }
    const targets = (endpoints: readonly Endpoint[]) => endpoints.map((each) => [each.recordType, ...each.targets])
    expect(targets(endpointShape(shape)([without]))).toEqual([
      ['A', '192.0.2.9'],
      ['AAAA', '2001:db8::9'],
    ])
    expect(endpointShape(shape)([without])[0].labels).toEqual(A.labels)
    expect(endpointShape(shape)([A])).toEqual([A])
    expect(targets(endpointShape({ ...shape, forceDefaultTargets: true })([A]))).toHaveLength(2)
  })

  test('lose targets outside the networks, and go when none is left', () => {
    const shape = endpointShape({ ...DEFAULT_SHAPE, targetNets: ['10.0.0.0/8'], excludeTargetNets: ['10.1.0.0/16'] })
    expect(shape([A])[0].targets).toEqual(['10.0.0.1'])
    expect(shape([{ ...A, targets: ['10.1.0.1'] }])).toEqual([])
    const alias = { ...A, recordType: 'CNAME', targets: ['b.test'] }
    expect(shape([alias])).toEqual([])
    expect(endpointShape({ ...DEFAULT_SHAPE, excludeTargetNets: ['10.1.0.0/16'] })([alias])).toEqual([alias])
    expect(() => endpointShape({ ...DEFAULT_SHAPE, targetNets: ['10.0.0.0/33'] })).toThrow(
      'expected one such as 10.0.0.0/8',
    )
  })

  test('get a TTL where they have none', () => {
    const shape = endpointShape({ ...DEFAULT_SHAPE, minTtlSeconds: 60 })
    expect(shape([A, { ...A, recordTTL: 5 }]).map(({ recordTTL }) => recordTTL)).toEqual([60, 5])
  })

  test('bring PTR records when asked, by a setting or by their object, but not for wildcards', () => {
    const pointers = (endpoints: readonly Endpoint[]) =>
      endpoints.filter(({ recordType }) => recordType === 'PTR').map(({ dnsName, targets }) => [dnsName, ...targets])
    const on = endpointShape({ ...DEFAULT_SHAPE, createPtr: true })
    expect(pointers(on([A]))).toEqual([
      ['1.2.0.192.in-addr.arpa', 'a.test'],
      ['1.0.0.10.in-addr.arpa', 'a.test'],
    ])
    // An address can be that of several objects.
    expect(on([A]).at(-1)?.labels).toEqual({})
    expect(pointers(on([{ ...A, dnsName: '*.test' }]))).toEqual([])
    const asking = { ...A, providerSpecific: [{ name: 'record-type', value: 'ptr' }] }
    expect(pointers(endpointShape(DEFAULT_SHAPE)([asking]))).toHaveLength(2)
    expect(endpointShape(DEFAULT_SHAPE)([asking])[0].providerSpecific).toEqual([])
    expect(pointers(on([{ ...asking, providerSpecific: [{ name: 'record-type', value: 'A' }] }]))).toEqual([])
  })

  test('are spelled in lower case where that is asked for, in their PTR records too', () => {
    const capitals = { ...A, dnsName: 'Web.Test', targets: ['192.0.2.1'] }
    const shape = { ...DEFAULT_SHAPE, createPtr: true }
    const names = (endpoints: readonly Endpoint[]) => endpoints.map(({ dnsName }) => dnsName)
    expect(names(endpointShape(shape)([capitals]))[0]).toBe('Web.Test')
    const [address, pointer] = endpointShape({ ...shape, lowerCase: true })([capitals])
    expect([address.dnsName, pointer.targets]).toEqual(['web.test', ['web.test']])
  })

  test('keep properties that are for CoreDNS, and those for nobody in particular', () => {
    const names = ['coredns/group', 'alias', 'aws/weight']
    const shaped = endpointShape(DEFAULT_SHAPE)([
      { ...A, providerSpecific: names.map((name) => ({ name, value: 'x' })) },
    ])
    expect(shaped[0].providerSpecific.map(({ name }) => name)).toEqual(['coredns/group', 'alias'])
  })
})

test.each([
  ['192.0.2.1', '1.2.0.192.in-addr.arpa'],
  ['2001:db8::1', `1${'.0'.repeat(23)}.8.b.d.0.1.0.0.2.ip6.arpa`],
  ['::ffff:192.0.2.1', `1.0.2.0.0.0.0.c.f.f.f.f${'.0'.repeat(20)}.ip6.arpa`],
])('the reverse name of %s', (address, name) => {
  expect(reverseName(address)).toBe(name)
})
