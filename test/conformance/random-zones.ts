// Zones at random for a comparison with other servers: the generator of test/fuzz makes the records, a third of the
// zones is left unsigned, and BIND's tools sign the others with NSEC, NSEC3 or NSEC3 with opt-out.

import { formatRecord } from '../../src/dns/zonefile/format.ts'
import { formatName, lowerName, parseName } from '../../src/dns/name.ts'
import { TYPE } from '../../src/dns/types.ts'
import { below, keyOf, lineage, type NameKey, parentOf, ROOT_KEY, wireOf } from '../fuzz/names.ts'
import { NamePool, randomUnsignedZone } from '../fuzz/random-zone.ts'
import type { Random } from '../fuzz/random.ts'
import type { PlainRecord } from '../fuzz/reference-zone.ts'
import type { ZonePlan } from './zones.ts'

const WAYS: readonly (readonly string[] | undefined)[] = [
  undefined,
  undefined,
  [],
  [],
  ['-3', 'c0ffee', '-H', '3'],
  ['-3', '-', '-H', '0', '-A'],
]
/** dnssec-signzone hashes the wildcard below each name, too. */
const LONGEST_SIGNED_NAME = 250
/** BIND takes no more into a set. */
const MOST_RECORDS = 100
const MOST_TTL = 86_400
/** At the apex: BIND refuses a zone with a host of its own there that has no address. */
const OUTSIDE = 'NS ns.elsewhere.invalid.'

/** `count` zones below `random.test.`, of which some are inside others. */
export function randomPlans(random: Random, count: number): ZonePlan[] {
  const top = below('random', below('test', ROOT_KEY))
  const origins: NameKey[] = []
  for (let i = 0; i < count; i++) {
    const parent = origins.length > 0 && random.chance(0.3) ? random.pick(origins) : top
    origins.push(below(`z${i}`, parent))
  }
  return origins.map((origin): ZonePlan => {
    const related = origins.filter((other) => lineage(other).includes(origin) || lineage(origin).includes(other))
    const pool = new NamePool(random, [origin, ...related])
    const records = randomUnsignedZone(random, origin, pool)
    const children = origins.filter((other) => parentOf(other) === origin)
    const cuts = children.flatMap((child) => delegation(random, formatName(wireOf(child))))
    return {
      origin: formatName(wireOf(origin)),
      text: zoneText(formatName(wireOf(origin)), records, cuts),
      how: random.pick(WAYS),
    }
  })
}

/**
 * Records that every server takes: for BIND no set too long and no name too long to be hashed, for NSD nothing below a
 * DNAME, for Knot no DNAME at a wildcard (RFC 4592 section 4.4).
 */
function zoneText(origin: string, records: readonly PlainRecord[], cuts: readonly string[]): string {
  const apex = keyOf(parseName(origin))
  const hasChildren = cuts.length > 0
  const isDname = ({ type, owner }: PlainRecord) =>
    type === TYPE.DNAME && !isWildcard(owner) && !(hasChildren && keyOf(owner) === apex)
  const dnames = new Set(records.filter(isDname).map(({ owner }) => keyOf(owner)))
  const counts = new Map<string, number>()
  const kept = records.filter(({ owner, type }) => {
    const set = `${keyOf(owner)} ${type}`
    counts.set(set, (counts.get(set) ?? 0) + 1)
    if (type === TYPE.NS && keyOf(owner) === apex) return false
    const isBelowDname = lineage(keyOf(owner)).some((name, i) => i > 0 && dnames.has(name))
    if (isBelowDname || (type === TYPE.DNAME && !dnames.has(keyOf(owner)))) return false
    return owner.length <= LONGEST_SIGNED_NAME && counts.get(set)! <= MOST_RECORDS
  })
  const soaFirst = kept.toSorted((a, b) => Number(b.type === TYPE.SOA) - Number(a.type === TYPE.SOA))
  const lines = soaFirst.map(({ owner, ttl, type, rdata }) =>
    formatRecord(owner, ttl % MOST_TTL, type, withPlainData(type, rdata)),
  )
  return `${[...lines, `${origin} 300 IN ${OUTSIDE}`, ...cuts].join('\n')}\n`
}

/** NSD takes periods of 2³¹ seconds and more for mistakes, and changes the letter case of names in newer types. */
function withPlainData(type: number, rdata: Uint8Array): Uint8Array {
  if (type === TYPE.SVCB || type === TYPE.HTTPS)
    return Uint8Array.of(...rdata.slice(0, 2), ...lowerName(rdata.slice(2)))
  if (type !== TYPE.SOA) return rdata
  const numbers = rdata.length - 20
  return rdata.map((byte, i) => (i >= numbers && (i - numbers) % 4 === 0 ? byte & 0x7f : byte))
}

/** Of a zone that is here, too; every other one is signed. */
function delegation(random: Random, child: string): string[] {
  const servers = `${child} 300 IN ${OUTSIDE}`
  const digest = Buffer.from(random.bytes(32)).toString('hex')
  return random.chance(0.5) ? [servers] : [servers, `${child} 300 IN DS 4711 13 2 ${digest}`]
}

function isWildcard(name: Uint8Array): boolean {
  return name[0] === 1 && name[1] === 0x2a
}
