// Valid zones at random: few labels, so that names meet as ancestors, wildcards, targets and empty non-terminals;
// aliases and delegations at a fair share of them; now and then a set that fills a message. A signed zone has a true
// NSEC or NSEC3 chain and signatures that are only noise: a server does not look into them.

import { parseRecord } from '../../src/dns/zonefile/format.ts'
import { TYPE } from '../../src/dns/types.ts'
import { below, canonicalOrder, isAtOrBelow, keyOf, lineage, type NameKey, ROOT_KEY, wireOf } from './names.ts'
import { base32hex, nsec3Hash } from './nsec3-hash.ts'
import type { Random } from './random.ts'
import type { PlainRecord, PlainZone } from './reference-zone.ts'

const EXAMPLE = below('example', ROOT_KEY)
const ORIGINS: readonly NameKey[] = [
  EXAMPLE,
  below('sub', EXAMPLE),
  below('a', below('b', EXAMPLE)),
  below('other', ROOT_KEY),
  below('w', below('other', ROOT_KEY)),
]
const OUTSIDE: readonly NameKey[] = [
  below('elsewhere', below('net', ROOT_KEY)),
  below('ns', below('net', ROOT_KEY)),
  ROOT_KEY,
]
const LABELS = ['a', 'b', 'c', 'd', '*', 'w', 'x', 'sub', 'ns', 'other', 'aa', '\0', '.', '\xff', 'y'.repeat(63), 'a-b']
const MAX_DEPTH = 4
/** Far enough below 64 KiB for the question, the owners and a signature. */
const LARGE_SET_BYTES = 30_000

/** Names over a small alphabet of labels, below any of some origins. */
export class NamePool {
  readonly labels: readonly string[]
  readonly origins: readonly NameKey[]

  constructor(random: Random, origins: readonly NameKey[]) {
    this.labels = Array.from({ length: random.between(3, 7) }, () => (random.chance(0.15) ? '*' : random.pick(LABELS)))
    this.origins = origins
  }

  name(random: Random, origin = random.pick(this.origins), maxDepth = MAX_DEPTH): NameKey {
    let name = origin
    for (let depth = random.below(maxDepth + 1); depth > 0; depth--) {
      const longer = below(random.pick(this.labels), name)
      if (longer.length > 255) break
      name = longer
    }
    return name
  }

  /** What an alias or a host name points at. */
  target(random: Random, origin: NameKey): NameKey {
    const kind = random.below(10)
    if (kind === 0) return random.pick(OUTSIDE)
    return kind < 3 ? this.name(random) : this.name(random, origin)
  }
}

/** Letters in either case; length bytes are no letters. */
export function mixCase(random: Random, name: NameKey): Uint8Array {
  return wireOf(name).map((byte) => (byte >= 0x61 && byte <= 0x7a && random.chance(0.2) ? byte - 0x20 : byte))
}

/** One to three zones, which may lie inside each other, and the pool their names come from. */
export function randomZones(random: Random): { zones: PlainZone[]; pool: NamePool } {
  const origins = random.shuffle([...ORIGINS]).slice(0, random.between(1, 3))
  if (random.chance(0.05)) origins[0] = ROOT_KEY
  const pool = new NamePool(random, origins)
  return { zones: origins.map((origin) => randomZone(random, origin, pool)), pool }
}

export function randomZone(random: Random, origin: NameKey, pool: NamePool): PlainZone {
  const maker = new ZoneMaker(random, origin, pool)
  const records = maker.make()
  return { origin: wireOf(origin), records, fallthrough: random.chance(0.2) }
}

/** A zone without a chain and signatures, for a program that signs. */
export function randomUnsignedZone(random: Random, origin: NameKey, pool: NamePool): PlainRecord[] {
  return new ZoneMaker(random, origin, pool).makeUnsigned()
}

class ZoneMaker {
  readonly #random: Random
  readonly #origin: NameKey
  readonly #pool: NamePool
  readonly #records: PlainRecord[] = []
  readonly #taken = new Set<NameKey>()
  /** Long chains need many aliases. */
  readonly #aliasShare: number

  constructor(random: Random, origin: NameKey, pool: NamePool) {
    this.#random = random
    this.#origin = origin
    this.#pool = pool
    this.#aliasShare = random.chance(0.1) ? 0.8 : 0
  }

