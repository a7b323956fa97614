// Whatever is stored and whatever is wanted: planned and written once, mostly, there is nothing left to do. This is what
// keeps records from being added and deleted for ever.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import { planChanges } from '../../endpoints/plan.ts'
import { asStored } from './storable.ts'
import { endpoint, MemoryStore } from './testing.ts'

const NAMES = ['www.example.test', 'WWW.example.test', 'a.www.example.test', '1.0.0.10.in-addr.arpa']
const HOSTS = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:DB8:0::1', '2001:db8::2', 'b.test', 'B.test.', 'c.test']
const TEXTS = [
  'one',
  'two',
  '"heritage=external-dns,external-dns/owner=x"',
  '"heritage=external-dns,external-dns/owner=x,external-dns/resource=y"',
]
const TTLS = [0, 30, 60]
const GROUPS = ['', 'g']

const value = fc.record(
  {
    host: fc.constantFrom(...HOSTS),
    text: fc.constantFrom(...TEXTS),
    ttl: fc.constantFrom(...TTLS),
    targetstrip: fc.constantFrom(0, 1, 1, 1, 2),
    group: fc.constantFrom(...GROUPS),
    port: fc.constantFrom(0, 80),
  },
  { requiredKeys: [] },
)
const key = fc
  .tuple(fc.constantFrom(...NAMES), fc.constantFrom('', '/k1', '/k2', '/k1/k2', '/K1'))
  .map(([name, rest]) => `/skydns/${name.split('.').toReversed().join('/')}${rest}`)
const values = fc.dictionary(key, fc.oneof({ weight: 9, arbitrary: value }, fc.constant('not JSON')), { maxKeys: 8 })

const TARGETS = { A: HOSTS.slice(0, 2), AAAA: HOSTS.slice(2, 5), CNAME: HOSTS.slice(5), TXT: TEXTS.slice(0, 2) }

/** Of any type that the name can have, as sources and registries make them. */
const wanted: fc.Arbitrary<Endpoint> = fc
  .record({
    name: fc.constantFrom(...NAMES),
    hosts: fc.uniqueArray(fc.constantFrom(...HOSTS), { minLength: 1, maxLength: 4 }),
    type: fc.constantFrom('A', 'AAAA', 'CNAME', 'TXT' as const),
    ttl: fc.constantFrom(...TTLS),
    group: fc.constantFrom(...GROUPS),
  })
  .map(({ name, hosts, type, ttl, group }) => {
    const targets = TARGETS[type]
    const isReverse = name.endsWith('.arpa') && type !== 'TXT'
    const chosen = isReverse ? ['c.test'] : targets.filter((_, at) => at === 0 || at < hosts.length)
    const providerSpecific = group === '' ? [] : [{ name: 'coredns/group', value: group }]
    return asStored(endpoint(name, isReverse ? 'PTR' : type, chosen, { recordTTL: ttl, providerSpecific }))
  })

function plan(store: MemoryStore, desired: readonly Endpoint[]) {
  return planChanges({
    ...{ current: NAMES.flatMap((name) => (name === 'WWW.example.test' ? [] : store.endpoints(name))), desired },
    ...{ policy: 'sync', ownerId: '', domainFilter: () => true, excludeRecordTypes: [] },
    managedRecordTypes: ['A', 'AAAA', 'CNAME', 'TXT', 'PTR'],
  })
}

const NOTHING = { create: [], updateOld: [], updateNew: [], delete: [] }
/** Where a text is stored twice, the other one shows only when the first is gone. */
const ROUNDS = 3

test('after few rounds there is nothing to plan, and after each nothing to write again', () => {
  fc.assert(
    fc.property(values, fc.array(wanted, { maxLength: 6 }), (before, desired) => {
      const store = new MemoryStore(before)
      for (let round = 1; round <= ROUNDS; round++) {
        const changes = plan(store, desired)
        const { problems } = store.apply(changes)
        // An exact key that holds something else is somebody's to clear first.
        fc.pre(problems.length === 0)
        expect(store.apply(changes).writes).toBe(0)
      }
      expect(plan(store, desired)).toMatchObject(NOTHING)
    }),
    { numRuns: 500 },
  )
})
