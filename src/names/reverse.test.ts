import { isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatName, isSubdomain, parseName } from '../dns/name.ts'
import { formatRdata } from '../dns/rdata/rdata.ts'
import { TYPE } from '../dns/types.ts'
import type { SourceRecord, ZonePart } from './part.ts'
import { ReverseNames } from './reverse.ts'

/** Zones as a reader would see them: only what is committed counts. */
class Zones {
  readonly published = new Map<string, Map<string, string[]>>()
  readonly serials: string[] = []
  /** How often a name was handed over. */
  sets = 0

  readonly partOf = (origin: string): ZonePart => {
    const changes = new Map<string, readonly SourceRecord[]>()
    return {
      isFirst: () => true,
      set: (owner, records) => {
        this.sets++
        expect(isSubdomain(owner, parseName(origin))).toBe(true)
        changes.set(formatName(owner), records)
      },
      commit: (serial) => {
        this.serials.push(`${origin} ${serial}`)
        const zone = this.published.get(origin) ?? new Map<string, string[]>()
        this.published.set(origin, zone)
        for (const [owner, records] of changes) {
          if (records.length === 0) zone.delete(owner)
          else
            zone.set(
              owner,
              records.map(({ ttl, type, rdata }) => `${ttl} ${formatRdata(type, rdata)}`),
            )
          expect(records.every(({ type }) => type === TYPE.PTR)).toBe(true)
        }
        changes.clear()
      },
    }
  }

  get names(): Record<string, string[]> {
    return Object.fromEntries([...this.published.values()].flatMap((zone) => [...zone]))
  }
}

function reverse(zones: readonly string[]): { zones: Zones; names: ReverseNames } {
  const published = new Zones()
  return { zones: published, names: new ReverseNames({ zones, ttlSeconds: 5, partOf: published.partOf }) }
}

/** IPv4, or IPv6 without `::`. */
function address(text: string): Uint8Array {
  if (isIPv4(text)) return Uint8Array.from(text.split('.').map(Number))
  return Uint8Array.from(
    text.split(':').flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  )
}