  make(): PlainRecord[] {
    this.makeUnsigned()
    if (this.#random.chance(0.4)) this.#sign()
    return this.#random.shuffle(this.#records)
  }

  makeUnsigned(): PlainRecord[] {
    const random = this.#random
    this.#taken.add(this.#origin)
    const numbers = random.bytes(20)
    this.#add(this.#origin, TYPE.SOA, [concat(this.#target(), this.#target(), numbers)])
    this.#addNames(this.#origin, TYPE.NS)
    if (random.chance(0.1)) this.#addNames(this.#origin, TYPE.DNAME, 1)
    if (random.chance(0.5)) this.#addData(this.#origin)
    for (let count = random.between(1, 25); count > 0; count--) this.#addName(this.#pool.name(random, this.#origin))
    return this.#records
  }

  #addName(name: NameKey): void {
    if (this.#taken.has(name)) return
    this.#taken.add(name)
    const kind = this.#random.below(20)
    if (kind < 4 || this.#random.chance(this.#aliasShare)) this.#addNames(name, TYPE.CNAME, 1)
    else if (kind < 7 && !name.startsWith('\x01*')) this.#addDelegation(name)
    else if (kind < 9) {
      this.#addNames(name, TYPE.DNAME, 1)
      if (this.#random.chance(0.3)) this.#addData(name)
    } else this.#addData(name)
  }

  #addDelegation(name: NameKey): void {
    const random = this.#random
    const servers = random.chance(0.03) ? random.between(20, 60) : random.between(1, 3)
    const hosts = Array.from({ length: servers }, (_, i) =>
      random.chance(0.5) ? below(`ns${i}`, name) : this.#pool.target(random, this.#origin),
    ).filter((host) => host.length <= 255)
    if (hosts.length === 0) return
    this.#add(
      name,
      TYPE.NS,
      hosts.map((host) => mixCase(random, host)),
    )
    for (const host of new Set(hosts))
      if (isAtOrBelow(host, name) && host !== name && !this.#taken.has(host)) {
        this.#taken.add(host)
        this.#addSet(host, random.pick([TYPE.A, TYPE.AAAA]))
      }
    if (random.chance(0.4)) this.#addSet(name, TYPE.DS)
    if (random.chance(0.1)) this.#addSet(name, TYPE.A)
  }

  #addData(name: NameKey): void {
    const random = this.#random
    const types = new Set(Array.from({ length: random.between(1, 4) }, () => random.pick(DATA_TYPES)))
    for (const type of types) this.#addSet(name, type)
  }

