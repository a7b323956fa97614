// A comparator that explains everything away would pass any server, so: what it must not let through.

import { describe, expect, it } from 'vitest'
import type { Message, ResourceRecord } from '../../src/dns/message.ts'
import { parseName } from '../../src/dns/name.ts'
import { RCODE, TYPE } from '../../src/dns/types.ts'
import { agrees, compare } from './compare.ts'
import { query } from './queries.ts'
import { rulesFor } from './rules.ts'

const rules = rulesFor([parseName('a.test.'), parseName('b.test.')])
const asked = query('www.a.test.', 'A')

function record(owner: string, type: number, rdata: ArrayLike<number>): ResourceRecord {
  return { name: parseName(owner), type, klass: 1, ttlSeconds: 300, rdata: Uint8Array.from(rdata) }
}

const address = (owner: string, last: number): ResourceRecord => record(owner, TYPE.A, [192, 0, 2, last])
const alias = (owner: string, target: string): ResourceRecord => record(owner, TYPE.CNAME, parseName(target))
const soa = record('a.test.', TYPE.SOA, [...parseName('ns.a.test.'), ...parseName('h.a.test.'), ...new Uint8Array(20)])
const nsec = record('a.test.', TYPE.NSEC, [...parseName('ns.a.test.'), 0, 1, 0x40])

const EMPTY: Message = {
  ...{
    id: 1,
    qr: true,
    opcode: 0,
    aa: true,
    tc: false,
    rd: false,
    ra: false,
    z: false,
    ad: false,
    cd: false,
    rcode: 0,
  },
  ...{ questions: [{ name: asked.name, type: TYPE.A, klass: 1 }], answers: [], authorities: [], additionals: [] },
}
const positive = { ...EMPTY, answers: [address('www.a.test.', 1), address('www.a.test.', 2)] }
const chain = {
  ...EMPTY,
  answers: [alias('www.a.test.', 'x.a.test.'), alias('x.a.test.', 'y.a.test.'), address('y.a.test.', 1)],
}
const missing = { ...EMPTY, rcode: RCODE.NXDOMAIN, authorities: [soa, nsec] }
const referral = {
  ...EMPTY,
  aa: false,
  authorities: [record('www.a.test.', TYPE.NS, parseName('ns.www.a.test.'))],
  additionals: [address('ns.www.a.test.', 9)],
}

function unexplained(a: Message, b: Message): string[] {
  return [...new Set(compare({ query: asked, a, b }, rules).unexplained.map((part) => part.field))]
}

describe('the comparison', () => {
  it.each<[string, Message, Message, string[]]>([
    ['another response code', missing, { ...missing, rcode: RCODE.NOERROR }, ['rcode']],
    ['an answer that is not authoritative', positive, { ...positive, aa: false }, ['aa']],
    ['recursion offered', positive, { ...positive, ra: true }, ['ra']],
    ['RD not copied', positive, { ...positive, rd: true }, ['rd']],
    ['a record too few', positive, { ...positive, answers: positive.answers.slice(1) }, ['answers']],
    [
      'a record too many',
      positive,
      { ...positive, answers: [...positive.answers, address('www.a.test.', 3)] },
      ['answers'],
    ],
    [
      'another TTL',
      positive,
      { ...positive, answers: positive.answers.map((each) => ({ ...each, ttlSeconds: 1 })) },
      ['answers'],
    ],
    ['an alias not followed within the zone', chain, { ...chain, answers: chain.answers.slice(0, 1) }, ['answers']],
    [
      'aliases out of order',
      chain,
      { ...chain, answers: [chain.answers[1], chain.answers[0], chain.answers[2]] },
      ['aliasOrder'],
    ],
    ['a denial without SOA', missing, { ...missing, authorities: [nsec] }, ['authorities']],
    ['a denial without proof', missing, { ...missing, authorities: [soa] }, ['authorities']],
    ['a referral without glue', referral, { ...referral, additionals: [] }, ['additionals']],
    [
      'a referral without servers',
      referral,
      { ...referral, authorities: [], additionals: [] },
      ['authorities', 'additionals'],
    ],
    ['truncation without need', positive, { ...positive, tc: true, answers: [] }, ['tc', 'answers']],
    ['another question', positive, { ...positive, questions: [] }, ['question']],
    [
      'EDNS not asked for',
      positive,
      { ...positive, edns: { udpBytes: 1232, version: 0, do: false, options: [] } },
      ['edns'],
    ],
  ])('reports %s', (_, a, b, fields) => {
    expect(unexplained(a, b)).toEqual(fields)
    expect(unexplained(b, a)).toEqual(fields)
  })

  it('reports silence', () => {
    expect(compare({ query: asked, a: positive, b: 'silence' }, rules).unexplained).toEqual([{ field: 'presence' }])
  })

  it('takes order and letter case for the same answer', () => {
    const other = { ...positive, answers: [address('WWW.a.test.', 2), address('www.A.test.', 1)] }
    expect(compare({ query: asked, a: positive, b: other }, rules)).toEqual({ rules: new Set(), unexplained: [] })
  })

  it('counts optional data as agreement, and a choice of the server as none', () => {
    const ns = record('a.test.', TYPE.NS, parseName('ns.a.test.'))
    const optional = { ...positive, authorities: [ns], additionals: [address('ns.a.test.', 7)] }
    expect(agrees(compare({ query: asked, a: positive, b: optional }, rules))).toBe(true)
    const away = { ...EMPTY, answers: [alias('www.a.test.', 'www.b.test.')] }
    const followed = { ...away, answers: [...away.answers, address('www.b.test.', 1)] }
    const comparison = compare({ query: asked, a: away, b: followed }, rules)
    expect(comparison.unexplained).toEqual([])
    expect(agrees(comparison)).toBe(false)
  })
})
