// Answers from the records of a SkyDNS tree by the rules the server has for them, without zones or sockets: the asked
// type at the name; for A, AAAA and TXT the name's alias, inside the zone or by an upstream; addresses of targets.

import { equalNames, formatName, isSubdomain, lowerName, parseName } from '../../src/dns/name.ts'
import { formatRdata } from '../../src/dns/rdata/rdata.ts'
import { TYPE, typeName } from '../../src/dns/types.ts'
import type { SourceRecord } from '../../src/names/part.ts'
import { soaOf } from '../../src/names/skydns/soa.ts'
import { SkydnsTree } from '../../src/names/skydns/tree.ts'

export interface Fixture {
  readonly zones: readonly string[]
  readonly path_prefix: string
  readonly keys: readonly { readonly key: string; readonly value: object }[]
  /** A text when no upstream can be reached, else records by "name type". */
  readonly external_lookup: string | Readonly<Record<string, readonly string[]>>
}

/** Records as `name ttl type rdata`. */
export interface Answer {
  readonly rcode: string
  readonly answer: readonly string[]
  readonly authority: readonly string[]
  readonly additional: readonly string[]
}

const FOLLOWED: readonly number[] = [TYPE.A, TYPE.AAAA, TYPE.TXT]
const TARGET_AT: ReadonlyMap<number, number> = new Map([
  [TYPE.NS, 0],
  [TYPE.MX, 2],
  [TYPE.SRV, 6],
])
const LONGEST_CHAIN = 10

export class SkydnsAnswers {
  readonly tree: SkydnsTree
  readonly #zones: readonly string[]
  readonly #external: Fixture['external_lookup']
  readonly #names = new Map<string, readonly SourceRecord[]>()

  constructor({ zones, path_prefix, keys, external_lookup }: Fixture) {
    this.#zones = zones
    this.#external = external_lookup
    this.tree = new SkydnsTree({ path: path_prefix, zones, mode: 'compatible', maxLeaseTtlSeconds: 86_400 })
    for (const { key, value } of keys) {
      const problem = this.tree.put(Buffer.from(key), Buffer.from(JSON.stringify(value)), undefined)
      if (problem !== undefined) throw new Error(problem)
    }
    for (const { owner, records } of this.tree.flush()) this.#names.set(formatName(owner), records)
  }

  ask(name: string, type: number): Answer {
    const owner = parseName(name)
    const zone = this.#zoneOf(owner)
    if (zone === undefined) return { rcode: 'REFUSED', answer: [], authority: [], additional: [] }
    const soa = soaOf(zone, 1)
    if (type === TYPE.SOA && equalNames(owner, parseName(zone)))
      return { rcode: 'NOERROR', answer: [line(owner, soa)], authority: [], additional: [] }
    const negative = { answer: [], authority: [line(parseName(zone), soa)], additional: [] }
    const below = name.slice(0, -zone.length)
    if (/(?:^|\.)(?:\*|any)\./iu.test(below)) {
      const { found, records, additional } = this.tree.search(zone, owner, type)
      const lines = records.map((record) => line(owner, record))
      const isFollowed = records.length > 0 && records[0].type !== type
      const rest = isFollowed ? this.#follow(records[0].rdata, type, zone) : []
      if (lines.length === 0 || (isFollowed && rest.length === 0))
        return { rcode: found ? 'NOERROR' : 'NXDOMAIN', ...negative }
      const addresses = additional.map((extra) => line(extra.owner, extra.record))
      return { rcode: 'NOERROR', answer: [...lines, ...rest], authority: [], additional: addresses }
    }
    if (!this.#exists(owner)) return { rcode: 'NXDOMAIN', ...negative }
    const asked = this.#setOf(owner, type)
    const answer = asked.length > 0 ? asked.map((record) => line(owner, record)) : this.#follow(owner, type, zone)
    if (answer.length === 0) return { rcode: 'NOERROR', ...negative }
    return { rcode: 'NOERROR', answer, authority: [], additional: this.#addresses(asked, zone) }
  }

  #zoneOf(owner: Uint8Array): string | undefined {
    const inside = this.#zones.filter((zone) => isSubdomain(owner, parseName(zone)))
    return inside.toSorted((a, b) => b.length - a.length)[0]
  }

  #exists(owner: Uint8Array): boolean {
    return [...this.#names].some(([name, records]) => records.length > 0 && isSubdomain(parseName(name), owner))
  }

  #setOf(owner: Uint8Array, type: number): SourceRecord[] {
    const records = this.#names.get(formatName(lowerName(owner))) ?? []
    return records.filter((record) => record.type === type)
  }

  /** The aliases from a name to records of the type, and these; nothing when they lead nowhere. */
  #follow(first: Uint8Array, type: number, zone: string): string[] {
    if (!FOLLOWED.includes(type)) return []
    const lines: string[] = []
    let owner = first
    for (let length = 0; length < LONGEST_CHAIN; length++) {
      if (!isSubdomain(owner, parseName(zone))) {
        const found = typeof this.#external === 'string' ? [] : this.#external[`${formatName(owner)} ${typeName(type)}`]
        return found.length === 0 ? [] : [...lines, ...found.map((text) => text.replace(' IN ', ' '))]
      }
      const asked = this.#setOf(owner, type)
      if (asked.length > 0) return [...lines, ...asked.map((record) => line(owner, record))]
      if ([TYPE.A, TYPE.AAAA].some((other) => this.#setOf(owner, other).length > 0)) return []
      const [alias] = this.#setOf(owner, TYPE.CNAME)
      if (alias === undefined) return []
      lines.push(line(owner, alias))
      owner = alias.rdata
    }
    return []
  }

  #addresses(records: readonly SourceRecord[], zone: string): string[] {
    const lines = new Set<string>()
    for (const { type, rdata } of records) {
      const at = TARGET_AT.get(type)
      const target = at === undefined ? undefined : rdata.subarray(at)
      if (target === undefined || !isSubdomain(target, parseName(zone))) continue
      for (const address of [TYPE.A, TYPE.AAAA]) {
        const direct = this.#setOf(target, address).map((record) => line(target, record))
        for (const text of direct.length > 0 ? direct : this.#follow(target, address, zone)) lines.add(text)
      }
    }
    return [...lines]
  }
}

function line(owner: Uint8Array, { ttl, type, rdata }: SourceRecord): string {
  return `${formatName(owner)} ${ttl} ${typeName(type)} ${formatRdata(type, rdata)}`
}
