import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { EndpointIndex } from './endpoint-index.ts'

function endpoint(dnsName: string, targets: readonly string[], resource: string): Endpoint {
  return { dnsName, recordType: 'A', targets, labels: { resource }, providerSpecific: [] }
}

describe('the index of endpoints', () => {
  test('tells the names that an object had and has, and only those that differ', () => {
    const index = new EndpointIndex()
    const a = endpoint('a.test', ['192.0.2.1'], 'ingress/x/1')
    expect(index.set('ingress', 'ingress/x/1', [a, endpoint('b.test', ['192.0.2.1'], 'ingress/x/1')])).toEqual([
      'a.test',
      'b.test',
    ])
    expect(index.set('ingress', 'ingress/x/1', [a, endpoint('c.test', ['192.0.2.1'], 'ingress/x/1')])).toEqual([
      'b.test',
      'c.test',
    ])
    expect(index.set('ingress', 'ingress/x/1', [])).toEqual(['a.test', 'c.test'])
    expect([...index.names()]).toEqual([])
  })

  test('takes the same name in other letters as the same', () => {
    const index = new EndpointIndex()
    index.set('ingress', 'ingress/x/1', [endpoint('A.Test.', ['192.0.2.1'], 'ingress/x/1')])
    expect(index.candidates('a.test')).toHaveLength(1)
  })

  test('has what several objects want of a name, the same thing once', () => {
    const index = new EndpointIndex()
    index.set('ingress', 'ingress/x/1', [endpoint('a.test', ['192.0.2.1'], 'ingress/x/1')])
    index.set('service', 'service/x/1', [endpoint('a.test', ['192.0.2.1'], 'service/x/1')])
    expect(index.candidates('a.test').map(({ labels }) => labels.resource)).toEqual(['ingress/x/1'])
    index.set('service', 'service/x/1', [endpoint('a.test', ['192.0.2.2'], 'service/x/1')])
    expect(index.candidates('a.test').map(({ targets }) => targets)).toEqual([['192.0.2.1'], ['192.0.2.2']])
  })

  test('has all names of an address in one set, with the least TTL', () => {
    const index = new EndpointIndex()
    const pointer = (target: string, recordTTL: number) => ({
      ...endpoint('1.2.0.192.in-addr.arpa', [target], `ingress/x/${target}`),
      ...{ recordType: 'PTR', recordTTL },
    })
    index.set('ingress', 'ingress/x/a', [pointer('a.test', 60)])
    index.set('ingress', 'ingress/x/b', [pointer('b.test', 30)])
    const [only, ...others] = index.candidates('1.2.0.192.in-addr.arpa')
    expect(others).toEqual([])
    expect(only).toMatchObject({ targets: ['a.test', 'b.test'], recordTTL: 30 })
  })

  test('ends as if only the last state had been told, whatever came before', () => {
    const roots = ['r1', 'r2', 'r3']
    const step = fc.record({
      root: fc.constantFrom(...roots),
      names: fc.uniqueArray(fc.constantFrom('a.test', 'b.test', 'c.test')),
      target: fc.constantFrom('192.0.2.1', '192.0.2.2'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const index = new EndpointIndex()
        const last = new Map<string, readonly Endpoint[]>()
        for (const { root, names, target } of steps) {
          const endpoints = names.map((name) => endpoint(name, [target], root))
          index.set('s', root, endpoints)
          last.set(root, endpoints)
        }
        const fresh = new EndpointIndex()
        for (const root of roots) fresh.set('s', root, last.get(root) ?? [])
        const seen = (from: EndpointIndex) =>
          ['a.test', 'b.test', 'c.test'].map((name) =>
            from
              .candidates(name)
              .flatMap(({ targets }) => targets)
              .toSorted(),
          )
        expect(seen(index)).toEqual(seen(fresh))
        expect([...index.names()].toSorted()).toEqual([...fresh.names()].toSorted())
      }),
    )
  })
})
