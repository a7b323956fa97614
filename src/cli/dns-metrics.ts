// Gathers what /metrics shows from a generation of the server.

import { renderMetrics } from '../server/metrics/exposition.ts'
import { serverLabel } from '../server/metrics/dns-metrics.ts'
import type { ServedBlock } from '../server/metrics/dns-metrics.ts'
import type { HealthProbe } from '../server/metrics/health-probe.ts'
import { enabledPlugins } from '../server/metrics/server-metrics.ts'
import type { ForwardingBlock } from '../server/metrics/upstream-metrics.ts'
import { StatsReader } from '../server/stats.ts'
import type { TcpCounters } from '../server/tcp.ts'
import type { Generation } from './dns-service.ts'

export interface ServiceState {
  readonly version: string
  readonly health: HealthProbe | undefined
  readonly reloadsFailed: number
  readonly sinkDropped: number
  readonly tcp: TcpCounters
}

export function renderServiceMetrics({ loaded, server, zones }: Generation, state: ServiceState): string {
  const { blocks } = loaded.config
  const labels = blocks.map(({ bind, port }) => serverLabel(bind[0] ?? '', port))
  const served = blocks.flatMap((block, space): ServedBlock[] =>
    block.prometheus === undefined
      ? []
      : [
          {
            server: labels[space],
            zone: block.zones[0],
            stats: new StatsReader(server.statsOf(space)),
            slot: (slot) => zones.slot(space, slot),
          },
        ],
  )
  const forwarding = blocks.flatMap((block, space): ForwardingBlock[] => {
    const stats = server.upstreamStatsOf(space)
    return stats === undefined ? [] : [{ server: labels[space], stats, cachedZones: block.cache?.zones }]
  })
  return renderMetrics(served, forwarding, {
    version: state.version,
    revision: '',
    plugins: blocks.map((block, space) => ({
      server: labels[space],
      zone: block.zones[0],
      names: enabledPlugins(block),
    })),
    panicsTotal: server.panicsTotal,
    health: state.health,
    reloadsFailedTotal: state.reloadsFailed,
    configurationHash: loaded.hash,
    zones: zones.serving(),
    zoneLoadErrorsTotal: zones.loadErrorsTotal,
    arenaUsedBytes: zones.arenaUsedBytes,
    arenaFreeBytes: zones.arenaBytes - zones.arenaUsedBytes,
    workers: server.workers,
    logLinesDroppedTotal: state.sinkDropped + server.logLinesDropped,
    tcpConnections: state.tcp.open,
    tcpConnectionsTotal: state.tcp.accepted,
    tcpConnectionsRefusedTotal: state.tcp.refused,
  })
}
