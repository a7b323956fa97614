// The cases of zonefile.json that are not lookups. Each kind has its check below or in other-files.ts, some cases one
// of their own; a case without a check fails. Where we differ on purpose the check in DEVIATIONS says how, and
// docs/reference/deviations.md why.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { formatName, parseName } from '../../src/dns/name.ts'
import { formatRdata } from '../../src/dns/rdata/rdata.ts'
import { CLASS, RCODE, rcodeName, TYPE } from '../../src/dns/types.ts'
import { formatRecord, parseRecord } from '../../src/dns/zonefile/format.ts'
import type { AutoConfig } from '../../src/server/config.ts'
import { expandable } from '../../src/server/corefile/directives/auto.ts'
import { block, refusal } from '../../src/server/corefile/testing.ts'
import { ZoneBuilder } from '../../src/zone/build.ts'
import { findNode } from '../../src/zone/find.ts'
import { question } from '../support/fault-server.ts'
import { zoneText } from '../support/holdfast-process.ts'
import { LocalZones, PLAIN_VIEW } from '../support/local-answer.ts'
import {
  forgetsDeleted,
  forwardsUncovered,
  keepsDeleted,
  leavesUntouched,
  matches,
  matchesFirst,
  reloadsByContent,
  serves,
  type Vector,
} from './other-files.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const vectors = JSON.parse(read('zonefile.json')) as {
  zones: Record<string, { origin: string; text: string }>
  cases: readonly { id: string }[]
  other: readonly Vector<unknown, unknown>[]
}

type Checks = Readonly<Record<string, ((vector: never) => void) | undefined>>

const BY_KIND: Checks = {
  'dname-substitution': substitutes,
  'closest-encloser': encloses,
  'canonical-escape': escapes,
  'load-error': refuses,
  'load-error-nsec3': servesNsec3,
  transfer: refusesTransfer,
  'zone-edit': edits,
  'srv-owner-case': keepsOwner,
  'auto-match': matches,
  'auto-template': expands,
  'auto-serve': serves,
  'auto-config': configures,
}

/** Steps in prose, and refusals whose reason counts. */
const BY_ID: Checks = {
  'reload-03': leavesUntouched,
  'reload-05': keepsDeleted,
  'auto-match-04': forgetsDeleted,
  'auto-config-01': takesNetwork,
  'auto-config-06': ({ input }: ConfigVector) => {
    expect(autoRefusal(input)).toContain('"*" is not a regular expression')
  },
  'auto-config-07': ({ input }: ConfigVector) => {
    expect(autoRefusal(input)).toContain('"directory" has 4 arguments')
  },
  'auto-config-08': () => {
    expect(autoRefusal('directory /zones; no_reload')).toContain('unknown option "no_reload"')
    expect(autoRefusal('directory /zones; transfer to *')).toContain('unknown option "transfer"')
    expect(autoRefusal('directory /zones (.*) {1} aa')).toContain('"directory" has 4 arguments')
  },
}

const DEVIATIONS: Checks = {
  'reload-02': reloadsByContent,
  'auto-match-03': matchesFirst,
  'auto-serve-06': forwardsUncovered,
}

describe('vectors beside lookups', () => {
  for (const vector of vectors.other)
    it(`${vector.id}: ${vector.note ?? vector.kind}${vector.id in DEVIATIONS ? ' (we differ)' : ''}`, () => {
      const check = DEVIATIONS[vector.id] ?? BY_ID[vector.id] ?? BY_KIND[vector.kind]
      if (check === undefined) throw new Error(`no check for ${vector.id}`)
      check(vector as never)
    })

  it('no check is without a case', () => {
    const ids = new Set(vectors.other.map(({ id }) => id))
    const kinds = new Set(vectors.other.map(({ kind }) => kind))
    expect([...Object.keys(DEVIATIONS), ...Object.keys(BY_ID)].filter((id) => !ids.has(id))).toEqual([])
    expect(Object.keys(BY_KIND).filter((kind) => !kinds.has(kind))).toEqual([])
  })
})

