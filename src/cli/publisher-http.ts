// /healthz and /metrics of a publisher, where ExternalDNS has them. Its metrics bear ExternalDNS's names where they mean
// the same.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { PublisherState } from '../names/outputs/publisher-state.ts'
import type { HttpAddress } from '../server/config.ts'
import { cannotListen } from '../server/cannot-listen.ts'
import { METRICS_CONTENT_TYPE, MetricsText } from '../server/metrics/metrics-text.ts'
import { writeProcessMetrics } from '../server/metrics/process-metrics.ts'

const TIMEOUT_MS = 5000
const MAX_CONNECTIONS = 64

export async function servePublisher(
  address: HttpAddress,
  state: () => PublisherState,
  signal: AbortSignal,
): Promise<void> {
  return serveMetrics(address, () => metricsOf(state()), signal)
}

/** Resolves when it listens; ends with the signal. */
export async function serveMetrics(
  { host, port }: HttpAddress,
  metrics: () => string,
  signal: AbortSignal,
): Promise<void> {
  const server = createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS }, (request, response) => {
    const path = (request.url ?? '').split('?')[0]
    response.setHeader('connection', 'close')
    if (path === '/metrics') response.writeHead(200, { 'content-type': METRICS_CONTENT_TYPE }).end(metrics())
    else if (path === '/healthz') response.writeHead(200, { 'content-type': 'text/plain' }).end('OK')
    else response.writeHead(404).end()
  })
  server.maxConnections = MAX_CONNECTIONS
  server.listen({ port, ...(host !== '' && { host }) })
  try {
    await once(server, 'listening', { signal })
  } catch (error) {
    if (signal.aborted) return
    throw cannotListen('TCP', host, port, (error as NodeJS.ErrnoException).code ?? String(error))
  }
  signal.addEventListener('abort', () => server.close(), { once: true })
}

function metricsOf({ kubernetes, wanted, leading, etcd }: PublisherState): string {
  const text = new MetricsText()
  const one = (name: string, type: 'counter' | 'gauge', help: string, value: number) => {
    text.family(name, type, help)
    text.sample(value)
  }
  one('external_dns_source_endpoints_total', 'gauge', 'Endpoints that objects ask for.', wanted)
  if (etcd !== undefined) {
    const { records, runs } = etcd
    one('external_dns_registry_endpoints_total', 'gauge', 'Records in etcd.', records)
    one('external_dns_registry_errors_total', 'counter', 'Runs in which records could not be written.', runs.failed)
    one('external_dns_controller_no_op_runs_total', 'counter', 'Runs that had nothing to change.', runs.idle)
    one(
      'external_dns_controller_last_reconcile_timestamp_seconds',
      'gauge',
      'When records were last compared.',
      runs.lastAt,
    )
    one(
      'external_dns_controller_last_sync_timestamp_seconds',
      'gauge',
      'When they were last as wanted.',
      runs.lastGoodAt,
    )
  }
  text.family(
    'holdfast_publisher_up',
    'gauge',
    'Whether changes are followed: 1, or 0 while the last known state stands.',
  )
  text.sample(kubernetes?.up ? 1 : 0, { of: 'kubernetes' })
  if (etcd !== undefined) text.sample(etcd.up ? 1 : 0, { of: 'etcd' })
  one('holdfast_publisher_leading', 'gauge', 'Whether this replica writes.', leading ? 1 : 0)
  one('holdfast_publisher_objects', 'gauge', 'Kubernetes objects that are followed.', kubernetes?.keys ?? 0)
  one('holdfast_publisher_problems', 'gauge', 'Things that are wrong with them.', kubernetes?.problemCount ?? 0)
  writeProcessMetrics(text)
  return text.toString()
}
