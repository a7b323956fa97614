// What the resolver side of one server block counts, as plain data that can be cloned between threads.
// The fields follow CoreDNS's metrics coredns_forward_*, coredns_proxy_* and coredns_cache_*; labels are added when printing.

import { DURATION_BOUNDS } from '../stats.ts'

export interface UpstreamStats {
  /** Every upstream of the block was down when a query needed one. */
  healthcheckBroken: number
  maxConcurrentRejects: number
  /** By `to`, the upstream's `address:port`; forward and alternate share an entry, as in CoreDNS. */
  readonly upstreams: Map<string, ExchangeStats>
  readonly cache: CacheStats
}

export interface ExchangeStats {
  requests: number
  /** By rcode. The number of responses is the sum of a histogram's buckets. */
  readonly responseSeconds: Map<number, DurationHistogram>
  healthcheckFailures: number
  readonly connectionHits: Record<'udp' | 'tcp', number>
  readonly connectionMisses: Record<'udp' | 'tcp', number>
}

/** Bounds are DURATION_BOUNDS; one more bucket takes what is above all of them. Not cumulative. */
export interface DurationHistogram {
  readonly buckets: number[]
  sum: number
}

export interface CacheStats {
  requests: number
  misses: number
  prefetches: number
  drops: number
  servedStale: number
  readonly success: CacheKindStats
  readonly denial: CacheKindStats
}

export interface CacheKindStats {
  entries: number
  hits: number
  evictions: number
}

/** One per server block, so that its printer knows the `server` and `zones` labels. */
export function createUpstreamStats(): UpstreamStats {
  return {
    healthcheckBroken: 0,
    maxConcurrentRejects: 0,
    upstreams: new Map(),
    cache: {
      requests: 0,
      misses: 0,
      prefetches: 0,
      drops: 0,
      servedStale: 0,
      success: { entries: 0, hits: 0, evictions: 0 },
      denial: { entries: 0, hits: 0, evictions: 0 },
    },
  }
}

/** The counters of one upstream, made at first use. */
export function exchangeStats(stats: UpstreamStats, to: string): ExchangeStats {
  const known = stats.upstreams.get(to)
  if (known !== undefined) return known
  const fresh: ExchangeStats = {
    requests: 0,
    responseSeconds: new Map(),
    healthcheckFailures: 0,
    connectionHits: { udp: 0, tcp: 0 },
    connectionMisses: { udp: 0, tcp: 0 },
  }
  stats.upstreams.set(to, fresh)
  return fresh
}

export function countResponse(stats: ExchangeStats, rcode: number, seconds: number): void {
  let histogram = stats.responseSeconds.get(rcode)
  if (histogram === undefined) {
    histogram = { buckets: new Array<number>(DURATION_BOUNDS.length + 1).fill(0), sum: 0 }
    stats.responseSeconds.set(rcode, histogram)
  }
  let bucket = 0
  while (bucket < DURATION_BOUNDS.length && seconds > DURATION_BOUNDS[bucket]) bucket++
  histogram.buckets[bucket]++
  histogram.sum += seconds
}
