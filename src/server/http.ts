// The HTTP side of the name server: /health, /ready and /metrics, each on the address its directive gives, and /status
// beside /health. Blocks that name the same address share one listener. Nothing here can hold up DNS: few connections, short timeouts.
//
//   serve ⟲ ──drain──▶ /ready says 503, /health still 200, for the lameduck time ──close──▶ gone
//
// That /health stays 200 while draining is CoreDNS's way: the process is well, it only wants no new clients.

import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError, messageOf } from '../lib/errors.ts'
import type { HttpAddress, ServerConfig } from './config.ts'
import { METRICS_CONTENT_TYPE } from './metrics/metrics-text.ts'

const TIMEOUT_MS = 5000
const MAX_CONNECTIONS = 256
const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json'
const STATUS_PATH = '/status'
const PATHS = { health: '/health', ready: '/ready', prometheus: '/metrics' } as const

export type HttpDirective = keyof typeof PATHS

export interface HttpEndpoint {
  readonly directive: HttpDirective
  readonly address: HttpAddress
  /** Where it was asked for, for messages: `Corefile:4`. */
  readonly at: string
}

/** What the endpoints report. Asked at every request. */
export interface HttpReports {
  /** What keeps the server from being ready, by name; empty when it is. */
  notReady(): readonly string[]
  /** The text exposition. */
  metrics(): string
  /** Sources and zones, with what is wrong with them. */
  status(): unknown
}

/** Every endpoint the configuration asks for. */
export function httpEndpoints(config: ServerConfig): HttpEndpoint[] {
  return config.blocks.flatMap((block) =>
    (['health', 'ready', 'prometheus'] as const).flatMap((directive) => {
      const address = block[directive]
      return address === undefined ? [] : [{ directive, address, at: block.at }]
    }),
  )
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly type?: string
}

interface Listener {
  readonly server: Server
  paths: ReadonlyMap<string, HttpDirective>
}

export class HttpServer {
  readonly #reports: HttpReports
  readonly #listeners = new Map<string, Listener>()
  #draining = false

  constructor(reports: HttpReports) {
    this.#reports = reports
  }

  /**
   * Serves these endpoints, and no longer those of the call before; an address in both stays open. When one cannot be
   * opened, that is thrown and everything is as it was.
   */
  async serve(endpoints: readonly HttpEndpoint[]): Promise<void> {
    const wanted = Map.groupBy(endpoints, ({ address }) => formatAddress(address))
    const opened = new Map<string, Listener>()
    try {
      for (const [key, shared] of wanted) {
        if (!this.#listeners.has(key)) opened.set(key, await this.#open(shared))
      }
    } catch (error) {
      await closeAll(opened.values())
      throw error
    }
    const gone: Listener[] = []
    for (const [key, listener] of this.#listeners) {
      const shared = wanted.get(key)
      if (shared !== undefined) listener.paths = pathsOf(shared)
      else if (this.#listeners.delete(key)) gone.push(listener)
    }
    for (const [key, listener] of opened) this.#listeners.set(key, listener)
    await closeAll(gone)
  }

  /** The port an endpoint is served on; differs from the one asked for only when that was 0. */
  port(endpoint: HttpEndpoint): number | undefined {
    const bound = this.#listeners.get(formatAddress(endpoint.address))?.server.address() as AddressInfo | undefined
    return bound?.port
  }

  /** Not ready from now on; resolves after the lameduck time, or as soon as `signal` aborts. */
  async drain(lameduckMs: number, signal: AbortSignal): Promise<void> {
    this.#draining = true
    await sleep(lameduckMs, undefined, { signal }).catch(() => undefined)
  }

  /** Requests under way are answered, idle connections closed. */
  close(): Promise<void> {
    return this.serve([])
  }

  async #open(endpoints: readonly HttpEndpoint[]): Promise<Listener> {
    const server = createServer(
      {
        headersTimeout: TIMEOUT_MS,
        requestTimeout: TIMEOUT_MS,
        keepAliveTimeout: TIMEOUT_MS,
        connectionsCheckingInterval: 1000,
        maxHeaderSize: 8192,
      },
      (request, response) => this.#respond(listener.paths, request, response),
    )
    const listener: Listener = { server, paths: pathsOf(endpoints) }
    server.maxConnections = MAX_CONNECTIONS
    server.timeout = 2 * TIMEOUT_MS
    const [{ address }] = endpoints
    try {
      server.listen({ port: address.port, ...(address.host === '' ? {} : { host: await resolveHost(address.host) }) })
      await once(server, 'listening')
    } catch (error) {
      throw cannotListen(endpoints[0], error)
    }
    // Errors after this point are of accept (no descriptors left): the next connection may do better.
    server.on('error', () => undefined)
    return listener
  }

  #respond(paths: ReadonlyMap<string, HttpDirective>, request: IncomingMessage, response: ServerResponse): void {
    const answer = this.#answer(paths, request)
    response.writeHead(answer.status, {
      'content-type': answer.type ?? TEXT,
      'content-length': Buffer.byteLength(answer.body),
      ...(answer.status === 405 ? { allow: 'GET, HEAD' } : {}),
    })
    response.end(request.method === 'HEAD' ? undefined : answer.body)
  }

