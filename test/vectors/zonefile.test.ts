// The lookup cases of zonefile.json against our own answering. Where an RFC, or the three servers we are compared
// with, say otherwise than CoreDNS, the case is in DEVIATIONS with the answer we give; docs/reference/deviations.md
// lists the same ids.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { encodeMessage, type Message, type ResourceRecord } from '../../src/dns/message.ts'
import { formatName, parseName } from '../../src/dns/name.ts'
import { formatRdata } from '../../src/dns/rdata/rdata.ts'
import { RCODE, rcodeName, TYPE, typeName, typeNumber } from '../../src/dns/types.ts'
import type { View } from '../../src/zone/query.ts'
import { LocalZones, PLAIN_VIEW } from '../support/local-answer.ts'

interface VectorRecord {
  readonly name: string
  readonly ttl: number | null
  readonly type: string
  readonly rdata: string
}
interface Expectation {
  readonly rcode?: string
  readonly rcode_not?: string
  readonly answer?: readonly VectorRecord[]
  readonly authority?: readonly VectorRecord[]
  readonly additional?: readonly VectorRecord[]
  readonly answer_count?: number
  readonly additional_count?: number
  readonly answer_min?: number
  readonly answer_first_type?: string
  readonly answer_has_type?: string
  readonly answer_types?: readonly string[]
  readonly answer_contains?: readonly { type: string; target: string }[]
  readonly answer_index_1?: { type: string; rdata: string }
  readonly authority_first_type?: string
  readonly authority_types?: readonly string[]
  readonly outcome?: string
  readonly falls_through?: boolean
}
interface VectorCase {
  readonly id: string
  readonly zones: readonly string[]
  readonly query: {
    readonly name: string
    readonly type: string
    readonly do?: boolean
    readonly edns_udp_size?: number
  }
  readonly expect: Expectation
  readonly order: 'any' | 'exact'
  readonly authority_kind?: string
  readonly partial?: boolean
  readonly config?: { readonly fallthrough?: readonly string[]; readonly external?: unknown; readonly hosts?: unknown }
}

const vectors = JSON.parse(readFileSync(new URL('zonefile.json', import.meta.url), 'utf8')) as {
  zones: Record<string, { origin: string; text: string }>
  cases: readonly VectorCase[]
}

/** Our answer where it differs, by case; the reasons are in docs/reference/deviations.md. */
const DEVIATIONS: Readonly<Record<string, Expectation>> = {
  'basic-14': { rcode: 'NOERROR', answer_types: ['CNAME'] },
  'apex-only-00': { rcode: 'NOERROR', answer_count: 0, authority_types: ['SOA'] },
  'loop-01': { rcode: 'NOERROR', answer_types: ['DNAME', 'CNAME'] },
}

/** Cases whose alias leaves the zones: answered together with a forwarder, in test/integration/alias.test.ts. */
const FORWARDED = new Set(vectors.cases.filter(({ config }) => config?.external ?? config?.hosts).map(({ id }) => id))

describe('vectors of zone lookups', () => {
  for (const vector of vectors.cases.filter(({ id }) => !FORWARDED.has(id))) {
    it(`${vector.id}: ${vector.query.name} ${vector.query.type}`, () => {
      const deviation = DEVIATIONS[vector.id]
      check(vector, deviation ?? vector.expect, deviation !== undefined || vector.partial === true)
    })
  }
})

function check(vector: VectorCase, expected: Expectation, partial: boolean): void {
  const zones = new LocalZones()
  for (const id of vector.zones) {
    const { origin, text } = vectors.zones[id]
    zones.add(origin, text, { requireNs: false, fallthrough: vector.config?.fallthrough !== undefined })
  }
  const view: View = { ...PLAIN_VIEW, handsOver: vector.config?.fallthrough !== undefined }
  const response = zones.ask(encodeMessage(question(vector)), [view])
  if (expected.falls_through === true) {
    expect(response).toBe('elsewhere')
    return
  }
  if (response === undefined || response === 'elsewhere') throw new Error(`no answer: ${response}`)
  expect(response.id).toBe(4711)
  if (expected.rcode !== undefined) expect(rcodeName(response.rcode)).toBe(expected.rcode)
  if (expected.rcode_not !== undefined) expect(rcodeName(response.rcode)).not.toBe(expected.rcode_not)
  if (!partial) checkSections(vector, expected, response)
  checkCounts(expected, response)
}

