// The whole answer to /metrics. Every family is written here exactly once.

import { type ServedBlock, writeDnsMetrics } from './dns-metrics.ts'
import { MetricsText } from './metrics-text.ts'
import { writeProcessMetrics } from './process-metrics.ts'
import { type ServerState, writeServerMetrics } from './server-metrics.ts'
import { type ForwardingBlock, writeUpstreamMetrics } from './upstream-metrics.ts'

export function renderMetrics(
  served: readonly ServedBlock[],
  forwarding: readonly ForwardingBlock[],
  state: ServerState,
): string {
  const text = new MetricsText()
  writeServerMetrics(text, state)
  writeDnsMetrics(text, served)
  writeUpstreamMetrics(text, forwarding)
  writeProcessMetrics(text)
  return text.toString()
}
