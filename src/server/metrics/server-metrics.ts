// Metrics of the server as a whole: under CoreDNS's names where it has them, under holdfast_* what only we know.

import type { ServerBlock } from '../config.ts'
import type { HistogramCounts } from '../stats.ts'
import type { MetricsText } from './metrics-text.ts'

/** The state of the server at the moment of the question. Totals only ever grow. */
export interface ServerState {
  readonly version: string
  readonly revision: string
  /** Which plugins (in CoreDNS's words) are on, by server block. */
  readonly plugins: readonly { readonly server: string; readonly zone: string; readonly names: readonly string[] }[]
  readonly panicsTotal: number
  /** Undefined without `health`. */
  readonly health: { readonly durations: HistogramCounts; readonly failuresTotal: number } | undefined
  readonly reloadsFailedTotal: number
  /** SHA-512 of the configuration in force, in hex; undefined without `reload`. */
  readonly configurationHash: string | undefined
  readonly zones: readonly { readonly zone: string; readonly serial: number }[]
  /** Zones of which the newest text was refused. */
  readonly zonesRefused: readonly string[]
  readonly sources: readonly { readonly name: string; readonly up: boolean; readonly keys: number }[]
  readonly zoneLoadErrorsTotal: number
  readonly arenaUsedBytes: number
  readonly arenaFreeBytes: number
  readonly workers: number
  readonly handoverDroppedTotal: number
  readonly logLinesDroppedTotal: number
  readonly tcpConnections: number
  readonly tcpConnectionsTotal: number
  readonly tcpConnectionsEvictedTotal: number
}

/** CoreDNS reports the plugins that handle queries; `bind`, `health`, `ready`, `reload` and `root` do not. */
export function enabledPlugins(block: ServerBlock): string[] {
  const on: Readonly<Record<string, boolean>> = {
    alternate: block.alternates.length > 0,
    any: block.minimalAny,
    auto: block.autos.length > 0,
    cache: block.cache !== undefined,
    errors: block.errors,
    etcd: block.skydns.length > 0,
    file: block.files.length > 0,
    forward: block.forwards.length > 0,
    loadbalance: block.loadbalance,
    log: block.log.length > 0,
    loop: block.loop,
    nsid: block.nsid !== undefined,
    prometheus: block.prometheus !== undefined,
  }
  return Object.keys(on).filter((name) => on[name])
}

export function writeServerMetrics(text: MetricsText, state: ServerState): void {
  text.family('coredns_build_info', 'gauge', 'A constant 1, labeled by version, revision and goversion.')
  text.sample(1, { goversion: '', revision: state.revision, version: state.version })
  single(text, 'coredns_panics_total', 'counter', 'Queries whose handling failed unexpectedly.', state.panicsTotal)
  text.family('coredns_plugin_enabled', 'gauge', 'Whether a plugin is enabled, per server and zone.')
  for (const { server, zone, names } of state.plugins) {
    for (const name of names) text.sample(1, { name, server, view: '', zone })
  }
  if (state.health !== undefined) {
    text.family('coredns_health_request_duration_seconds', 'histogram', 'Time each own request to /health took.')
    text.histogram(state.health.durations)
    const failures = state.health.failuresTotal
    single(text, 'coredns_health_request_failures_total', 'counter', 'Own requests to /health that failed.', failures)
  }
  single(text, 'coredns_reload_failed_total', 'counter', 'Failed attempts to reload.', state.reloadsFailedTotal)
  if (state.configurationHash !== undefined) {
    text.family('coredns_reload_version_info', 'gauge', 'A constant 1, labeled by the hash of the configuration.')
    text.sample(1, { hash: 'sha512', value: state.configurationHash })
  }

  single(text, 'holdfast_zones', 'gauge', 'Zones in service.', state.zones.length)
  text.family('holdfast_zone_serial', 'gauge', 'Serial of each zone in service.')
  // Blocks may have versions of their own of a zone, but a series can only be there once.
  const serials = new Map(state.zones.map(({ zone, serial }) => [zone, serial]))
  for (const [zone, serial] of serials) text.sample(serial, { zone })
  const errors = state.zoneLoadErrorsTotal
  single(text, 'holdfast_zone_load_errors_total', 'counter', 'Zones refused while loading.', errors)
  if (state.zonesRefused.length > 0) {
    text.family('holdfast_zone_refused', 'gauge', 'Zones of which the newest text is refused: an older one is served.')
    for (const zone of new Set(state.zonesRefused)) text.sample(1, { zone })
  }
  if (state.sources.length > 0) {
    text.family(
      'holdfast_source_up',
      'gauge',
      'Whether a source in etcd is followed; 0: its last good state is served.',
    )
    // Blocks with different zones follow a source of one name each for itself.
    const sources = Map.groupBy(state.sources, ({ name }) => name)
    for (const [source, all] of sources) text.sample(all.every(({ up }) => up) ? 1 : 0, { source })
    text.family('holdfast_source_keys', 'gauge', 'Keys a source has in etcd.')
    for (const [source, all] of sources) text.sample(Math.max(...all.map(({ keys }) => keys)), { source })
  }
  single(text, 'holdfast_arena_used_bytes', 'gauge', 'Zone memory in use, in bytes.', state.arenaUsedBytes)
  single(text, 'holdfast_arena_free_bytes', 'gauge', 'Zone memory not in use, in bytes.', state.arenaFreeBytes)
  single(text, 'holdfast_workers', 'gauge', 'Threads that answer queries.', state.workers)
  const surplus = state.handoverDroppedTotal
  single(text, 'holdfast_handover_dropped_total', 'counter', 'Queries dropped as too many waited.', surplus)
  const dropped = state.logLinesDroppedTotal
  single(text, 'holdfast_log_lines_dropped_total', 'counter', 'Log lines that could not be written.', dropped)
  single(text, 'holdfast_tcp_connections', 'gauge', 'TCP connections open.', state.tcpConnections)
  const accepted = state.tcpConnectionsTotal
  single(text, 'holdfast_tcp_connections_total', 'counter', 'TCP connections accepted.', accepted)
  const evicted = state.tcpConnectionsEvictedTotal
  single(text, 'holdfast_tcp_connections_evicted_total', 'counter', 'TCP connections closed for others.', evicted)
}

function single(text: MetricsText, name: string, type: 'counter' | 'gauge', help: string, value: number): void {
  text.family(name, type, help)
  text.sample(value)
}
