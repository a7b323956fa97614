import { beforeEach, expect, test } from 'vitest'
import { finish } from '../../dns/steps.ts'
import { formatName, parseName } from '../../dns/name.ts'
import { formatRdata } from '../../dns/rdata/rdata.ts'
import { TYPE, typeName } from '../../dns/types.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { SourceRecord, ZonePart } from '../part.ts'
import { KubeZones } from './kube-zones.ts'

/** What objects want, by name. */
let wanted: Map<string, Endpoint[]>
/** For each zone: `owner TTL type data`. */
let served: Map<string, Map<string, string[]>>
let serials: string[]
let problems: string[]
let zones: KubeZones
beforeEach(() => {
  wanted = new Map()
  served = new Map()
  serials = []
  problems = []
  const apexOf = (origin: string) => [{ owner: parseName(origin), records: [address('192.0.2.53')] }]
  zones = new KubeZones({
    zones: ['example.org.', 'apps.example.org.'].map((origin) => ({
      origin,
      part: part(origin),
      apex: apexOf(origin),
    })),
    ttlSeconds: 5,
    candidates: (name) => wanted.get(name) ?? [],
    onProblem: (message) => problems.push(message),
  })
})

function part(origin: string): ZonePart {
  const names = new Map<string, string[]>()
  served.set(origin, names)
  return {
    isFirst: () => true,
    set: (owner, records) => {
      const lines = records.map(({ type, ttl, rdata }) => `${ttl} ${typeName(type)} ${formatRdata(type, rdata)}`)
      if (lines.length === 0) names.delete(formatName(owner))
      else names.set(formatName(owner), lines)
    },
    commit: (serial) => serials.push(`${origin} ${serial}`),
  }
}

function address(text: string): SourceRecord {
  return { type: TYPE.A, ttl: 60, rdata: Uint8Array.from(text.split('.'), Number) }
}

function want(dnsName: string, recordType: string, targets: readonly string[], resource: string, ttl?: number): void {
  const endpoint: Endpoint = {
    ...{ dnsName, recordType, targets, labels: { resource }, providerSpecific: [] },
    ...(ttl !== undefined && { recordTTL: ttl }),
  }
  wanted.set(dnsName, [...(wanted.get(dnsName) ?? []), endpoint])
}

test('a zone has what belongs to itself from the start', () => {
  expect(served.get('example.org.')).toEqual(new Map([['example.org.', ['60 A 192.0.2.53']]]))
})

test('a name goes into the zone that is nearest to it, and every zone gets the serial', () => {
  want('web.example.org', 'A', ['192.0.2.1'], 'ingress/default/web')
  want('a.apps.example.org', 'A', ['192.0.2.2'], 'ingress/default/a', 30)
  want('elsewhere.test', 'A', ['192.0.2.3'], 'ingress/default/b')
  finish(zones.update(wanted.keys(), 7))
  expect(served.get('example.org.')?.get('web.example.org.')).toEqual(['5 A 192.0.2.1'])
  expect(served.get('apps.example.org.')?.get('a.apps.example.org.')).toEqual(['30 A 192.0.2.2'])
  expect([...served.values()].flatMap((names) => [...names.keys()])).not.toContain('elsewhere.test.')
  expect(serials.toSorted()).toEqual(['apps.example.org. 7', 'example.org. 7'])
})

test('a name that nobody wants any more is taken away', () => {
  want('web.example.org', 'A', ['192.0.2.1'], 'ingress/default/web')
  finish(zones.update(['web.example.org'], 1))
  wanted.clear()
  finish(zones.update(['web.example.org'], 2))
  expect(served.get('example.org.')?.has('web.example.org.')).toBe(false)
})

test('whoever has a name keeps it, and the other is told once', () => {
  want('web.example.org', 'A', ['192.0.2.9'], 'ingress/default/one')
  finish(zones.update(['web.example.org'], 1))
  want('web.example.org', 'A', ['192.0.2.1'], 'service/default/two')
  finish(zones.update(['web.example.org'], 2))
  finish(zones.update(['web.example.org'], 3))
  expect(served.get('example.org.')?.get('web.example.org.')).toEqual(['5 A 192.0.2.9'])
  expect(problems).toEqual([expect.stringMatching(/"web\.example\.org" .*default\/two.*default\/one/u)])
})

test('names may stand beside what the zone has of itself, but not as an alias', () => {
  want('example.org', 'A', ['192.0.2.1'], 'ingress/default/web')
  finish(zones.update(['example.org'], 1))
  expect(served.get('example.org.')?.get('example.org.')).toEqual(['60 A 192.0.2.53', '5 A 192.0.2.1'])
  wanted.clear()
  want('example.org', 'CNAME', ['other.test'], 'ingress/default/web')
  finish(zones.update(['example.org'], 2))
  expect(served.get('example.org.')?.get('example.org.')).toEqual(['60 A 192.0.2.53'])
  expect(problems).toEqual([expect.stringMatching(/^Cannot serve "example\.org" as CNAME/u)])
})

test('what cannot be served is told once and left out, and keeps nobody from being served at the same name', () => {
  want('web.example.org', 'A', ['192.0.2.1'], 'ingress/default/web')
  want('web.example.org', 'MX', ['10 a..b'], 'crd/default/odd')
  finish(zones.update(['web.example.org'], 1))
  expect(served.get('example.org.')?.get('web.example.org.')).toEqual(['5 A 192.0.2.1'])
  wanted.get('web.example.org')?.shift()
  finish(zones.update(['web.example.org'], 2))
  expect(served.get('example.org.')?.has('web.example.org.')).toBe(false)
  expect(problems).toEqual([expect.stringMatching(/^Cannot serve "web\.example\.org" as MX: .*; it is left out$/u)])
})

test('objects have no say in who serves a zone, but may delegate below it', () => {
  want('example.org', 'NS', ['evil.test'], 'crd/default/x')
  want('sub.example.org', 'NS', ['ns.sub.example.org'], 'crd/default/x')
  finish(zones.update(wanted.keys(), 1))
  expect(served.get('example.org.')?.get('example.org.')).toEqual(['60 A 192.0.2.53'])
  expect(served.get('example.org.')?.get('sub.example.org.')).toEqual(['5 NS ns.sub.example.org.'])
  expect(problems).toEqual([expect.stringMatching(/^Cannot serve "example\.org" as NS/u)])
})

test('an alias has one target', () => {
  want('web.example.org', 'CNAME', ['a.test', 'b.test'], 'crd/default/x')
  finish(zones.update(wanted.keys(), 1))
  finish(zones.update(wanted.keys(), 2))
  expect(served.get('example.org.')?.has('web.example.org.')).toBe(false)
  expect(problems).toEqual(['Cannot serve "web.example.org" as CNAME: it has 2 targets; expected one'])
})

test('a type that no record can have is told', () => {
  want('web.example.org', 'a', ['192.0.2.1'], 'crd/default/x')
  finish(zones.update(wanted.keys(), 1))
  expect(problems).toEqual([expect.stringMatching(/^Cannot publish "web\.example\.org" as a for crd\/default\/x/u)])
})