  #addSet(name: NameKey, type: number): void {
    const random = this.#random
    if (NAME_AT.has(type)) return this.#addNames(name, type)
    const count = random.between(1, 4)
    if (random.chance(0.02)) {
      const texts = Array.from({ length: random.between(10, LARGE_SET_BYTES / 250) }, (_, i) =>
        concat(Uint8Array.of(200, i), random.bytes(199)),
      )
      return this.#add(name, TYPE.TXT, texts)
    }
    this.#add(
      name,
      type,
      Array.from({ length: count }, () => plainRdata(random, type)),
    )
  }

  #addNames(name: NameKey, type: number, count = this.#random.between(1, this.#random.chance(0.02) ? 60 : 3)): void {
    const random = this.#random
    this.#add(
      name,
      type,
      Array.from({ length: count }, () => concat(random.bytes(NAME_AT.get(type) ?? 0), this.#target())),
    )
  }

  #target(): Uint8Array {
    return mixCase(this.#random, this.#pool.target(this.#random, this.#origin))
  }

  #add(name: NameKey, type: number, rdatas: readonly Uint8Array[]): void {
    const random = this.#random
    const ttl = random.below(100_000)
    for (const rdata of rdatas) this.#records.push({ owner: mixCase(random, name), type, ttl, rdata })
  }

  /** RFC 4035 section 2: a chain over every name with authority and every cut, signatures for all but NS at cuts. */
  #sign(): void {
    const random = this.#random
    const cuts = this.#owners((record) => record.type === TYPE.NS)
    cuts.delete(this.#origin)
    const dnames = this.#owners((record) => record.type === TYPE.DNAME)
    const isHidden = (name: NameKey) =>
      lineage(name)
        .slice(1)
        .some((at) => isAtOrBelow(at, this.#origin) && (cuts.has(at) || dnames.has(at)))
    const signatureBytes = random.chance(0.1) ? 2000 : random.between(1, 64)
    const owners = [...this.#owners(() => true)].filter((name) => !isHidden(name))
    const provers = random.chance(0.5) ? this.#addNsec(owners) : this.#addNsec3(owners, cuts)
    // A chain that nobody signed proves nothing.
    if (random.chance(0.1)) return
    for (const owner of new Set([...owners, ...provers])) {
      const types = new Set(this.#records.filter((r) => keyOf(r.owner) === owner).map(({ type }) => type))
      for (const type of types) {
        if (cuts.has(owner) && type !== TYPE.DS && type !== TYPE.NSEC) continue
        const head = concat(Uint8Array.of(type >> 8, type), random.bytes(16), wireOf(this.#origin))
        this.#add(owner, TYPE.RRSIG, [concat(head, random.bytes(signatureBytes))])
      }
    }
  }

  #addNsec(owners: readonly NameKey[]): readonly NameKey[] {
    const sorted = owners.toSorted(canonicalOrder)
    for (const [i, owner] of sorted.entries()) {
      const next = wireOf(sorted[(i + 1) % sorted.length])
      this.#add(owner, TYPE.NSEC, [concat(next, Uint8Array.of(0, 6, 0, 0, 0, 0, 0, 3))])
    }
    return sorted
  }

  /**
   * RFC 5155 section 7.1: for empty non-terminals too, and with opt-out not for delegations without DS, nor perhaps for
   * the empty non-terminals that exist only because of them.
   */
  #addNsec3(owners: readonly NameKey[], cuts: ReadonlySet<NameKey>): readonly NameKey[] {
    const random = this.#random
    const optOut = random.chance(0.4)
    const signedCuts = this.#owners((record) => record.type === TYPE.DS)
    const isLeftOut = (name: NameKey) => optOut && cuts.has(name) && !signedCuts.has(name)
    const salt = random.bytes(random.below(9))
    const iterations = random.below(4)
    const parameters = (flags: number) => concat(Uint8Array.of(1, flags, 0, iterations, salt.length), salt)
    const unusable = [
      concat(Uint8Array.of(1, random.between(1, 255), 0, 1, 2), random.bytes(2)),
      concat(Uint8Array.of(random.between(2, 255), 0, 0, iterations, salt.length), salt),
      concat(Uint8Array.of(1, 0, 0, iterations, 9), random.bytes(9)),
    ].filter(() => random.chance(0.15))
    this.#add(this.#origin, TYPE.NSEC3PARAM, random.shuffle([parameters(0), ...unusable]))
    const withTheirAncestors = random.chance(0.5) ? owners.filter((name) => !isLeftOut(name)) : owners
    const names = new Set(withTheirAncestors.flatMap(lineage).filter((name) => isAtOrBelow(name, this.#origin)))
    const hashes = [...names]
      .filter((name) => !isLeftOut(name))
      .map((name) => nsec3Hash(name, salt, iterations))
      .sort((a, b) => Buffer.compare(a, b))
    return hashes.map((hash, i) => {
      const owner = below(base32hex(hash), this.#origin)
      const next = concat(Uint8Array.of(20), hashes[(i + 1) % hashes.length], Uint8Array.of(0, 1, 0x40))
      this.#add(owner, TYPE.NSEC3, [concat(parameters(optOut ? 1 : 0), next)])
      return owner
    })
  }

  #owners(which: (record: PlainRecord) => boolean): Set<NameKey> {
    return new Set(this.#records.filter(which).map(({ owner }) => keyOf(owner)))
  }
}

/** Types whose rdata is some bytes and then a name. */
const NAME_AT: ReadonlyMap<number, number> = new Map([
  [TYPE.NS, 0],
  [TYPE.CNAME, 0],
  [TYPE.DNAME, 0],
  [TYPE.PTR, 0],
  [TYPE.MX, 2],
  [TYPE.SRV, 6],
  [TYPE.SVCB, 2],
  [TYPE.HTTPS, 2],
  [TYPE.AFSDB, 2],
  [TYPE.KX, 2],
])

const DATA_TYPES = [
  ...[TYPE.A, TYPE.A, TYPE.AAAA, TYPE.AAAA, TYPE.TXT, TYPE.MX, TYPE.MX, TYPE.SRV, TYPE.PTR, TYPE.SVCB, TYPE.HTTPS],
  ...[TYPE.AFSDB, TYPE.KX, TYPE.HINFO, TYPE.RP, TYPE.NAPTR, TYPE.CAA, TYPE.TLSA, TYPE.LOC, TYPE.URI, 65_280],
]

const SAMPLES: ReadonlyMap<number, Uint8Array> = new Map(
  [
    'HINFO "PC" "Linux"',
    'RP mail.example. a.example.',
    'NAPTR 100 50 "s" "SIP+D2T" "" a.example.',
    'CAA 0 issue "ca.example"',
    'TLSA 3 1 1 AABB',
    'LOC 42 21 54.000 N 71 6 18.000 W -24.00m 30m 10000m 10m',
    'URI 10 1 "https://x/"',
  ].map((text) => {
    const { type, rdata } = parseRecord(`a. 60 ${text}`, wireOf(ROOT_KEY))
    return [type, rdata]
  }),
)

function plainRdata(random: Random, type: number): Uint8Array {
  switch (type) {
    case TYPE.A:
      return random.bytes(4)
    case TYPE.AAAA:
      return random.bytes(16)
    case TYPE.TXT: {
      const length = random.below(random.chance(0.2) ? 256 : 20)
      return concat(Uint8Array.of(length), random.bytes(length))
    }
    case TYPE.DS:
      return concat(random.bytes(3), Uint8Array.of(2), random.bytes(32))
    default:
      return SAMPLES.get(type) ?? random.bytes(random.below(40))
  }
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts))
}
