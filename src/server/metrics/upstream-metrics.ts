// The coredns_forward_*, coredns_proxy_* and coredns_cache_* families. Only the cache's have a `server` label in
// CoreDNS; what several blocks did with the same upstream is one series, so it is added up here.

import { rcodeName } from '../../dns/types.ts'
import { DURATION_BOUNDS, type HistogramCounts } from '../stats.ts'
import type { CacheKindStats, CacheStats, DurationHistogram, ExchangeStats, UpstreamStats } from '../upstream/stats.ts'
import type { MetricsText } from './metrics-text.ts'

export interface ForwardingBlock {
  readonly server: string
  readonly stats: UpstreamStats
  /** The names `cache` is on for; undefined without `cache`. */
  readonly cachedZones: readonly string[] | undefined
}

const KINDS = ['success', 'denial'] as const

export function writeUpstreamMetrics(text: MetricsText, blocks: readonly ForwardingBlock[]): void {
  if (blocks.length === 0) return
  writeForwardMetrics(text, blocks)
  writeProxyMetrics(text, blocks)
  const caches = blocks.flatMap(({ server, stats, cachedZones }) =>
    cachedZones === undefined ? [] : [{ stats: stats.cache, server, zones: cachedZones.join(',') }],
  )
  if (caches.length > 0) writeCacheMetrics(text, caches)
}

function writeForwardMetrics(text: MetricsText, blocks: readonly ForwardingBlock[]): void {
  text.family('coredns_forward_healthcheck_broken_total', 'counter', 'Times that every upstream was unhealthy.')
  text.sample(sum(blocks, ({ stats }) => stats.healthcheckBroken))
  text.family('coredns_forward_max_concurrent_rejects_total', 'counter', 'Queries rejected over the concurrency limit.')
  text.sample(sum(blocks, ({ stats }) => stats.maxConcurrentRejects))
}

function writeProxyMetrics(text: MetricsText, blocks: readonly ForwardingBlock[]): void {
  const proxy_name = 'forward'
  const upstreams = Map.groupBy(
    blocks.flatMap(({ stats }) => [...stats.upstreams]),
    ([to]) => to,
  )
  const each = [...upstreams].map(([to, entries]) => ({ to, all: entries.map(([, stats]) => stats) }))
  const byProto = (value: (stats: ExchangeStats) => Readonly<Record<'udp' | 'tcp', number>>): void => {
    for (const { to, all } of each) {
      const values = all.map(value)
      text.sample(
        sum(values, ({ udp }) => udp),
        { proto: 'udp', proxy_name, to },
      )
      text.sample(
        sum(values, ({ tcp }) => tcp),
        { proto: 'tcp', proxy_name, to },
      )
    }
  }

  text.family('coredns_proxy_request_duration_seconds', 'histogram', 'Time each request to an upstream took.')
  for (const { to, all } of each) {
    const byRcode = Map.groupBy(
      all.flatMap((stats) => [...stats.responseSeconds]),
      ([rcode]) => rcode,
    )
    for (const [rcode, histograms] of byRcode) {
      const counts = sumHistograms(histograms.map(([, histogram]) => histogram))
      text.histogram(counts, { proxy_name, rcode: rcodeName(rcode), to })
    }
  }
  text.family('coredns_proxy_healthcheck_failures_total', 'counter', 'Failed health checks per upstream.')
  for (const { to, all } of each) {
    text.sample(
      sum(all, (stats) => stats.healthcheckFailures),
      { proxy_name, to },
    )
  }
  text.family('coredns_proxy_conn_cache_hits_total', 'counter', 'Connections used again per upstream and protocol.')
  byProto((stats) => stats.connectionHits)
  text.family('coredns_proxy_conn_cache_misses_total', 'counter', 'Connections opened per upstream and protocol.')
  byProto((stats) => stats.connectionMisses)
}

interface LabeledCache {
  readonly stats: CacheStats
  readonly server: string
  readonly zones: string
}

function writeCacheMetrics(text: MetricsText, caches: readonly LabeledCache[]): void {
  const byKind = (value: (kind: CacheKindStats) => number): void => {
    for (const { stats, server, zones } of caches) {
      for (const type of KINDS) text.sample(value(stats[type]), { server, type, view: '', zones })
    }
  }
  const whole = (value: (stats: CacheStats) => number): void => {
    for (const { stats, server, zones } of caches) text.sample(value(stats), { server, view: '', zones })
  }
  text.family('coredns_cache_entries', 'gauge', 'Elements in the cache by type.')
  byKind((kind) => kind.entries)
  text.family('coredns_cache_requests_total', 'counter', 'Questions to the cache.')
  whole((stats) => stats.requests)
  text.family('coredns_cache_hits_total', 'counter', 'Questions the cache answered, by type.')
  byKind((kind) => kind.hits)
  text.family('coredns_cache_misses_total', 'counter', 'Questions the cache could not answer.')
  whole((stats) => stats.misses)
  text.family('coredns_cache_prefetch_total', 'counter', 'Elements fetched again before they expired.')
  whole((stats) => stats.prefetches)
  text.family('coredns_cache_drops_total', 'counter', 'Responses not cached because they did not fit the question.')
  whole((stats) => stats.drops)
  text.family('coredns_cache_served_stale_total', 'counter', 'Questions answered from expired elements.')
  whole((stats) => stats.servedStale)
  text.family('coredns_cache_evictions_total', 'counter', 'Elements evicted to make room, by type.')
  byKind((kind) => kind.evictions)
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0)
}

function sumHistograms(histograms: readonly DurationHistogram[]): HistogramCounts {
  const buckets = new Float64Array(DURATION_BOUNDS.length + 1)
  for (const histogram of histograms) for (const [i, count] of histogram.buckets.entries()) buckets[i] += count
  return { bounds: DURATION_BOUNDS, buckets, sum: sum(histograms, (histogram) => histogram.sum) }
}
