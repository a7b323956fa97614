// Gathers what /metrics shows from a generation of the server.

import { renderMetrics } from '../server/metrics/exposition.ts'
import { serverLabel } from '../server/metrics/dns-metrics.ts'
import type { ServedBlock } from '../server/metrics/dns-metrics.ts'
import type { HealthProbe } from '../server/metrics/health-probe.ts'
import { enabledPlugins } from '../server/metrics/server-metrics.ts'
import type { ForwardingBlock } from '../server/metrics/upstream-metrics.ts'
import { spacesOf } from '../server/spaces.ts'
import { StatsReader } from '../server/stats.ts'
import type { TcpConnections } from '../server/tcp-connections.ts'
import type { Generation } from './dns-service.ts'

export interface ServiceState {
  readonly version: string
  readonly health: HealthProbe | undefined
  readonly reloadsFailed: number
  readonly sinkDropped: number
  readonly tcp: TcpConnections
}

export function renderServiceMetrics({ loaded, server, zones }: Generation, state: ServiceState): string {
  const { blocks } = loaded.config
  const spaces = spacesOf(blocks)
  const labels = blocks.map(({ bind, port }) => serverLabel(bind[0] ?? '', port))
  const served = blocks.flatMap((block, number): ServedBlock[] =>
    block.prometheus === undefined
      ? []
      : [
          {
            server: labels[number],
            zone: block.zones[0],
            stats: new StatsReader(server.statsOf(number)),
            slot: (slot) => zones.slot(spaces[number], slot),
          },
        ],
  )
  const forwarding = blocks.flatMap((block, number): ForwardingBlock[] => {
    const stats = server.upstreamStatsOf(number)
    return stats === undefined ? [] : [{ server: labels[number], stats, cachedZones: block.cache?.zones }]
  })
  return renderMetrics(served, forwarding, {
    version: state.version,
    revision: '',
    plugins: blocks.map((block, number) => ({
      server: labels[number],
      zone: block.zones[0],
      names: enabledPlugins(block),
    })),
    panicsTotal: server.panicsTotal,
    health: state.health,
    reloadsFailedTotal: state.reloadsFailed,
    configurationHash: loaded.hash,
    zones: zones.serving(),
    zoneLoadErrorsTotal: zones.loadErrorsTotal,
    zonesRefused: zones.refused(),
    sources: zones.sources(),
    arenaUsedBytes: zones.arenaUsedBytes,
    arenaFreeBytes: zones.arenaBytes - zones.arenaUsedBytes,
    workers: server.workers,
    handoverDroppedTotal: server.handoverDroppedTotal,
    logLinesDroppedTotal: state.sinkDropped + server.logLinesDropped,
    tcpConnections: state.tcp.open,
    tcpConnectionsTotal: state.tcp.accepted,
    tcpConnectionsEvictedTotal: state.tcp.evicted,
  })
}
