// Answers of upstreams, kept for their TTL, as CoreDNS's cache: one shelf for data and one for denials and failures.
// An answer is kept as a whole under its question, so all its records age together. An expired one stays until it is
// evicted and may be served stale.

import { isSubdomain, lowerName, parseName } from '../../dns/name.ts'
import { RCODE } from '../../dns/types.ts'
import type { CacheConfig } from '../config.ts'
import type { Reply } from './reply.ts'
import { type Entry, Shelf } from './shelf.ts'
import type { CacheStats } from './stats.ts'

export interface Hit {
  readonly reply: Reply
  /** What the client is told. */
  readonly ttlSeconds: number
  readonly stale: boolean
  /** Popular and about to expire: worth asking for again now. */
  readonly prefetch: boolean
}

export class Cache {
  readonly #config: CacheConfig
  readonly #stats: CacheStats
  readonly #now: () => number
  readonly #zones: readonly Uint8Array[]
  readonly #withoutSuccess: readonly Uint8Array[]
  readonly #withoutDenial: readonly Uint8Array[]
  readonly #success: Shelf
  readonly #denial: Shelf

  /** Without zones of its own it covers the block's. `now` is a monotonic clock in milliseconds. */
  constructor(
    config: CacheConfig,
    blockZones: readonly string[],
    stats: CacheStats,
    now: () => number = () => performance.now(),
  ) {
    this.#config = config
    this.#stats = stats
    this.#now = now
    this.#zones = (config.zones.length === 0 ? blockZones : config.zones).map(zoneName)
    this.#withoutSuccess = config.disableSuccess.map(zoneName)
    this.#withoutDenial = config.disableDenial.map(zoneName)
    this.#success = new Shelf(config.successCapacity, stats.success)
    this.#denial = new Shelf(config.denialCapacity, stats.denial)
  }

  covers(name: Uint8Array): boolean {
    return within(name, this.#zones)
  }

  lookup(key: string): Hit | undefined {
    this.#stats.requests++
    const success = this.#usable(this.#success.get(key))
    const entry = success ?? this.#usable(this.#denial.get(key))
    if (entry === undefined) {
      this.#stats.misses++
      return undefined
    }
    this.#stats[success === undefined ? 'denial' : 'success'].hits++
    const now = this.#now()
    entry.hits = now - entry.lastHitMs > this.#config.prefetchDurationMs ? 1 : entry.hits + 1
    entry.lastHitMs = now
    entry.used = true
    const left = secondsLeft(entry, now)
    return {
      reply: entry.reply,
      ttlSeconds: this.#config.keepTtl ? entry.ttlSeconds : Math.max(0, left),
      stale: left <= 0,
      prefetch: left > 0 && this.#isPopular(entry, left),
    }
  }

  /** Keeps the answer where that is allowed; returns the TTL its records get, undefined for those they have. */
  store(key: string, name: Uint8Array, reply: Reply): number | undefined {
    if (reply.kind === 'other') {
      // A denial without SOA, or an alias that leads nowhere.
      if (!reply.truncated && (reply.rcode === RCODE.NOERROR || reply.rcode === RCODE.NXDOMAIN)) this.#stats.drops++
      return undefined
    }
    const ttlSeconds = this.#ttl(reply)
    const success = reply.kind === 'success'
    if (ttlSeconds > 0 && !within(name, success ? this.#withoutSuccess : this.#withoutDenial)) {
      this.#keep(key, reply, ttlSeconds)
    }
    return ttlSeconds
  }

  #keep(key: string, reply: Reply, ttlSeconds: number): void {
    const previous = this.#success.get(key) ?? this.#denial.get(key)
    // A failure says nothing about the data: it must not displace an answer that can still be served.
    if (reply.kind === 'failure' && this.#usable(previous) !== undefined) return
    const [shelf, other] = reply.kind === 'success' ? [this.#success, this.#denial] : [this.#denial, this.#success]
    other.delete(key)
    const now = this.#now()
    shelf.set(key, {
      reply,
      ttlSeconds,
      storedMs: now,
      hits: previous?.hits ?? 0,
      lastHitMs: previous?.lastHitMs ?? now,
      used: false,
    })
  }

  #ttl(reply: Reply): number {
    const { successMinTtlSeconds, successMaxTtlSeconds, denialMinTtlSeconds, denialMaxTtlSeconds } = this.#config
    if (reply.kind === 'failure') return this.#config.servfailTtlSeconds
    return reply.kind === 'success'
      ? Math.min(Math.max(reply.ttlSeconds, successMinTtlSeconds), successMaxTtlSeconds)
      : Math.min(Math.max(reply.ttlSeconds, denialMinTtlSeconds), denialMaxTtlSeconds)
  }

  /** The entry when it is fresh, or expired but still to be served. */
  #usable(entry: Entry | undefined): Entry | undefined {
    if (entry === undefined) return undefined
    const left = secondsLeft(entry, this.#now())
    return left > 0 || -left * 1000 < this.#config.serveStaleMs ? entry : undefined
  }

  #isPopular(entry: Entry, left: number): boolean {
    if (this.#config.prefetchAmount === 0 || entry.hits < this.#config.prefetchAmount) return false
    return left <= Math.ceil((entry.ttlSeconds * this.#config.prefetchPercentage) / 100)
  }
}

function secondsLeft(entry: Entry, now: number): number {
  return entry.ttlSeconds - Math.floor((now - entry.storedMs) / 1000)
}

function zoneName(text: string): Uint8Array {
  return lowerName(parseName(text))
}

function within(name: Uint8Array, zones: readonly Uint8Array[]): boolean {
  return zones.some((zone) => isSubdomain(name, zone))
}
