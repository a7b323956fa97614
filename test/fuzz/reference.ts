// What a zone answers, written to be read beside RFC 1034 section 4.3.2, RFC 4592, RFC 6672 and RFC 4035 section 3.1,
// and to share nothing with src/zone: maps of names to records, walked from the apex down, sections as lists.

import type { ResourceRecord } from '../../src/dns/message.ts'
import { canonicalRdata } from '../../src/dns/rdata/rdata.ts'
import { RCODE, TYPE } from '../../src/dns/types.ts'
import { isAtOrBelow, keyOf, lineage, type NameKey, ROOT_KEY, wireOf } from './names.ts'
import type { ReferenceZone, Rrset } from './reference-zone.ts'

/** A record as it is compared: owner and canonical rdata in hexadecimal. */
export function recordKey(owner: NameKey, type: number, ttl: number, rdata: Uint8Array): string {
  const canonical = Buffer.from(canonicalRdata(type, rdata)).toString('hex')
  return `${Buffer.from(owner, 'latin1').toString('hex')} ${type} ${ttl} ${canonical}`
}

export function keyOfRecord(record: ResourceRecord): string {
  return recordKey(keyOf(record.name), record.type, record.ttlSeconds, record.rdata)
}

export interface Expected {
  elsewhere: boolean
  rcode: number
  aa: boolean
  answers: string[]
  authorities: string[]
  additionals: string[]
  /** Those of the additional records that must not be left out without TC (RFC 9471). */
  glue: string[]
}

export interface Asked {
  readonly name: NameKey
  readonly type: number
  readonly dnssecOk: boolean
  readonly minimalAny: boolean
  readonly handsOver: boolean
}

/** The longest chain of aliases that is followed. */
const MAX_CHAIN = 16
/** The longest chain of SVCB or HTTPS records that is followed for the additional section. */
const MAX_SERVICES = 4
const HINFO_RFC8482 = Uint8Array.from(Buffer.from('\x07RFC8482\0', 'latin1'))
const POINTS_AT_HOSTS: ReadonlyMap<number, number> = new Map([
  [TYPE.NS, 0],
  [TYPE.MX, 2],
  [TYPE.SRV, 6],
  [TYPE.SVCB, 2],
  [TYPE.HTTPS, 2],
])

export function lookup(zones: readonly ReferenceZone[], asked: Asked): Expected {
  return new Lookup(zones, asked).run()
}

