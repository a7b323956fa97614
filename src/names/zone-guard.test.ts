import { beforeEach, describe, expect, test } from 'vitest'
import { LocalCatalog } from '../../test/support/local-catalog.ts'
import { TYPE } from '../dns/types.ts'
import type { ZoneSource } from './offer.ts'
import { EtcdZones } from './sources/etcd-zones.ts'
import { atAndAbove } from './zone-guard.ts'

const PREFIX = '/coredns/'

function zone(address: string): string {
  return `$TTL 300\n@ SOA ns hostmaster 1 3600 600 86400 60\n@ NS ns\n@ A ${address}\nns A 192.0.2.53\n`
}

let local: LocalCatalog

beforeEach(() => {
  local = new LocalCatalog()
})

/** Zones that others may write, after the sources of ranks below 5. */
class Written {
  readonly zones: EtcdZones
  #revision = 0n

  constructor(allowed: readonly string[] = []) {
    const source: ZoneSource = local.source(5, {
      guard: { allowed, onBarred: (origin, problem) => this.zones.bar(origin, problem) },
    })
    this.zones = new EtcdZones({
      ...{ prefix: PREFIX, maxRecords: 1000 },
      onZone: (origin, offer) => local.catalog.offer(source, origin, offer),
      onGone: (origin) => local.catalog.withdraw(source, origin),
      onProblem: (message) => local.reports.push({ kind: 'problem', message }),
    })
  }

  put(name: string, text: string | undefined): unknown {
    const value = text === undefined ? undefined : Buffer.from(text)
    return this.zones.apply({ key: Buffer.from(PREFIX + name), value, modRevision: ++this.#revision, lease: 0n })
  }
}

describe('zones that others write', () => {
  test('are refused at and below the zone that follows a primary, and reported', () => {
    local.part(1, 'pg.x.test.').set({ 'primary.pg.x.test.': ['A 10.0.0.1'] })
    const written = new Written()
    for (const name of ['primary.pg.x.test', 'pg.x.test', 'a.b.PG.x.test'])
      expect(written.put(name, zone('192.0.2.66'))).toBe(false)
    expect(local.ask('primary.pg.x.test.')).toBe('10.0.0.1')
    expect(local.ask('pg.x.test.')).toBe('NOERROR')
    expect(written.zones.problems()).toHaveLength(3)
    expect(local.problems[0]).toBe(
      'Cannot serve "/coredns/primary.pg.x.test": it would answer for names of pg.x.test., which is a zone of a source before it; rename it, or add it to "allow_zones"',
    )
    written.put('primary.pg.x.test', undefined)
    expect(written.zones.problems()).toHaveLength(2)
  })

  test('are refused below files of the operator, also below one that cannot be read', () => {
    local.file(local.source(0, { plugin: 'file' }), 'x.test.', zone('192.0.2.1'))
    local.catalog.miss(local.source(1, { plugin: 'file' }), 'y.test.', 'db.y.test')
    const written = new Written()
    expect(written.put('a.x.test', zone('192.0.2.66'))).toBe(false)
    expect(written.put('a.y.test', zone('192.0.2.66'))).toBe(false)
    expect(local.ask('a.x.test.')).toBe('NXDOMAIN')
    expect(local.ask('a.y.test.')).toBe('SERVFAIL')
  })

  test('are served above, beside, and before the zones of others', () => {
    local.part(1, 'pg.x.test.').set({ 'primary.pg.x.test.': ['A 10.0.0.1'] })
    local.part(9, 'later.test.').set({ 'a.later.test.': ['A 10.0.0.2'] })
    const written = new Written()
    for (const name of ['x.test', 'test', 'notpg.x.test', 'a.later.test'])
      expect(written.put(name, zone('192.0.2.7'))).toBe(true)
    expect(local.ask('primary.pg.x.test.')).toBe('10.0.0.1')
    expect(local.ask('a.later.test.')).toBe('192.0.2.7')
    expect(written.zones.problems()).toEqual([])
  })

  test('are served where they are allowed by name, with what is below, but not below a zone in between', () => {
    local.file(local.source(0, { plugin: 'file' }), 'x.test.', zone('192.0.2.1'))
    local.part(1, 'pg.x.test.').set({ 'primary.pg.x.test.': ['A 10.0.0.1'] })
    const written = new Written(['x.test.', 'apps.x.test.'])
    for (const name of ['apps.x.test', 'a.apps.x.test', 'other.x.test'])
      expect(written.put(name, zone('192.0.2.7'))).toBe(true)
    expect(written.put('primary.pg.x.test', zone('192.0.2.66'))).toBe(false)
    expect(local.ask('primary.pg.x.test.')).toBe('10.0.0.1')
    expect(new Written(['primary.pg.x.test.']).put('primary.pg.x.test', zone('192.0.2.8'))).toBe(true)
    expect(local.ask('primary.pg.x.test.')).toBe('192.0.2.8')
  })

  test('give way to a file that comes later, and come back when it goes', () => {
    const written = new Written()
    const file = local.source(0, { plugin: 'auto' })
    expect(written.put('a.x.test', zone('192.0.2.7'))).toBe(true)
    local.file(file, 'x.test.', zone('192.0.2.1'))
    expect(local.ask('a.x.test.')).toBe('NXDOMAIN')
    expect(written.zones.problems()).toHaveLength(1)
    local.catalog.withdraw(file, 'x.test.')
    expect(local.ask('a.x.test.')).toBe('192.0.2.7')
    expect(local.ask('x.test.', TYPE.SOA)).toBe('REFUSED')
    expect(written.zones.problems()).toEqual([])
  })
})

test('a name has itself and all names above it', () => {
  expect([...atAndAbove('a\\.b.test.')]).toEqual(['a\\.b.test.', 'test.', '.'])
  expect([...atAndAbove('.')]).toEqual(['.'])
})
