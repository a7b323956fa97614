// SkyDNS records in etcd, as ExternalDNS and its like write them: keys to a tree, the tree's names to parts of zones.

import { finish, type Steps } from '../../dns/steps.ts'
import type { SearchResult } from '../skydns/search.ts'
import { SkydnsTree } from '../skydns/tree.ts'
import type { SkydnsTreeOptions } from '../skydns/tree.ts'
import type { ZonePart } from '../part.ts'
import type { EtcdFollower, SourceChange } from './etcd-source.ts'
import type { Leases } from './leases.ts'

export interface SkydnsOptions extends SkydnsTreeOptions {
  readonly partOf: (origin: string, tree: SkydnsTree) => ZonePart
  readonly onProblem: (message: string) => void
}

/** Names that are worked out before other events have their turn. */
const NAMES_AT_ONCE = 32

interface LeasedKey {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

export class Skydns implements EtcdFollower {
  readonly #options: SkydnsOptions
  readonly #tree: SkydnsTree
  readonly #parts: ReadonlyMap<string, ZonePart>
  /** Keys by lease, and leases by key: their TTL changes when the lease is renewed. */
  readonly #byLease = new Map<bigint, Map<string, LeasedKey>>()
  readonly #leaseOf = new Map<string, bigint>()
  #leases: Leases | undefined
  /** Problems that were told, by key. */
  readonly #told = new Map<string, string>()
  #serial = 0
  #flushed = false

  constructor(options: SkydnsOptions) {
    this.#options = options
    this.#tree = new SkydnsTree(options)
    this.#parts = new Map(options.zones.map((origin) => [origin, options.partOf(origin, this.#tree)]))
  }

  /** Whom to ask about leases; without it a lease is as if there were none. */
  follow(leases: Leases): void {
    this.#leases = leases
  }

  apply({ key, value, lease }: SourceChange): boolean {
    this.#hold(key, value, lease)
    if (value === undefined) {
      this.#tree.delete(key)
      this.#complain(key, undefined)
      return true
    }
    const problem = this.#put(key, value, lease)
    this.#complain(key, problem)
    return problem === undefined
  }

  /** What is wrong with a key is told once, however often it is put again. */
  #complain(key: Uint8Array, problem: string | undefined): void {
    const name = Buffer.from(key).toString('latin1')
    if (problem === undefined) this.#told.delete(name)
    else if (this.#told.get(name) !== problem) {
      this.#told.set(name, problem)
      this.#options.onProblem(problem)
    }
  }

  /** Serials are etcd's revisions: the same on every server, and never smaller after a restart. */
  *flush(revision: bigint): Steps<void> {
    this.#serial = Number(BigInt.asUintN(32, revision))
    yield* this.#publish()
  }

  /** It has become known when a lease ends. */
  leaseMoved(lease: bigint): void {
    for (const { key, value } of this.#byLease.get(lease)?.values() ?? []) this.#put(key, value, lease)
    finish(this.#publish())
  }

  problems(): readonly string[] {
    return [...this.#tree.problems().values()]
  }

  search(origin: string, name: Uint8Array, type: number): SearchResult {
    return this.#tree.search(origin, name, type)
  }

  #put(key: Uint8Array, value: Uint8Array, lease: bigint): string | undefined {
    const expiresAt = lease === 0n ? undefined : this.#leases?.expiryOf(lease)
    return this.#tree.put(key, value, expiresAt === undefined ? undefined : { expiresAt })
  }

  /** All names that changed become one change of each zone. */
  *#publish(): Steps<void> {
    const touched = new Set<ZonePart>(this.#flushed ? [] : this.#parts.values())
    this.#flushed = true
    let count = 0
    for (const { origin, owner, records } of this.#tree.flush()) {
      const part = this.#parts.get(origin)
      part?.set(owner, records)
      if (part !== undefined) touched.add(part)
      if (++count % NAMES_AT_ONCE === 0) yield
    }
    for (const part of touched) part.commit(this.#serial)
  }

  /** Keeps in mind which key has which lease. One that stays with its lease does not lose sight of it. */
  #hold(key: Uint8Array, value: Uint8Array | undefined, lease: bigint): void {
    const name = Buffer.from(key).toString('latin1')
    const before = this.#leaseOf.get(name)
    if (value === undefined || lease === 0n) this.#leaseOf.delete(name)
    else {
      const keys = this.#byLease.get(lease) ?? new Map<string, LeasedKey>()
      keys.set(name, { key, value })
      this.#byLease.set(lease, keys)
      this.#leaseOf.set(name, lease)
    }
    if (before === undefined || before === this.#leaseOf.get(name)) return
    const others = this.#byLease.get(before)
    others?.delete(name)
    if (others?.size !== 0) return
    this.#byLease.delete(before)
    this.#leases?.forget(before)
  }
}
