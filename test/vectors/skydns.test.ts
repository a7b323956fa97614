// The cases of skydns.json against a SkyDNS tree in memory. What takes a server (upstreams, truncation) and a real etcd is
// tested with these in test/integration. Where we differ on purpose the case is in DEVIATIONS, and
// docs/reference/deviations.md says why.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { formatName, parseName } from '../../src/dns/name.ts'
import { formatRdata } from '../../src/dns/rdata/rdata.ts'
import { TYPE, typeName, typeNumber } from '../../src/dns/types.ts'
import type { SourceRecord } from '../../src/names/part.ts'
import { soaOf } from '../../src/names/skydns/soa.ts'
import { SkydnsTree } from '../../src/names/skydns/tree.ts'
import { block, refusal } from '../../src/server/corefile/testing.ts'
import { type Answer, type Fixture, SkydnsAnswers } from './skydns-answers.ts'

interface VectorRecord {
  readonly name: string
  readonly ttl: number | null
  readonly type: string
  readonly rdata: string | null
  readonly soa?: Readonly<Record<string, string | number>>
}
interface Lookup {
  readonly id: string
  readonly fixture: string
  readonly query: { readonly name: string; readonly type: string }
  readonly expect: {
    readonly rcode: string
    readonly answer: readonly VectorRecord[]
    readonly authority: readonly VectorRecord[]
    readonly additional: readonly VectorRecord[]
  }
  readonly order: 'any' | 'exact'
}
interface Vector<Input, Expected> {
  readonly id: string
  readonly kind: string
  readonly input: Input
  readonly expect: Expected
}

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const vectors = JSON.parse(read('skydns.json')) as {
  fixtures: Readonly<Record<string, Fixture>>
  cases: readonly Lookup[]
  other: readonly Vector<unknown, unknown>[]
}

/** Our additional section where it differs: targets outside the zone are left to the client. */
const DEVIATIONS: Readonly<Record<string, readonly string[]>> = {
  'backend-08': ['s1._sip._tcp.example.org. 30 A 1.2.3.4'],
  'backend-09': ['mx1.mail.example.org. 60 A 1.2.3.4'],
}

describe('vectors of SkyDNS lookups', () => {
  for (const vector of vectors.cases)
    it(`${vector.id}: ${vector.query.name} ${vector.query.type}${vector.id in DEVIATIONS ? ' (we differ)' : ''}`, () => {
      const { query, expect: expected } = vector
      const answer = new SkydnsAnswers(vectors.fixtures[vector.fixture]).ask(query.name, typeNumber(query.type) ?? 0)
      expect(answer.rcode).toBe(expected.rcode)
      const isExact = vector.order === 'exact'
      compare(answer.answer, expected.answer, isExact)
      compare(answer.authority, expected.authority, isExact)
      const additional = DEVIATIONS[vector.id]
      if (additional === undefined) compare(answer.additional, expected.additional, isExact)
      else expect(answer.additional).toEqual(additional)
    })
})

function compare(actual: Answer['answer'], expected: readonly VectorRecord[], isExact: boolean): void {
  const untimed = expected.some(({ ttl }) => ttl === null)
  const left = actual.map((text) => (untimed ? text.replace(/ \d+ /u, ' null ') : text))
  const right = expected.map(formatExpected)
  expect(isExact ? left : left.toSorted()).toEqual(isExact ? right : right.toSorted())
}

/** The text of quirk-06 lacks the quotes that are part of it, as its remark says. */
function formatExpected({ name, ttl, type, rdata, soa }: VectorRecord): string {
  const text = soa === undefined ? rdata : soaText(soa)
  return `${name} ${ttl} ${type} ${text === HERITAGE ? JSON.stringify(HERITAGE) : text}`
}

const HERITAGE = '"heritage=external-dns,external-dns/owner=staging"'

function soaText({ mname, rname, refresh, retry, expire, minimum }: Readonly<Record<string, string | number>>): string {
  return `${mname} ${rname} 1 ${refresh} ${retry} ${expire} ${minimum}`
}

type Checks = Readonly<Record<string, (vector: never) => void>>

const BY_KIND: Checks = {
  path: standsAt,
  'host-type': becomes,
  split255: splits,
  'group-rule': groups,
  ttl: lives,
  duration: lasts,
  config: configures,
  soa: begins,
}

describe('vectors beside SkyDNS lookups', () => {
  for (const vector of vectors.other)
    it(`${vector.id}: ${JSON.stringify(vector.input).slice(0, 80)}`, () => {
      const check = BY_KIND[vector.kind]
      if (check === undefined) throw new Error(`no check for ${vector.id}`)
      check(vector as never)
    })

  it('no check is without a case', () => {
    const kinds = new Set(vectors.other.map(({ kind }) => kind))
    expect(Object.keys(BY_KIND).filter((kind) => !kinds.has(kind))).toEqual([])
    const ids = new Set(vectors.cases.map(({ id }) => id))
    expect(Object.keys(DEVIATIONS).filter((id) => !ids.has(id))).toEqual([])
  })
})

describe('the page of deviations', () => {
  it('names every case in which we differ', () => {
    const page = read('../../docs/reference/deviations.md')
    expect(Object.keys(DEVIATIONS).filter((id) => !page.includes(`\`${id}\``))).toEqual([])
  })
})

const NAME = 'name.example.org.'
const KEY = '/skydns/org/example/name'

