// What is asked of a SkyDNS tree: every name of a key, every name above it, some that are not there, and the same with
// `*` and `any` for labels; types that SkyDNS answers and some that it does not, in several shapes of query.

import { formatName, parseName } from '../../src/dns/name.ts'
import { opt, type Query, query, type Shape } from '../conformance/queries.ts'
import type { Random } from '../fuzz/random.ts'
import { type Tree, zoneLabels } from './random-tree.ts'

const TYPES = ['A', 'AAAA', 'CNAME', 'TXT', 'PTR', 'MX', 'SRV', 'NS', 'SOA', 'HTTPS', 'HINFO', 'TYPE65280']
const SEARCH_TYPES = ['A', 'AAAA', 'SRV', 'MX', 'TXT', 'CNAME']

const SHAPES: readonly (readonly [string, Shape, Query['transport']])[] = [
  ['plain', {}, 'udp'],
  ['rd', { rd: true }, 'udp'],
  ['edns1232', { rd: true, edns: opt({ udpBytes: 1232 }) }, 'udp'],
  ['edns512,do', { edns: opt({ udpBytes: 512, do: true }) }, 'udp'],
  ['tcp', { rd: true }, 'tcp'],
  ['tcp,edns', { edns: opt({ udpBytes: 1232 }) }, 'tcp'],
]

/** `share` of all questions there are for a tree. */
export function questionsOf(random: Random, prefix: string, { zone, keys }: Tree, share: number): Query[] {
  const zoneDepth = zoneLabels(zone).length
  const names = new Set([zone, `missing.${zone}`, `*.${zone}`, `any.${zone}`])
  for (const { key } of keys) {
    const labels = key
      .slice(prefix.length + 1)
      .split('/')
      .filter((label) => label !== '')
    for (let depth = zoneDepth; depth <= labels.length; depth++) names.add(nameOf(labels.slice(0, depth)))
    names.add(nameOf([...labels, 'missing']))
    if (labels.length === zoneDepth) continue
    const at = random.between(zoneDepth, labels.length - 1)
    const any = random.pick(['*', 'any'])
    names.add(nameOf(labels.with(at, any)))
    names.add(nameOf([...labels.slice(0, at), any]))
  }
  const types = (name: string) => (/(?:^|\.)(?:\*|any)\./u.test(name) ? SEARCH_TYPES : TYPES)
  const asked = [...names].flatMap((name) => types(name).map((type): [string, string] => [name, type]))
  return asked
    .filter(() => random.chance(share))
    .map(([name, type]) => ask(random.chance(0.1) ? mixedCase(name) : name, type, random))
}

export function ask(name: string, type: string, random: Random): Query {
  const wire = parseName(name)
  const [shape, parts, transport] = random.pick(SHAPES)
  return query(wire, type, parts, { label: `${formatName(wire)} ${type} (${shape})`, transport })
}

/** Of labels from the top. */
function nameOf(labels: readonly string[]): string {
  return `${labels.toReversed().map(escaped).join('.')}.`
}

/** As a master file has it (RFC 1035 section 5.1). */
function escaped(label: string): string {
  const byte = (value: number) => `\\${String(value).padStart(3, '0')}`
  return [...Buffer.from(label)]
    .map((value) =>
      /[\w*-]/u.test(String.fromCharCode(value)) && value < 128 ? String.fromCharCode(value) : byte(value),
    )
    .join('')
}

function mixedCase(name: string): string {
  return [...name].map((letter, i) => (i % 2 === 0 ? letter.toUpperCase() : letter)).join('')
}
