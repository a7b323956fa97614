// The SkyDNS keys of a prefix in memory, and from them the records of every name, so that names can be served like those
// of any zone. A change marks the names it may concern; flush() works out their records, each name once.

import { TYPE } from '../../dns/types.ts'
import type { SourceRecord } from '../part.ts'
import { compatibleRecords, type NameRecords } from './compatible.ts'
import { exactRecords } from './exact.ts'
import { below, bytesOf, isAtOrBelow, latin1, nameOf, parentOf, pathOfName, readPath, strip } from './path.ts'
import { isSearched, type SearchResult, searchRecords } from './search.ts'
import { parseService, type Service } from './parse-service.ts'
import { isBefore, ServiceList } from './service-list.ts'
import { Zones } from './zones.ts'

export interface SkydnsTreeOptions {
  /** Prefix of the keys: /skydns */
  readonly path: string
  /** Absolute text in lower case. */
  readonly zones: readonly string[]
  /** `compatible`: as CoreDNS's etcd plugin answers; `exact`: each service only at the name of its key. */
  readonly mode: 'compatible' | 'exact'
  readonly maxLeaseTtlSeconds: number
}

/** All records of a name; none when it is gone. */
export interface NameChange {
  readonly origin: string
  readonly owner: Uint8Array
  readonly records: readonly SourceRecord[]
}

/** Unix seconds. */
export interface Lease {
  readonly expiresAt: number
}

const DEFAULT_TTL_SECONDS = 300
/** Below an origin, what is about the zone itself wherever it stands in the order of keys. */
const ZONE_PATHS: readonly string[] = ['dns/ns', 'dns/apex']

export class SkydnsTree {
  readonly #options: SkydnsTreeOptions
  readonly #prefix: string
  readonly #zones: Zones
  readonly #byKey = new Map<string, Service>()
  readonly #services = new ServiceList()
  /** Paths of names whose records may have changed. */
  readonly #dirty = new Set<string>()
  /** Records not worth working out twice: of origins, and of names above more services than they answer with. */
  readonly #kept = new Map<string, NameRecords>()
  /** What is wrong with keys and values, by key. */
  readonly #broken = new Map<string, string>()
  /** What is wrong between services of a name, by path and key. */
  readonly #conflicts = new Map<string, ReadonlyMap<string, string>>()

  constructor(options: SkydnsTreeOptions) {
    this.#options = options
    const segments = options.path.split('/').filter((segment) => segment !== '')
    this.#prefix = latin1(new TextEncoder().encode(segments.map((segment) => `/${segment}`).join('')))
    this.#zones = new Zones(options.zones)
  }

  /** Number of keys in service. */
  get size(): number {
    return this.#byKey.size
  }