function question({ query }: VectorCase): Message {
  const edns = query.do === true || query.edns_udp_size !== undefined
  return {
    ...EMPTY,
    questions: [{ name: parseName(query.name), type: typeNumber(query.type) ?? 0, klass: 1 }],
    ...(edns
      ? { edns: { udpBytes: query.edns_udp_size ?? 4096, version: 0, do: query.do ?? false, options: [] } }
      : {}),
  }
}

const EMPTY: Message = {
  id: 4711,
  qr: false,
  opcode: 0,
  aa: false,
  tc: false,
  rd: false,
  ra: false,
  z: false,
  ad: false,
  cd: false,
  rcode: RCODE.NOERROR,
  questions: [],
  answers: [],
  authorities: [],
  additionals: [],
}

function checkSections(vector: VectorCase, expected: Expectation, response: Message): void {
  const exact = vector.order === 'exact'
  compare(response.answers, expected.answer ?? [], exact)
  // CoreDNS repeats the apex NS in positive answers; ours are minimal.
  if (vector.authority_kind === 'apex-ns' && response.authorities.every(({ type }) => type !== TYPE.NS)) {
    const rest = (expected.authority ?? []).filter(({ type, rdata }) => type !== 'NS' && !rdata.startsWith('NS '))
    compare(response.authorities, rest, exact)
  } else compare(response.authorities, expected.authority ?? [], exact)
  compare(response.additionals, expected.additional ?? [], exact)
}

function checkCounts(expected: Expectation, { answers, authorities, additionals }: Message): void {
  const types = (records: readonly ResourceRecord[]) => records.map(({ type }) => typeName(type))
  if (expected.answer_count !== undefined) expect(answers).toHaveLength(expected.answer_count)
  if (expected.additional_count !== undefined) expect(additionals).toHaveLength(expected.additional_count)
  if (expected.answer_min !== undefined) expect(answers.length).toBeGreaterThanOrEqual(expected.answer_min)
  if (expected.answer_first_type !== undefined) expect(types(answers)[0]).toBe(expected.answer_first_type)
  if (expected.answer_has_type !== undefined) expect(types(answers)).toContain(expected.answer_has_type)
  if (expected.answer_types !== undefined) expect(types(answers)).toEqual(expected.answer_types)
  if (expected.authority_first_type !== undefined) expect(types(authorities)[0]).toBe(expected.authority_first_type)
  if (expected.authority_types !== undefined) expect(types(authorities)).toEqual(expected.authority_types)
  if (expected.outcome === 'NODATA') expect(types(authorities)).toEqual(['SOA'])
  for (const { type, target } of expected.answer_contains ?? [])
    expect(answers.map(comparable).join('\n').toLowerCase()).toContain(`${type} 1 ${target}`.toLowerCase())
}

function compare(actual: readonly ResourceRecord[], expected: readonly VectorRecord[], exact: boolean): void {
  const left = actual.map(comparable)
  const right = expected.map(({ name, ttl, type, rdata }) => reduce(name, ttl, type, rdata))
  expect(exact ? left : left.toSorted()).toEqual(exact ? right : right.toSorted())
}

function comparable({ name, ttlSeconds, type, rdata }: ResourceRecord): string {
  return reduce(formatName(name), ttlSeconds, typeName(type), formatRdata(type, rdata))
}

const COMPARED_BY_FIRST = new Set(['NSEC', 'SOA'])

/** The originals compare signatures by what they cover, NSEC by the next name, SOA by the server, and quote as they please. */
function reduce(name: string, ttl: number | null, type: string, rdata: string): string {
  const words = rdata.replaceAll('"', '').split(' ')
  const kept = type === 'RRSIG' ? [words[0], words[2], words[7]] : COMPARED_BY_FIRST.has(type) ? [words[0]] : words
  return `${name} ${ttl} ${type} ${kept.join(' ')}`.toLowerCase()
}
