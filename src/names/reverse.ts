// PTR records from the A and AAAA records of other zones. An address is kept as its hexadecimal digits: one label of
// ip6.arpa is one digit, one of in-addr.arpa two, so a reverse zone is a prefix of digits, and the longest one wins.

import { lowerName, parseName } from '../dns/name.ts'
import { TYPE } from '../dns/types.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { ZonePart } from './part.ts'

export interface ReverseOptions {
  /** Origins at or below in-addr.arpa. and ip6.arpa. */
  readonly zones: readonly string[]
  readonly ttlSeconds: number
  readonly partOf: (origin: string) => ZonePart
}

/** More names for one address than this are of no use to anyone, and would not fit in a message. */
const MAX_OWNERS = 100
const IPV4_DIGITS = 8
const WILDCARD = '\u0001*'

export class ReverseNames {
  readonly #ttl: number
  readonly #partOf: (origin: string) => ZonePart
  readonly #zones: readonly ReverseZones[]
  /** Owner (wire form in lower case, as latin1) to its addresses in our zones, joined by commas. */
  readonly #addresses = new Map<string, string>()
  /** Address to its owner, or its owners where there are several. */
  readonly #owners = new Map<string, string | Set<string>>()
  /** By origin, the addresses to be published. */
  readonly #touched = new Map<string, Set<string>>()

  constructor({ zones, ttlSeconds, partOf }: ReverseOptions) {
    this.#ttl = ttlSeconds
    this.#partOf = partOf
    this.#zones = [new ReverseZones(zones, 4), new ReverseZones(zones, 6)]
    const misplaced = zones.find(
      (origin) => reversePrefix(origin, 4) === undefined && reversePrefix(origin, 6) === undefined,
    )
    if (misplaced !== undefined) {
      const wanted = 'name a zone at or below in-addr.arpa. or ip6.arpa., one label for each octet or hexadecimal digit'
      throw new HoldfastError(
        'NoReverseZone',
        `Cannot keep PTR records in "${misplaced}": it is no reverse zone; ${wanted}`,
      )
    }
  }

  /** All addresses (4 or 16 bytes each) that a name has now, over all zones; none takes it away. */
  set(owner: Uint8Array, addresses: readonly Uint8Array[]): void {
    const name = Buffer.from(lowerName(owner)).toString('latin1')
    if (name.startsWith(WILDCARD)) return
    const before = this.#addresses.get(name) ?? ''
    const wanted = this.#wanted(addresses)
    const after = wanted.join(',')
    if (after === before) return
    if (after === '') this.#addresses.delete(name)
    else this.#addresses.set(name, after)
    const known = before === '' ? [] : before.split(',')
    for (const address of known) if (!wanted.includes(address)) this.#remove(address, name)
    for (const address of wanted) if (!known.includes(address)) this.#add(address, name)
  }

  /** Publishes what has changed since the last commit. */
  commit(serial: number): void {
    for (const [origin, addresses] of this.#touched) {
      const part = this.#partOf(origin)
      for (const address of addresses) {
        const records = firstOf(this.#owners.get(address)).map((name) => {
          return { type: TYPE.PTR, ttl: this.#ttl, rdata: Uint8Array.from(Buffer.from(name, 'latin1')) }
        })
        part.set(reverseName(address), records)
      }
      part.commit(serial)
    }
    this.#touched.clear()
  }

  /** The digits of those that have a zone here, each once, in order. */
  #wanted(addresses: readonly Uint8Array[]): string[] {
    const digits = addresses.map((address) => Buffer.from(address).toString('hex'))
    const ours = digits.filter((address) => this.#zoneOf(address) !== undefined)
    return ours.length < 2 ? ours : [...new Set(ours)].toSorted()
  }

  #add(address: string, name: string): void {
    const owners = this.#owners.get(address)
    if (owners === undefined) this.#owners.set(address, name)
    else if (typeof owners === 'string') this.#owners.set(address, new Set([owners, name]))
    else owners.add(name)
    this.#touch(address)
  }

  #remove(address: string, name: string): void {
    const owners = this.#owners.get(address)
    if (owners instanceof Set) owners.delete(name)
    if (owners === name || (owners instanceof Set && owners.size === 0)) this.#owners.delete(address)
    this.#touch(address)
  }

  #touch(address: string): void {
    const origin = this.#zoneOf(address)
    if (origin === undefined) return
    const addresses = this.#touched.get(origin)
    if (addresses === undefined) this.#touched.set(origin, new Set([address]))
    else addresses.add(address)
  }

  #zoneOf(address: string): string | undefined {
    return this.#zones[address.length === IPV4_DIGITS ? 0 : 1].find(address)
  }
}

/** The reverse zones of one family, by prefix. */
class ReverseZones {
  readonly #origins = new Map<string, string>()
  /** Of the prefixes there are, longest first. */
  readonly #lengths: readonly number[]

  constructor(zones: readonly string[], family: 4 | 6) {
    for (const origin of zones) {
      const prefix = reversePrefix(origin, family)
      if (prefix !== undefined) this.#origins.set(prefix, origin)
    }
    this.#lengths = [...new Set(Array.from(this.#origins.keys(), (prefix) => prefix.length))].toSorted((a, b) => b - a)
  }

  find(address: string): string | undefined {
    for (const length of this.#lengths) {
      const origin = this.#origins.get(address.slice(0, length))
      if (origin !== undefined) return origin
    }
    return undefined
  }
}

/** The digits that all addresses of a reverse zone begin with; undefined when it is none of this family. */
function reversePrefix(origin: string, family: 4 | 6): string | undefined {
  const pattern = family === 4 ? /^((?:\d{1,3}\.){0,4})in-addr\.arpa\.$/iu : /^((?:[0-9a-f]\.){0,32})ip6\.arpa\.$/iu
  const labels = pattern.exec(origin)?.[1].toLowerCase().split('.').slice(0, -1).reverse()
  if (family === 6) return labels?.join('')
  if (labels?.some((label) => Number(label) > 255 || String(Number(label)) !== label) === true) return undefined
  return labels?.map((label) => Number(label).toString(16).padStart(2, '0')).join('')
}

function reverseName(address: string): Uint8Array {
  if (address.length > IPV4_DIGITS) return parseName(`${[...address].reverse().join('.')}.ip6.arpa.`)
  const octets = [...Buffer.from(address, 'hex')]
  return parseName(`${octets.reverse().join('.')}.in-addr.arpa.`)
}

/** The first names in byte order, without sorting the many that one address may have. */
function firstOf(owners: string | ReadonlySet<string> | undefined): string[] {
  if (owners === undefined) return []
  if (typeof owners === 'string') return [owners]
  let first: string[] = []
  // Nothing above this is among the first.
  let bound: string | undefined
  for (const owner of owners) {
    if (bound !== undefined && owner > bound) continue
    first.push(owner)
    if (first.length < 2 * MAX_OWNERS) continue
    first = first.toSorted().slice(0, MAX_OWNERS)
    bound = first[MAX_OWNERS - 1]
  }
  return first.toSorted().slice(0, MAX_OWNERS)
}