describe('automatic PTR records', () => {
  test('stand at the name of the address, in both families', () => {
    const { zones, names } = reverse(['10.in-addr.arpa.', '8.b.d.0.1.0.0.2.ip6.arpa.'])
    names.set(parseName('Web.Example.'), [address('10.1.2.3'), address('2001:db8:0:0:0:0:0:1f')])
    expect(zones.names).toEqual({})
    names.commit(7)
    expect(zones.names).toEqual({
      '3.2.1.10.in-addr.arpa.': ['5 web.example.'],
      'f.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.': ['5 web.example.'],
    })
    expect(zones.serials).toEqual(['10.in-addr.arpa. 7', '8.b.d.0.1.0.0.2.ip6.arpa. 7'])
  })

  test('go to the longest zone that holds the address, and nowhere when none does', () => {
    const { zones, names } = reverse([
      '10.in-addr.arpa.',
      '2.1.10.in-addr.arpa.',
      '4.3.2.1.in-addr.arpa.',
      'e.F.ip6.arpa.',
    ])
    names.set(
      parseName('a.example.'),
      ['10.1.2.3', '10.1.3.2', '1.2.3.4', '192.0.2.1', 'fe80:0:0:0:0:0:0:1'].map(address),
    )
    names.commit(1)
    expect([...zones.published].map(([origin, zone]) => [origin, ...zone.keys()])).toEqual([
      ['4.3.2.1.in-addr.arpa.', '4.3.2.1.in-addr.arpa.'],
      ['2.1.10.in-addr.arpa.', '3.2.1.10.in-addr.arpa.'],
      ['10.in-addr.arpa.', '2.3.1.10.in-addr.arpa.'],
      ['e.F.ip6.arpa.', `1.${'0.'.repeat(27)}0.8.e.f.ip6.arpa.`],
    ])
  })

  test('can be kept for all addresses there are', () => {
    const { zones, names } = reverse(['in-addr.arpa.', 'ip6.arpa.'])
    names.set(parseName('a.example.'), [address('192.0.2.1'), address('0:0:0:0:0:0:0:0')])
    names.commit(1)
    expect(Object.keys(zones.names).toSorted()).toEqual([`${'0.'.repeat(32)}ip6.arpa.`, '1.2.0.192.in-addr.arpa.'])
  })

  test('name all owners of an address, in an order that does not depend on when they came', () => {
    const one = reverse(['10.in-addr.arpa.'])
    const other = reverse(['10.in-addr.arpa.'])
    const owners = ['b.example.', 'a.example.', 'c.b.example.'].map((name) => parseName(name))
    for (const owner of owners) one.names.set(owner, [address('10.0.0.1')])
    for (const owner of owners.toReversed()) other.names.set(owner, [address('10.0.0.1')])
    one.names.commit(1)
    other.names.commit(1)
    expect(one.zones.names['1.0.0.10.in-addr.arpa.']).toHaveLength(3)
    expect(one.zones.names).toEqual(other.zones.names)
  })

  test('of very many owners name the first hundred', () => {
    const { zones, names } = reverse(['10.in-addr.arpa.'])
    const hosts = Array.from({ length: 1000 }, (_, index) => `host${String(index).padStart(4, '0')}.example.`)
    for (const host of hosts.toReversed()) names.set(parseName(host), [address('10.0.0.1')])
    names.commit(1)
    const published = () => zones.names['1.0.0.10.in-addr.arpa.']
    expect(published()).toEqual(hosts.slice(0, 100).map((host) => `5 ${host}`))
    names.set(parseName(hosts[0]), [])
    names.commit(2)
    expect(published()).toEqual(hosts.slice(1, 101).map((host) => `5 ${host}`))
  })

  test('leave wildcards out', () => {
    const { zones, names } = reverse(['10.in-addr.arpa.'])
    names.set(parseName('*.example.'), [address('10.0.0.1')])
    names.set(parseName('\\*x.example.'), [address('10.0.0.2')])
    names.commit(1)
    expect(Object.keys(zones.names)).toEqual(['2.0.0.10.in-addr.arpa.'])
  })

  test('treat names that differ in the case of ASCII letters as one, and no others', () => {
    const { zones, names } = reverse(['10.in-addr.arpa.'])
    names.set(parseName('A\\192.example.'), [address('10.0.0.1')])
    names.set(parseName('a\\192.example.'), [address('10.0.0.2')])
    names.set(parseName('a\\224.example.'), [address('10.0.0.3')])
    names.commit(1)
    expect(zones.names).toEqual({
      '2.0.0.10.in-addr.arpa.': ['5 a\\192.example.'],
      '3.0.0.10.in-addr.arpa.': ['5 a\\224.example.'],
    })
  })

  test('are not published again when nothing has changed', () => {
    const { zones, names } = reverse(['10.in-addr.arpa.'])
    names.set(parseName('a.example.'), [address('10.0.0.1'), address('10.0.0.2')])
    names.commit(1)
    names.set(parseName('A.example.'), [address('10.0.0.2'), address('10.0.0.1'), address('10.0.0.1')])
    names.set(parseName('none.example.'), [])
    names.commit(2)
    expect(zones.serials).toEqual(['10.in-addr.arpa. 1'])
    names.set(parseName('a.example.'), [address('10.0.0.1'), address('10.0.0.3')])
    names.commit(3)
    expect(zones.sets).toBe(4)
    expect(Object.keys(zones.names)).toEqual(['1.0.0.10.in-addr.arpa.', '3.0.0.10.in-addr.arpa.'])
  })

  test.each([
    'example.com.',
    '256.in-addr.arpa.',
    '01.in-addr.arpa.',
    '0/25.2.0.192.in-addr.arpa.',
    '10.ip6.arpa.',
    'arpa.',
  ])('cannot be kept in %s', (origin) => {
    expect(() => reverse([origin])).toThrow(`Cannot keep PTR records in "${origin}": it is no reverse zone; `)
  })
})

test('changes one by one lead to what the final state gives from scratch', () => {
  const origins = ['10.in-addr.arpa.', '0.10.in-addr.arpa.', '1.0.0.10.in-addr.arpa.', 'd.f.ip6.arpa.']
  const owner = fc.constantFrom('a.example.', 'B.example.', 'b.example.', 'c.d.example.', '*.example.')
  const addresses = fc.constantFrom(
    '10.0.0.1',
    '10.0.0.2',
    '10.1.0.1',
    '11.0.0.1',
    'fd00:0:0:0:0:0:0:1',
    'fe80:0:0:0:0:0:0:1',
  )
  const step = fc.record({ owner, addresses: fc.array(addresses, { maxLength: 4 }), commit: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const gradual = reverse(origins)
      const state = new Map<string, string[]>()
      for (const [serial, { owner, addresses, commit }] of steps.entries()) {
        gradual.names.set(parseName(owner), addresses.map(address))
        state.set(owner.toLowerCase(), addresses)
        if (commit) gradual.names.commit(serial)
      }
      gradual.names.commit(1000)
      const atOnce = reverse(origins)
      for (const [owner, addresses] of state) atOnce.names.set(parseName(owner), addresses.map(address))
      atOnce.names.commit(1)
      expect(gradual.zones.names).toEqual(atOnce.zones.names)
      const pairs = [...state].flatMap(([owner, list]) => {
        const ours = [...new Set(list)].filter((text) => text.startsWith('10.') || text.startsWith('fd'))
        return owner.startsWith('*') ? [] : ours
      })
      expect(Object.values(gradual.zones.names).flat()).toHaveLength(pairs.length)
    }),
  )
})