describe('the page of deviations', () => {
  const page = read('../../docs/reference/deviations.md')
  const named = [...page.matchAll(/`([a-z\d-]+-\d\d)`/gu)].map(([, id]) => id)

  it('names every case in which we differ', () => {
    const [, lookups] = /^const DEVIATIONS[^{]*\{\n(.*?)^\}/msu.exec(read('zonefile.test.ts')) ?? []
    const ids = [...lookups.matchAll(/^ {2}'([^']+)':/gmu)].map(([, id]) => id)
    expect(ids).not.toEqual([])
    expect([...ids, ...Object.keys(DEVIATIONS)].filter((id) => !named.includes(id))).toEqual([])
  })

  it('names only cases there are', () => {
    type Cases = Pick<typeof vectors, 'cases'> & Partial<Pick<typeof vectors, 'other'>>
    const others = ['skydns', 'kubevirt', 'externaldns'].map((name) => JSON.parse(read(`${name}.json`)) as Cases)
    const ids = new Set(
      [vectors, ...others].flatMap(({ cases, other = [] }) => [...cases, ...other]).map(({ id }) => id),
    )
    expect(named.filter((id) => !ids.has(id))).toEqual([])
  })
})

type Substitution = Vector<{ qname: string; owner: string; target: string }, { result: string | null }>

function substitutes({ input: { qname, owner, target }, expect: expected }: Substitution): void {
  const zones = new LocalZones()
  zones.add('.', zoneText([`${owner} DNAME ${target}`]))
  const cname = ask(zones, qname, TYPE.A).answers.find(({ type }) => type === TYPE.CNAME)
  expect(cname === undefined ? null : formatName(cname.rdata)).toBe(expected.result)
  if (cname !== undefined) expect(formatName(cname.name)).toBe(qname)
}

type Enclosing = Vector<{ qname: string }, { closest_encloser: string }> & { zones: readonly string[] }

function encloses({ zones: loaded, input, expect: expected }: Enclosing): void {
  const zones = load(loaded)
  // No alias is followed for CNAME, so the name looked for stays the question's.
  ask(zones, input.qname, TYPE.CNAME)
  const { query } = zones
  let label = 0
  while (label < query.zoneLabel && findNode(query, label) === 0) label++
  expect(formatName(query.name, query.labelAt[label])).toBe(expected.closest_encloser)
}

function escapes({ input, expect: expected }: Vector<string, string>): void {
  expect(formatName(parseName(input))).toBe(expected)
}

interface ZoneInput {
  readonly origin: string
  readonly zone_text: string
}

function refuses({ input, expect: expected }: Vector<ZoneInput, { message_contains: string }>): void {
  const add = () => new LocalZones().add(input.origin, input.zone_text, { requireNs: false })
  expect(add).toThrow(expected.message_contains)
}

/** Not NSEC3 is the fault, but that it cannot be served as it stands here. */
function servesNsec3({ input }: Vector<ZoneInput, unknown>): void {
  const zones = new LocalZones()
  zones.add(input.origin, input.zone_text, { requireNs: false })
  expect(rcodeName(ask(zones, input.origin, TYPE.SOA).rcode)).toBe('NOERROR')
}

/** As any transfer, so far. */
function refusesTransfer({ zones, input }: Vector<{ transfer_zone: string }, unknown> & { zones: string[] }): void {
  const { rcode, answers } = ask(load(zones), input.transfer_zone, TYPE.AXFR)
  expect([rcodeName(rcode), answers]).toEqual(['REFUSED', []])
}

interface EditStep {
  readonly insert?: string
  /** `the MX` */
  readonly delete?: string
  readonly expect_records?: readonly string[]
}

/** Each step is a new version of the zone. */
function edits({ steps }: { steps: readonly EditStep[] }): void {
  const zones = new LocalZones()
  let records: string[] = []
  for (const step of steps) {
    if (step.insert !== undefined) records.push(step.insert)
    if (step.delete !== undefined) records = records.filter((line) => line.split(' ')[1] !== step.delete?.slice(4))
    zones.add('example.org.', `${zoneText([])}$TTL 3600\n${records.join('\n')}\n`)
    if (step.expect_records === undefined) continue
    const view = { ...PLAIN_VIEW, minimalAny: false }
    const { rcode, answers } = ask(zones, 'a.example.org.', TYPE.ANY, view)
    expect(rcode).toBe(step.expect_records.length === 0 ? RCODE.NXDOMAIN : RCODE.NOERROR)
    const lines = answers.map(({ name, ttlSeconds, type, rdata }) => formatRecord(name, ttlSeconds, type, rdata))
    expect(lines).toEqual(step.expect_records)
  }
}

function keepsOwner({ input, expect: expected }: Vector<string, { owner_kept: string; target: string }>): void {
  const builder = new ZoneBuilder(parseName('home.arpa.'))
  const { owner, type, ttl, rdata } = parseRecord(input, builder.origin)
  builder.record(owner, owner.length, type, CLASS.IN, ttl, rdata, rdata.length, 1)
  const kept: object[] = []
  builder.forEachRecord((name, _ttl, kind, data) =>
    kept.push({ owner_kept: formatName(name), target: formatRdata(kind, data).split(' ').at(-1) }),
  )
  expect(kept).toEqual([expected])
}

function expands({ input, expect: expected }: Vector<string, string>): void {
  expect(expandable(input)).toBe(expected)
}

type ConfigVector = Vector<string, object>

function configures({ input, expect: expected }: ConfigVector): void {
  const { pattern, template, reloadMs } = autoConfig(input)
  expect({
    regexp: typeof pattern === 'string' ? pattern : pattern.source,
    template,
    reload_seconds: reloadMs / 1000,
  }).toMatchObject(expected)
}

function takesNetwork(vector: ConfigVector): void {
  configures(vector)
  expect(autoConfig(vector.input).zones).toEqual(['0.0.10.in-addr.arpa.'])
}

function autoConfig(options: string): AutoConfig {
  return block(autoText(options)).autos[0]
}

function autoRefusal(options: string): string {
  return refusal(`. {\n${autoText(options)}\n}`)
}

/** `zone NAME; OPTION; …` as a directive. */
function autoText(options: string): string {
  const [, zone = '', rest] = /^(?:zone (\S+); )?(.*)$/u.exec(options) ?? []
  return `auto ${zone} {\n${rest.replaceAll('; ', '\n')}\n}`
}

function load(ids: readonly string[]): LocalZones {
  const zones = new LocalZones()
  for (const id of ids) zones.add(vectors.zones[id].origin, vectors.zones[id].text)
  return zones
}

function ask(zones: LocalZones, name: string, type: number, view = PLAIN_VIEW) {
  const response = zones.ask(question(name, type), [view])
  if (typeof response !== 'object') throw new Error(`no answer: ${response}`)
  return response
}
