import { expect, test } from 'vitest'
import { LocalCatalog } from '../../../test/support/local-catalog.ts'
import { EtcdZones } from './etcd-zones.ts'
import { MemoryBudget } from './memory-budget.ts'

test('a zone that grows counts once', () => {
  const budget = new MemoryBudget(100)
  expect(budget.take('a', 60)).toBeUndefined()
  expect(budget.take('a', 100)).toBeUndefined()
  expect(budget.take('b', 1)).toContain('other zones of this source take 100 of 100')
  budget.set('a', 40)
  expect(budget.take('b', 60)).toBeUndefined()
})

test('of zones in etcd, the one that does not fit is refused, and the others are served', () => {
  const local = new LocalCatalog()
  const source = local.source(1)
  const zones = new EtcdZones({
    ...{ prefix: '/', maxRecords: 100_000, maxBytes: 200_000 },
    onZone: (origin, offer) => local.catalog.offer(source, origin, offer),
    onGone: (origin) => local.catalog.withdraw(source, origin),
    onProblem: () => undefined,
  })
  let modRevision = 0n
  const put = (name: string, records: number | undefined) => {
    const text = `$TTL 60\n@ SOA ns hostmaster 1 2 3 4 5\n$GENERATE 1-${records} h$ A 192.0.2.1\n`
    const value = records === undefined ? undefined : Buffer.from(text)
    return zones.apply({ key: Buffer.from(`/${name}`), value, modRevision: ++modRevision, lease: 0n })
  }
  expect([put('a.test', 1000), put('b.test', 1000), put('c.test', 1000)]).toEqual([true, true, false])
  expect(local.reports.at(-1)).toMatchObject({ kind: 'refused', errors: [expect.stringContaining('too much data')] })
  expect(['a', 'b', 'c'].map((name) => local.ask(`h7.${name}.test.`))).toEqual(['192.0.2.1', '192.0.2.1', 'SERVFAIL'])
  expect([put('b.test', 2000), put('b.test', 1100)]).toEqual([false, true])
  const broken = { key: Buffer.from('/a.test'), value: Buffer.from('nonsense'), modRevision: ++modRevision, lease: 0n }
  expect([zones.apply(broken), put('c.test', 1000)]).toEqual([false, false])
  void put('a.test', undefined)
  expect([put('c.test', 1000), local.ask('h7.c.test.')]).toEqual([true, '192.0.2.1'])
})
