// The HTTP side of the name server: /health, /status, /ready and /metrics, each on the address its directive gives. Blocks
// that name the same address share one listener. So that nothing here holds up DNS there are few connections, one request
// on each, short timeouts, a number of pages that a client may have each second, and a bound on the time of writing them.
//
//   serve ⟲ ──drain──▶ /ready says 503, /health still 200, for the lameduck time ──close──▶ gone
//
// That /health stays 200 while draining is CoreDNS's way: the process is well, it only wants no new clients.

import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError, messageOf } from '../lib/errors.ts'
import type { HttpAddress, ServerBlock, ServerConfig } from './config.ts'
import { type HttpAnswer, HttpConnection, type HttpRequest, plain } from './http-connection.ts'
import { HttpPage } from './http-page.ts'
import { METRICS_CONTENT_TYPE } from './metrics/metrics-text.ts'

const TIMEOUT_MS = 5000
const MAX_CONNECTIONS = 256
const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json'
const MOST_PAGES = 500
const PATHS = { health: '/health', status: '/status', ready: '/ready', prometheus: '/metrics' } as const

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
    (['health', 'status', 'ready', 'prometheus'] as const).flatMap((directive) => {
      const address = directive === 'status' ? statusAddress(block) : block[directive]
      return address === undefined ? [] : [{ directive, address, at: block.at }]
    }),
  )
}

/** Next to /health unless the configuration says otherwise. */
function statusAddress({ status, health }: ServerBlock): HttpAddress | undefined {
  return status === 'off' ? undefined : (status ?? health)
}

interface Listener {
  readonly server: Server
  readonly connections: Set<HttpConnection>
  paths: ReadonlyMap<string, HttpDirective>
}

export class HttpServer {
  readonly #reports: HttpReports
  readonly #listeners = new Map<string, Listener>()
  readonly #status: HttpPage
  readonly #metrics: HttpPage
  /** How many pages each client has had in the second. */
  readonly #pages = new Map<string, number>()
  readonly #mostPages: number
  #draining = false

  /** `mostPages`: in a second, of one client. */
  constructor(reports: HttpReports, mostPages: number = MOST_PAGES) {
    this.#mostPages = mostPages
    this.#reports = reports
    this.#status = new HttpPage(() => `${JSON.stringify(reports.status(), undefined, 2)}\n`)
    this.#metrics = new HttpPage(() => reports.metrics())
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
    const connections = new Set<HttpConnection>()
    const server = createServer((socket) => {
      const client = socket.remoteAddress ?? ''
      const connection = new HttpConnection(socket, (request) => this.#answer(listener.paths, request, client))
      connections.add(connection)
      socket.once('close', () => connections.delete(connection))
    })
    const listener: Listener = { server, connections, paths: pathsOf(endpoints) }
    server.maxConnections = MAX_CONNECTIONS
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

  #answer(paths: ReadonlyMap<string, HttpDirective>, { method, path }: HttpRequest, client: string): HttpAnswer {
    const directive = paths.get(path)
    if (directive === undefined) return plain(404)
    if (method !== 'GET' && method !== 'HEAD') return { ...plain(405), headers: { Allow: 'GET, HEAD' } }
    if (directive === 'health') return { status: 200, body: 'OK', type: TEXT }
    if (directive === 'ready') return this.#ready()
    if (!this.#countPage(client)) return { ...plain(429), headers: { 'Retry-After': '1' } }
    return directive === 'status'
      ? written('status', JSON_TYPE, this.#status)
      : written('metrics', METRICS_CONTENT_TYPE, this.#metrics)
  }

  /** False when the client has had enough of them. */
  #countPage(address: string): boolean {
    if (this.#pages.size === 0) setTimeout(() => this.#pages.clear(), 1000).unref()
    const pages = (this.#pages.get(address) ?? 0) + 1
    this.#pages.set(address, pages)
    return pages <= this.#mostPages
  }

  #ready(): HttpAnswer {
    if (this.#draining) return { status: 503, body: 'Shutting down', type: TEXT }
    const missing = this.#reports.notReady()
    return missing.length === 0
      ? { status: 200, body: 'OK', type: TEXT }
      : { status: 503, body: missing.join(', '), type: TEXT }
  }
}

/** A page that cannot be written is an error of that request only. */
function written(what: string, type: string, page: HttpPage): HttpAnswer {
  try {
    return { status: 200, body: page.read(), type }
  } catch (error) {
    return { status: 500, body: `Cannot write ${what}: ${messageOf(error)}\n`, type: TEXT }
  }
}

function pathsOf(endpoints: readonly HttpEndpoint[]): ReadonlyMap<string, HttpDirective> {
  return new Map(endpoints.map(({ directive }) => [PATHS[directive], directive]))
}

async function closeAll(listeners: Iterable<Listener>): Promise<void> {
  await Promise.all(
    Array.from(listeners, async ({ server, connections }) => {
      const closed = once(server, 'close')
      server.close()
      for (const connection of connections) if (connection.isIdle) connection.destroy()
      const force = setTimeout(() => {
        for (const connection of connections) connection.destroy()
      }, TIMEOUT_MS)
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
  return new HoldfastError('CannotListen', `${subject}: ${messageOf(cause)}; expected an address of this host`, {
    cause,
  })
}