class Lookup {
  readonly #zones: readonly ReferenceZone[]
  readonly #asked: Asked
  readonly #result: Expected = {
    elsewhere: false,
    rcode: RCODE.NOERROR,
    aa: false,
    answers: [],
    authorities: [],
    additionals: [],
    glue: [],
  }
  /** The names that aliases were followed for, one per link of the chain, and the DNAME sets that are in the answer. */
  readonly #passed: NameKey[] = []
  readonly #substituted = new Set<Rrset>()
  /** Proofs that follow the answers. */
  readonly #owed: (() => void)[] = []
  #name: NameKey

  constructor(zones: readonly ReferenceZone[], asked: Asked) {
    this.#zones = zones
    this.#asked = asked
    this.#name = asked.name
  }

  run(): Expected {
    const result = this.#result
    let zone = this.#zoneFor(this.#name)
    if (zone === undefined) {
      result.elsewhere = this.#asked.handsOver
      result.rcode = RCODE.REFUSED
      return result.elsewhere && this.#asked.type === TYPE.ANY && this.#asked.minimalAny ? this.#minimalAny() : result
    }
    result.aa = true
    while (zone !== undefined && this.#answerIn(zone) === 'goes on') {
      zone = this.#zoneFor(this.#name)
      if (zone === undefined) result.elsewhere = this.#asked.handsOver
    }
    if (result.elsewhere && this.#asked.type === TYPE.ANY && this.#asked.minimalAny) return this.#minimalAny()
    for (const prove of this.#owed) prove()
    return result
  }

  /** ANY is not asked elsewhere (RFC 8482 section 4.2). */
  #minimalAny(): Expected {
    return {
      ...{ elsewhere: false, rcode: RCODE.NOERROR, aa: false, authorities: [], additionals: [], glue: [] },
      answers: [recordKey(this.#asked.name, TYPE.HINFO, 3600, HINFO_RFC8482)],
    }
  }

  /** The zone nearest to the name; for DS the one above a zone's own name (RFC 4035 section 3.1.4.1). */
  #zoneFor(name: NameKey): ReferenceZone | undefined {
    const around = this.#zonesAround(name)
    const above = around.find((zone) => zone.origin !== name)
    return this.#asked.type === TYPE.DS && name !== ROOT_KEY ? (above ?? around[0]) : around[0]
  }

  /** The nearest one first. */
  #zonesAround(name: NameKey): ReferenceZone[] {
    return this.#zones
      .filter((zone) => isAtOrBelow(name, zone.origin))
      .sort((a, b) => b.origin.length - a.origin.length)
  }

  #answerIn(zone: ReferenceZone): 'done' | 'goes on' {
    const name = this.#name
    for (const at of zone.pathTo(name)) {
      if (zone.isDelegation(at) && !(at === name && this.#asked.type === TYPE.DS)) return this.#refer(zone, at)
      if (at !== name && zone.set(at, TYPE.DNAME) !== undefined) return this.#substitute(zone, at)
    }
    if (zone.nodes.has(name)) return this.#answerFrom(zone, name)
    const wildcard = `\x01*${zone.closestEncloser(name)}`
    if (zone.nodes.has(wildcard)) return this.#answerFrom(zone, wildcard)
    return this.#denyName(zone)
  }

  #refer(zone: ReferenceZone, cut: NameKey): 'done' {
    if (this.#passed.length === 0) this.#result.aa = false
    const servers = zone.set(cut, TYPE.NS)!
    this.#add('authorities', cut, servers)
    if (this.#proves(zone)) {
      if (zone.set(cut, TYPE.DS) !== undefined) this.#addSigned('authorities', zone, cut, TYPE.DS)
      else this.#proveNoData(zone, cut)
    }
    this.#addHosts(zone, servers, { source: cut, owner: cut }, () => true)
    for (const host of hostsOf(servers).filter((name) => isAtOrBelow(name, cut)))
      for (const type of [TYPE.A, TYPE.AAAA]) this.#add('glue', host, zone.set(host, type) ?? [])
    return 'done'
  }

  #substitute(zone: ReferenceZone, at: NameKey): 'done' | 'goes on' {
    const set = zone.set(at, TYPE.DNAME)!
    const name = this.#name
    if (this.#passed.includes(name) || this.#passed.length === MAX_CHAIN) return 'done'
    this.#passed.push(name)
    if (!this.#substituted.has(set)) this.#addSigned('answers', zone, at, TYPE.DNAME)
    this.#substituted.add(set)
    const target = name.slice(0, name.length - at.length) + keyOf(set[0].rdata)
    if (target.length > 255) {
      this.#result.rcode = RCODE.YXDOMAIN
      return 'done'
    }
    this.#result.answers.push(recordKey(name, TYPE.CNAME, set[0].ttl, wireOf(target)))
    this.#name = target
    return this.#asked.type === TYPE.CNAME || this.#asked.type === TYPE.ANY ? 'done' : 'goes on'
  }

  /** Data at `source`: the name itself, or the wildcard that stands in for it. */
  #answerFrom(zone: ReferenceZone, source: NameKey): 'done' | 'goes on' {
    const { type } = this.#asked
    const name = this.#name
    const node = zone.nodes.get(source)!
    const alias = zone.set(source, TYPE.CNAME)
    if (alias !== undefined && ![TYPE.CNAME, TYPE.ANY, TYPE.RRSIG, TYPE.NSEC].some((beside) => beside === type)) {
      if (this.#passed.includes(name) || this.#passed.length === MAX_CHAIN) {
        if (source !== name) this.#oweCovering(zone)
        return 'done'
      }
      this.#passed.push(name)
      this.#addSigned('answers', zone, source, TYPE.CNAME)
      if (source !== name) this.#oweCovering(zone)
      this.#name = keyOf(alias[0].rdata)
      return 'goes on'
    }
    const found = [...node].filter(([key]) => {
      if (type === TYPE.ANY) return true
      return type === TYPE.RRSIG ? key.startsWith(`${TYPE.RRSIG} `) : key === String(type)
    })
    if (found.length === 0) return this.#denyType(zone, source)
    if (type === TYPE.ANY && this.#asked.minimalAny && !zone.signed) {
      // RFC 8482 section 4.2.
      this.#result.answers.push(recordKey(name, TYPE.HINFO, 3600, HINFO_RFC8482))
      return 'done'
    }
    // RFC 8482 section 4.1: of a signed name one set will do, but not a signature alone.
    const isMinimal = type === TYPE.ANY && this.#asked.minimalAny
    const sets = isMinimal ? found.filter(([, [{ type }]]) => type !== TYPE.RRSIG).slice(0, 1) : found
    if (sets.length === 0) return this.#denyType(zone, source)
    for (const [, set] of sets) this.#add('answers', name, set)
    const isOneSet = isMinimal || (type !== TYPE.ANY && type !== TYPE.RRSIG)
    const [[, set]] = sets
    if (isOneSet && this.#asked.dnssecOk) this.#add('answers', name, zone.signatures(source, set[0].type))
    if (isOneSet && !isMinimal) this.#addHosts(zone, set, { source, owner: name }, (host) => !zone.isOccluded(host))
    if (source !== name) this.#oweCovering(zone)
    return 'done'
  }

  #denyName(zone: ReferenceZone): 'done' | 'goes on' {
    if (zone.fallthrough && this.#passed.length === 0) {
      const outer = this.#zonesAround(this.#name).find(({ origin }) => origin.length < zone.origin.length)
      if (outer !== undefined) return this.#answerIn(outer)
      if (this.#asked.handsOver) {
        this.#result.elsewhere = true
        return 'done'
      }
    }
    this.#result.rcode = RCODE.NXDOMAIN
    this.#addSoa(zone)
    if (this.#proves(zone)) {
      const encloser = provableEncloser(zone, this.#name)
      this.#proveNoName(zone, encloser, 'with its encloser')
      this.#proveNoMatch(zone, `\x01*${encloser}`)
    }
    return 'done'
  }

  #denyType(zone: ReferenceZone, source: NameKey): 'done' {
    this.#addSoa(zone)
    if (this.#proves(zone)) {
      if (source === this.#name) this.#proveNoData(zone, source)
      else {
        this.#proveNoName(zone, provableEncloser(zone, this.#name), 'with its encloser')
        if (!zone.hasNsec3) this.#proveNoData(zone, source)
        else if (zone.matchingNsec3(source) !== undefined) this.#addNsec(zone, zone.matchingNsec3(source)!)
      }
    }
    return 'done'
  }

  /** RFC 2308 section 5: the TTL of a negative answer. */
  #addSoa(zone: ReferenceZone): void {
    const [soa] = zone.set(zone.origin, TYPE.SOA)!
    const ttl = Math.min(soa.ttl, Buffer.from(soa.rdata).readUInt32BE(soa.rdata.length - 4))
    this.#add('authorities', zone.origin, [soa], ttl)
    if (this.#asked.dnssecOk) this.#add('authorities', zone.origin, zone.signatures(zone.origin, TYPE.SOA), ttl)
  }

  /** RFC 4035 section 3.1.3.3: the name itself does not exist. */
  #oweCovering(zone: ReferenceZone): void {
    const name = this.#name
    if (!this.#proves(zone)) return
    this.#owed.push(() => {
      this.#name = name
      this.#proveNoName(zone, zone.closestEncloser(name), 'alone')
    })
  }

  /** That the name does not exist: with NSEC3 the name one label below the closest encloser. */
  #proveNoName(zone: ReferenceZone, encloser: NameKey, how: 'alone' | 'with its encloser'): void {
    const path = lineage(this.#name)
    const nextCloser = path[path.indexOf(encloser) - 1]
    if (zone.hasNsec3 && how === 'with its encloser') this.#addNsec(zone, zone.matchingNsec3(encloser)!)
    this.#proveNoMatch(zone, zone.hasNsec3 ? nextCloser : this.#name)
  }

  #proveNoMatch(zone: ReferenceZone, name: NameKey): void {
    this.#addNsec(zone, zone.hasNsec3 ? zone.coveringNsec3(name) : zone.nsecOwnerFor(name))
  }

  /** That a name is without the type; what opt-out left out is proved by its closest encloser (RFC 5155 section 7.2.4). */
  #proveNoData(zone: ReferenceZone, name: NameKey): void {
    if (!zone.hasNsec3) return this.#addNsec(zone, zone.nsecOwnerFor(name))
    const path = lineage(name)
    const proved = path.findIndex((at) => zone.matchingNsec3(at) !== undefined)
    this.#addNsec(zone, zone.matchingNsec3(path[proved])!)
    if (proved > 0) this.#addNsec(zone, zone.coveringNsec3(path[proved - 1]))
  }

  #proves(zone: ReferenceZone): boolean {
    return this.#asked.dnssecOk && zone.signed
  }

  #addNsec(zone: ReferenceZone, owner: NameKey): void {
    const type = zone.hasNsec3 ? TYPE.NSEC3 : TYPE.NSEC
    const set = zone.set(owner, type)
    if (set === undefined) return
    if (this.#result.authorities.includes(recordKey(owner, type, set[0].ttl, set[0].rdata))) return
    this.#addSigned('authorities', zone, owner, type)
  }

  /** A set of a name and, for DNSSEC, its signatures; the owner is the name asked for where a wildcard stands in. */
  #addSigned(section: 'answers' | 'authorities', zone: ReferenceZone, source: NameKey, type: number): void {
    const owner = source.startsWith('\x01*') && type === TYPE.CNAME ? this.#name : source
    this.#add(section, owner, zone.set(source, type)!)
    if (this.#asked.dnssecOk) this.#add(section, owner, zone.signatures(source, type))
  }

  /** Addresses of the hosts that a set points at, where this zone has them, and the services of those (RFC 9460). */
  #addHosts(
    zone: ReferenceZone,
    set: Rrset,
    self: Place,
    mayBeTold: (host: NameKey) => boolean,
    seen = { hosts: new Set<NameKey>(), services: new Set([self.source]) },
    depth = 0,
  ): void {
    const isService = set[0].type === TYPE.SVCB || set[0].type === TYPE.HTTPS
    for (const { host, isOwner } of targetsOf(set)) {
      if (isService && host === ROOT_KEY && !isOwner) continue
      const place = isOwner ? self : { source: host, owner: host }
      if (!zone.nodes.has(place.source) || !mayBeTold(place.source) || seen.hosts.has(place.source)) continue
      seen.hosts.add(place.source)
      const services = isService ? zone.set(place.source, set[0].type) : undefined
      if (services !== undefined && depth < MAX_SERVICES && !seen.services.has(place.source)) {
        seen.services.add(place.source)
        this.#addAdditional(zone, place, set[0].type)
        this.#addHosts(zone, services, place, (name) => !zone.isOccluded(name), seen, depth + 1)
      }
      for (const type of [TYPE.A, TYPE.AAAA]) this.#addAdditional(zone, place, type)
    }
  }

  #addAdditional(zone: ReferenceZone, { source, owner }: Place, type: number): void {
    this.#add('additionals', owner, zone.set(source, type) ?? [])
    if (this.#asked.dnssecOk) this.#add('additionals', owner, zone.signatures(source, type))
  }

  /** The TTL of a set is its first record's (RFC 2181 section 5.2). */
  #add(
    section: 'answers' | 'authorities' | 'additionals' | 'glue',
    owner: NameKey,
    set: Rrset,
    ttl = set[0]?.ttl,
  ): void {
    for (const { type, rdata } of set) this.#result[section].push(recordKey(owner, type, ttl, rdata))
  }
}