  #answer(paths: ReadonlyMap<string, HttpDirective>, request: IncomingMessage): Answer {
    const [path] = (request.url ?? '').split('?', 1)
    const isStatus = path === STATUS_PATH && paths.has(PATHS.health)
    const directive = isStatus ? 'health' : paths.get(path)
    if (directive === undefined) return { status: 404, body: 'Not Found\n' }
    if (request.method !== 'GET' && request.method !== 'HEAD') return { status: 405, body: 'Method Not Allowed\n' }
    if (isStatus) return written('status', JSON_TYPE, () => `${JSON.stringify(this.#reports.status(), undefined, 2)}\n`)
    if (directive === 'health') return { status: 200, body: 'OK' }
    if (directive === 'ready') return this.#ready()
    return written('metrics', METRICS_CONTENT_TYPE, () => this.#reports.metrics())
  }

  #ready(): Answer {
    if (this.#draining) return { status: 503, body: 'Shutting down' }
    const missing = this.#reports.notReady()
    return missing.length === 0 ? { status: 200, body: 'OK' } : { status: 503, body: missing.join(', ') }
  }
}

/** A page that cannot be written is an error of that request only. */
function written(what: string, type: string, write: () => string): Answer {
  try {
    return { status: 200, body: write(), type }
  } catch (error) {
    return { status: 500, body: `Cannot write ${what}: ${messageOf(error)}\n` }
  }
}

function pathsOf(endpoints: readonly HttpEndpoint[]): ReadonlyMap<string, HttpDirective> {
  return new Map(endpoints.map(({ directive }) => [PATHS[directive], directive]))
}

async function closeAll(listeners: Iterable<Listener>): Promise<void> {
  await Promise.all(
    Array.from(listeners, async ({ server }) => {
      const closed = once(server, 'close')
      server.close()
      const force = setTimeout(() => server.closeAllConnections(), TIMEOUT_MS)
      await closed
      clearTimeout(force)
    }),
  )
}

/** A name such as `localhost` means its IPv4 address if it has one, as in CoreDNS. */
async function resolveHost(host: string): Promise<string> {
  const { address } = await lookup(host, { order: 'ipv4first' })
  return address
}

function formatAddress({ host, port }: HttpAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function cannotListen({ directive, address, at }: HttpEndpoint, cause: unknown): HoldfastError {
  const subject = `Cannot listen on "${formatAddress(address)}" for "${directive}" (${at})`
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EADDRINUSE') {
    const message = `${subject}: the port is in use; give ${directive} another address or stop what uses this one`
    return new HoldfastError('PortInUse', message, { cause })
  }
  if (code === 'EACCES') {
    const message = `${subject}: not permitted; ports below 1024 need root or CAP_NET_BIND_SERVICE`
    return new HoldfastError('CannotListen', message, { cause })
  }
  return new HoldfastError('CannotListen', `${subject}: ${messageOf(cause)}; an address of this host is wanted`, {
    cause,
  })
}