  /**
   * Takes over a key. When key or value is of no use, says so in one line, and the last good value of the key stays.
   * Keys outside the zones are ignored.
   */
  put(key: Uint8Array, value: Uint8Array, lease: Lease | undefined): string | undefined {
    const raw = latin1(key)
    if (raw !== this.#prefix && !raw.startsWith(`${this.#prefix}/`)) return undefined
    const { path, problem } = readPath(latin1(key.subarray(this.#prefix.length + 1)))
    const top = this.#zones.outermost(path)
    if (top === undefined) return undefined
    const refusal = problem ?? this.#store(raw, path, top, value, lease)
    if (refusal === undefined) {
      this.#broken.delete(raw)
      return undefined
    }
    const message = describe(raw, refusal)
    this.#broken.set(raw, message)
    return message
  }

  delete(key: Uint8Array): void {
    const raw = latin1(key)
    this.#broken.delete(raw)
    const service = this.#byKey.get(raw)
    if (service === undefined) return
    this.#byKey.delete(raw)
    this.#remove(service, this.#zones.outermost(service.path) ?? '')
  }

  /** Names at and above the keys that changed since the last call, each once. */
  *flush(): Iterable<NameChange> {
    for (const path of this.#dirty) {
      this.#dirty.delete(path)
      const zone = this.#zones.innermost(path)
      if (zone === undefined || !this.#isServed(path, zone)) continue
      const found = this.#workOut(path, zone)
      if (path === zone || found.cut !== undefined) this.#kept.set(path, found)
      yield { origin: this.#zones.originAt(zone), owner: nameOf(path), records: found.records }
    }
  }

  /** All names of a zone that may have records. */
  *owners(origin: string): Generator<Uint8Array> {
    const zone = this.#zones.pathOf(origin)
    if (zone === undefined) return
    const seen = new Set([zone])
    for (const { path } of this.#services.atOrBelow(zone))
      for (let at = path; at.length > zone.length && !seen.has(at); at = parentOf(at) ?? '') {
        seen.add(at)
        if (this.#options.mode === 'exact') break
      }
    for (const path of seen) if (this.#zones.innermost(path) === zone && this.#isServed(path, zone)) yield nameOf(path)
  }

  /** All records of a name. */
  recordsOf(origin: string, owner: Uint8Array): readonly SourceRecord[] {
    const zone = this.#zones.pathOf(origin)
    const path = pathOfName(owner)
    if (path === undefined || zone === undefined || this.#zones.innermost(path) !== zone) return []
    if (!this.#isServed(path, zone)) return []
    return (this.#kept.get(path) ?? this.#workOut(path, zone)).records
  }

  /** The answer to a question with `*` or `any` as a label, in compatible mode. */
  search(origin: string, name: Uint8Array, type: number): SearchResult {
    const zone = this.#zones.pathOf(origin)
    const path = pathOfName(name)
    if (path === undefined || zone === undefined || this.#options.mode === 'exact')
      return { found: false, records: [], additional: [] }
    return searchRecords(this.#services, zone, path, type)
  }

  /** What is wrong, by key. */
  problems(): ReadonlyMap<string, string> {
    const problems = new Map<string, string>()
    for (const found of [...this.#conflicts.values(), this.#broken])
      for (const [key, problem] of found) problems.set(keyText(key), problem)
    return problems
  }

  /** Puts the value into service, or says what is wrong with it. */
  #store(key: string, keyPath: string, top: string, value: Uint8Array, lease: Lease | undefined): string | undefined {
    const parsed = parseService(value)
    if (typeof parsed === 'string') return parsed
    const exact = this.#options.mode === 'exact'
    const path = exact ? strip(keyPath, parsed.keyLabels) : keyPath
    if (path.length < top.length)
      return `"targetstrip" ${parsed.targetStrip} leads out of the zone; expected one that stays inside`
    const ownTarget = exact ? path : strip(keyPath, parsed.targetStrip)
    const target = parsed.kind === TYPE.CNAME ? parsed.host : latin1(nameOf(ownTarget))
    const ttl = this.#ttl(parsed.ttl, lease)
    const service: Service = { ...parsed, key, path, target, ttl, expiresAt: lease?.expiresAt ?? Infinity }
    const before = this.#byKey.get(key)
    if (before !== undefined) {
      if (isSame(before, service)) return undefined
      this.#remove(before, top)
    }
    this.#byKey.set(key, service)
    this.#services.add(service)
    this.#touch(service, top)
    return undefined
  }

  /** The longest TTL that its records ever have: how a lease counts down is the server's business. */
  #ttl(given: number, lease: Lease | undefined): number {
    if (lease === undefined) return given === 0 ? DEFAULT_TTL_SECONDS : given
    const longest = this.#options.maxLeaseTtlSeconds
    return given === 0 ? longest : Math.min(given, longest)
  }

  #remove(service: Service, top: string): void {
    this.#services.remove(service)
    this.#touch(service, top)
  }

  /** Marks the names that the service is, or was, part of; `top` is the outermost origin above it. */
  #touch({ path, key }: Service, top: string): void {
    for (let at: string | undefined = path; at !== undefined && at.length >= top.length; at = parentOf(at)) {
      const cut = this.#kept.get(at)?.cut
      const counts = this.#options.mode === 'compatible' || at === path
      if ((!counts || (cut !== undefined && isBefore(cut, path, key))) && !this.#isAboutZone(at, path)) continue
      this.#dirty.add(at)
      this.#kept.delete(at)
    }
  }

  #isAboutZone(zone: string, path: string): boolean {
    return this.#zones.has(zone) && ZONE_PATHS.some((special) => isAtOrBelow(path, below(zone) + special))
  }

  /** Names that are searched for are never served as they stand: a stored `*` would become a wildcard. */
  #isServed(path: string, zone: string): boolean {
    return this.#options.mode === 'exact' || !isSearched(path, zone)
  }

  #workOut(path: string, zone: string): NameRecords {
    if (this.#options.mode === 'compatible') return compatibleRecords(this.#services, path, path === zone)
    const conflicts = new Map<string, string>()
    const report = ({ key }: Service, problem: string) => conflicts.set(key, describe(key, problem))
    const result = exactRecords(this.#services, path, path === zone, report)
    if (conflicts.size > 0) this.#conflicts.set(path, conflicts)
    else this.#conflicts.delete(path)
    return result
  }
}

function isSame(a: Service, b: Service): boolean {
  return (Object.keys(a) as (keyof Service)[]).every((field) => a[field] === b[field])
}

function describe(key: string, problem: string): string {
  return `Cannot use ${JSON.stringify(keyText(key))}: ${problem}`
}

function keyText(key: string): string {
  return new TextDecoder().decode(bytesOf(key))
}
