// A zone as the reference sees it: every name that exists, with its sets, and the chain that proves what does not.

import { canonicalRdata } from '../../src/dns/rdata/rdata.ts'
import { TYPE } from '../../src/dns/types.ts'
import { below, canonicalOrder, isAtOrBelow, keyOf, lineage, type NameKey } from './names.ts'
import { base32hex, nsec3Hash } from './nsec3-hash.ts'

export interface PlainRecord {
  readonly owner: Uint8Array
  readonly ttl: number
  readonly type: number
  readonly rdata: Uint8Array
}

export interface PlainZone {
  readonly origin: Uint8Array
  readonly records: readonly PlainRecord[]
  readonly fallthrough: boolean
}

export type Rrset = readonly PlainRecord[]
/** By type, and for signatures by RRSIG and the type covered. */
type Node = Map<string, PlainRecord[]>

function setKey(record: PlainRecord): string {
  return record.type === TYPE.RRSIG ? signatureKey((record.rdata[0] << 8) | record.rdata[1]) : String(record.type)
}

function signatureKey(covered: number): string {
  return `${TYPE.RRSIG} ${covered}`
}

export class ReferenceZone {
  readonly origin: NameKey
  readonly fallthrough: boolean
  /** Every name that exists, empty non-terminals (RFC 4592 section 2.2.2) included. */
  readonly nodes = new Map<NameKey, Node>()
  readonly #nsecOwners: NameKey[]
  /** The names that only NSEC3 has made: they do not exist for questions (RFC 5155 section 7.2.8). */
  readonly #hashed = new Map<NameKey, Node>()
  readonly #nsec3Owners: NameKey[]

  constructor(zone: PlainZone) {
    this.origin = keyOf(zone.origin)
    this.fallthrough = zone.fallthrough
    const hashed = new Set(zone.records.filter(({ type }) => type === TYPE.NSEC3).map(({ owner }) => keyOf(owner)))
    for (const record of zone.records) {
      const node = this.#nodeOf(keyOf(record.owner), hashed)
      const set = node.get(setKey(record)) ?? []
      node.set(setKey(record), set)
      // RFC 2181 section 5: records that differ in the letter case of a name are the same.
      const canonical = canonicalRdata(record.type, record.rdata)
      const isKnown = set.some(({ type, rdata }) => Buffer.compare(canonicalRdata(type, rdata), canonical) === 0)
      if (!isKnown) set.push(record)
    }
    this.#nsecOwners = [...this.nodes.keys()].filter((name) => this.set(name, TYPE.NSEC)).sort(canonicalOrder)
    this.#nsec3Owners = [...hashed].sort()
  }

  #nodeOf(owner: NameKey, hashed: ReadonlySet<NameKey>): Node {
    if (hashed.has(owner)) {
      const node = this.#hashed.get(owner) ?? new Map()
      this.#hashed.set(owner, node)
      return node
    }
    for (const name of lineage(owner)) {
      if (!this.nodes.has(name)) this.nodes.set(name, new Map())
      if (name === this.origin) break
    }
    return this.nodes.get(owner)!
  }

  set(name: NameKey, type: number): Rrset | undefined {
    return (this.nodes.get(name) ?? this.#hashed.get(name))?.get(String(type))
  }

  signatures(name: NameKey, covered: number): Rrset {
    return (this.nodes.get(name) ?? this.#hashed.get(name))?.get(signatureKey(covered)) ?? []
  }

  get hasNsec3(): boolean {
    return this.#parameters !== undefined
  }

  /** Whether there is a chain, and it is signed. */
  get signed(): boolean {
    if (this.signatures(this.origin, TYPE.SOA).length === 0) return false
    return this.hasNsec3 || this.set(this.origin, TYPE.NSEC) !== undefined
  }

  /** RFC 5155 sections 4.1.2 and 7.3: of several NSEC3PARAM one without flags, with a known hash and with a chain. */
  get #parameters(): Uint8Array | undefined {
    const [first] = this.#nsec3Owners.map((owner) => this.set(owner, TYPE.NSEC3)![0].rdata)
    if (first === undefined) return undefined
    const ofChain = Buffer.from([first[0], 0, ...first.subarray(2, 5 + first[4])])
    return this.set(this.origin, TYPE.NSEC3PARAM)?.find(({ rdata }) => ofChain.equals(rdata))?.rdata
  }

  /** The owner of the NSEC that matches or covers a name. */
  nsecOwnerFor(name: NameKey): NameKey {
    return this.#nsecOwners.findLast((owner) => canonicalOrder(owner, name) <= 0)!
  }

  /** The owner of the NSEC3 that matches a name, if there is one. */
  matchingNsec3(name: NameKey): NameKey | undefined {
    const owner = this.#hashedName(name)
    return this.#nsec3Owners.includes(owner) ? owner : undefined
  }

  /** The owner of the NSEC3 that covers or matches a name; the last one covers what is before the first. */
  coveringNsec3(name: NameKey): NameKey {
    const hashed = this.#hashedName(name)
    return this.#nsec3Owners.findLast((owner) => owner <= hashed) ?? this.#nsec3Owners.at(-1)!
  }

  #hashedName(name: NameKey): NameKey {
    const rdata = this.#parameters!
    const iterations = (rdata[2] << 8) | rdata[3]
    return below(base32hex(nsec3Hash(name, rdata.subarray(5), iterations)), this.origin)
  }

  closestEncloser(name: NameKey): NameKey {
    return lineage(name).find((at) => this.nodes.has(at))!
  }

  /** The apex, and each label down to the name. */
  pathTo(name: NameKey): NameKey[] {
    return lineage(name)
      .filter((at) => isAtOrBelow(at, this.origin))
      .reverse()
  }

  isDelegation(name: NameKey): boolean {
    return name !== this.origin && this.set(name, TYPE.NS) !== undefined
  }

  /** Whether the zone has no authority over the name: at or below a cut, or below a DNAME. */
  isOccluded(name: NameKey): boolean {
    return this.pathTo(name).some(
      (at) => this.isDelegation(at) || (at !== name && this.set(at, TYPE.DNAME) !== undefined),
    )
  }
}
