// Whatever happens in whatever order: what is known of the routes in the end is what a fresh source says of the objects
// that are left, as long as only those roots are asked for again that were said to have changed.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { objectKey } from '../../../kube/resource.ts'
import type { RootEndpoints } from '../endpoint-source.ts'
import { apply, type TestObject } from '../testing.ts'
import { gateway, makeGatewaySource, namespace, route } from './testing.ts'

const some = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
const few = <Value>(values: fc.Arbitrary<Value>) => fc.array(values, { maxLength: 2 })
const NAMESPACE = some('a', 'b')
const NAME = some('*.org', 'x.org', 'y.x.org', 'z.org')
const PARENT = fc.oneof(
  { weight: 3, arbitrary: fc.record({ name: some('g1', 'g2'), namespace: NAMESPACE }) },
  {
    weight: 1,
    arbitrary: fc.record(
      { name: some('g1', 'g2'), sectionName: some('l1', 'l2'), port: some(80, 443) },
      { requiredKeys: ['name'] },
    ),
  },
)
const LISTENER = fc.record(
  {
    ...{ name: some('l1', 'l2'), hostname: NAME, port: some(80, 80, 443) },
    protocol: some('HTTP', 'HTTP', 'HTTPS', 'TLS'),
    allowedRoutes: fc.record(
      {
        namespaces: some<object>(
          ...[{ from: 'All' }, { from: 'Same' }, { from: 'Selector' }],
          ...Array.from({ length: 3 }, () => ({ from: 'Selector', selector: { matchLabels: { team: 'x' } } })),
        ),
        kinds: some([{ kind: 'HTTPRoute' }], [{ kind: 'TLSRoute' }], []),
      },
      { requiredKeys: ['namespaces'] },
    ),
  },
  { requiredKeys: ['allowedRoutes'] },
)
const ANNOTATIONS = some<Record<string, string>>(
  ...[{}, {}, { 'external-dns.kubernetes.io/hostname': 'n.org' }, { 'external-dns.kubernetes.io/controller': 'other' }],
  { 'external-dns.kubernetes.io/target': '9.9.9.9' },
)

const OBJECT: fc.Arbitrary<TestObject> = fc.oneof(
  fc
    .record({
      ...{ name: some('g1', 'g2'), namespace: NAMESPACE, annotations: ANNOTATIONS, listeners: few(LISTENER) },
      addresses: few(some('1.1.1.1', '2.2.2.2', 'lb.org')),
    })
    .map(gateway),
  fc
    .record({
      ...{ name: some('r1', 'r2', 'r3'), namespace: NAMESPACE, annotations: ANNOTATIONS, hostnames: few(NAME) },
      ...{ parents: few(PARENT), status: some('True', 'True', 'True', 'False') },
      accepted: fc.option(few(PARENT), { nil: undefined, freq: 3 }),
    })
    .map(({ accepted, ...parts }) => route({ ...parts, ...(accepted !== undefined && { accepted }) })),
  fc.tuple(NAMESPACE, some<Record<string, string>>({}, { team: 'x' })).map(([name, labels]) => namespace(name, labels)),
)

test('a source that follows changes knows what a fresh one would know', () => {
  const step = fc.record({ object: OBJECT, remains: some(true, true, true, false) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const following = makeGatewaySource()
      const known = new Map<string, RootEndpoints>()
      const world = new Map<string, TestObject>()
      for (const { object, remains } of steps) {
        const key = objectKey(object.metadata)
        if (remains) world.set(`${object.kind} ${key}`, object)
        else world.delete(`${object.kind} ${key}`)
        for (const root of apply(following, object.kind, key, remains ? object : undefined))
          known.set(root, following.endpoints(root))
      }
      const fresh = makeGatewaySource()
      for (const object of world.values()) apply(fresh, object.kind, objectKey(object.metadata), object)
      for (const [root, endpoints] of known) expect(endpoints).toEqual(fresh.endpoints(root))
    }),
    { numRuns: 300 },
  )
})