/** The records of one name when these are all the keys. */
function recordsOf(
  values: Readonly<Record<string, object>>,
  { path = '/skydns', expiresAt = undefined as number | undefined } = {},
): readonly SourceRecord[] {
  const tree = new SkydnsTree({ path, zones: ['.'], mode: 'compatible', maxLeaseTtlSeconds: 86_400 })
  const lease = expiresAt === undefined ? undefined : { expiresAt }
  for (const [key, value] of Object.entries(values))
    expect(tree.put(Buffer.from(key), Buffer.from(JSON.stringify(value)), lease)).toBeUndefined()
  return [...tree.flush()].find(({ owner }) => formatName(owner) === NAME)?.records ?? []
}

function standsAt({ input: { name, prefix }, expect: key }: Vector<{ name: string; prefix: string }, string>): void {
  const tree = new SkydnsTree({ path: prefix, zones: ['local.'], mode: 'exact', maxLeaseTtlSeconds: 86_400 })
  expect(tree.put(Buffer.from(key), Buffer.from('{"host":"192.0.2.1"}'), undefined)).toBeUndefined()
  expect(Array.from(tree.flush(), ({ owner }) => formatName(owner))).toEqual([name])
}

/** Beside what it is for questions about services. */
function becomes({ input, expect: type }: Vector<object, string>): void {
  const types = recordsOf({ [KEY]: input }).map((record) => typeName(record.type))
  expect(types.filter((other) => !['SRV', 'MX', 'PTR'].includes(other))).toEqual([type])
}

function splits({ input, expect: expected }: Vector<string, { chunks: number; last?: string }>): void {
  const text = input.replaceAll(/(\d+) x (\w)/gu, (_, count: string, letter: string) => letter.repeat(Number(count)))
  const [{ type, rdata }] = recordsOf({ [KEY]: { text: text.replaceAll(' + ', '') } })
  const strings = formatRdata(type, rdata).split(' ')
  expect(strings).toHaveLength(expected.chunks)
  if (expected.last !== undefined) expect(strings.at(-1)?.replaceAll(/(.)\1+/gu, '$1')).toBe(`"${expected.last}"`)
}

type Grouped = readonly { host: string; group: string; key_depth_example: string }[]

/** Keys may be the same in these cases, and in etcd cannot be: each gets one of the same length. */
function groups({ input, expect: { kept } }: Vector<Grouped, { kept: readonly number[] }>): void {
  const values = input.map(({ group, key_depth_example }, i): [string, object] => {
    const depth = key_depth_example.split('/').length
    return [`${KEY}/${i}${'/x'.repeat(depth)}`, { host: `192.0.2.${i}`, group }]
  })
  const addresses = recordsOf(Object.fromEntries(values)).filter(({ type }) => type === TYPE.A)
  expect(addresses.map(({ rdata }) => rdata[3])).toEqual(kept)
}

type Lifetime = { lease_remaining?: number | null; service_ttl: number }

/** As the server counts down: never below the least TTL of a lease, unless the record has less anyway. */
function lives({
  input: { lease_remaining: left, service_ttl: ttl },
  expect: expected,
}: Vector<Lifetime, number>): void {
  const now = 1_800_000_000
  const options = typeof left === 'number' ? { expiresAt: now + left } : {}
  const [record] = recordsOf({ [KEY]: { host: '192.0.2.1', ttl } }, options)
  const leastTtl = 30
  const remaining = record.expiresAt === undefined ? Infinity : Math.max(leastTtl, record.expiresAt - now)
  expect(Math.min(record.ttl, remaining)).toBe(expected)
}

function lasts({ input, expect: expected }: Vector<string, number | 'error'>): void {
  const line = `etcd {\nmin-lease-ttl "${input}"\n}`
  if (expected === 'error') expect(refusal(`. {\n${line}\n}`)).toContain(`"${input}" is not a duration`)
  else expect(block(line).skydns[0].minLeaseTtlSeconds).toBe(expected)
}

interface Configuration {
  readonly path?: string
  readonly endpoints?: number | readonly string[]
  readonly error?: string
  readonly min_lease_ttl?: number
  readonly max_lease_ttl?: number
}

function configures({ input, expect: expected }: Vector<string, Configuration>): void {
  const directive = `etcd {\n${input === 'etcd' ? '' : input.replaceAll(', ', '\n')}\n}`
  if (expected.error !== undefined) {
    expect(refusal(`. {\n${directive}\n}`)).toMatch(/unknown option "endpoints"|"credentials" has 0 arguments/u)
    return
  }
  const { path, etcd, minLeaseTtlSeconds, maxLeaseTtlSeconds } = block(directive).skydns[0]
  if (expected.path !== undefined) expect(path).toBe(`/${expected.path}`)
  if (typeof expected.endpoints === 'number') expect(etcd.endpoints).toHaveLength(expected.endpoints)
  else if (expected.endpoints !== undefined) expect(etcd.endpoints).toEqual(expected.endpoints)
  if (expected.min_lease_ttl !== undefined) expect(minLeaseTtlSeconds).toBe(expected.min_lease_ttl)
  if (expected.max_lease_ttl !== undefined) expect(maxLeaseTtlSeconds).toBe(expected.max_lease_ttl)
}

type Start = Vector<{ zone: string }, Readonly<Record<string, string | number>> & { ttl: number }>

function begins({ input: { zone }, expect: expected }: Start): void {
  const { type, ttl, rdata } = soaOf(zone, 1)
  expect([type, ttl]).toEqual([TYPE.SOA, expected.ttl])
  expect(formatRdata(type, rdata)).toBe(soaText(expected))
  expect(formatName(rdata)).toBe(formatName(parseName(`ns.dns.${zone}`)))
}