/** With NSEC3, the nearest ancestor that has one: opt-out leaves some without (RFC 5155 section 7.2.1). */
function provableEncloser(zone: ReferenceZone, name: NameKey): NameKey {
  const encloser = zone.closestEncloser(name)
  return zone.hasNsec3 ? lineage(encloser).find((at) => zone.matchingNsec3(at) !== undefined)! : encloser
}

/** Where records are, and the name they are told for, which differ for a wildcard. */
interface Place {
  readonly source: NameKey
  readonly owner: NameKey
}

/** The hosts in the order of the records; `.` of a service that is no alias is the owner (RFC 9460 section 2.5.2). */
function targetsOf(set: Rrset): { host: NameKey; isOwner: boolean }[] {
  const [{ type }] = set
  if (!POINTS_AT_HOSTS.has(type)) return []
  const isService = type === TYPE.SVCB || type === TYPE.HTTPS
  return set.map(({ rdata }, i) => {
    const [host] = hostsOf([set[i]])
    return { host, isOwner: isService && host === ROOT_KEY && (rdata[0] | rdata[1]) !== 0 }
  })
}

function hostsOf(set: Rrset): NameKey[] {
  const at = POINTS_AT_HOSTS.get(set[0].type)
  return at === undefined ? [] : [...new Set(set.map(({ rdata }) => firstName(rdata.subarray(at))))]
}

function firstName(wire: Uint8Array): NameKey {
  let end = 0
  while (wire[end] !== 0) end += 1 + wire[end]
  return keyOf(wire.subarray(0, end + 1))
}
