// An ExternalDNS webhook provider: ExternalDNS decides what should be there, this writes it as ExternalDNS's own CoreDNS
// provider would, and answers from a live mirror of etcd what is there. What is told apart by status: 2xx done, 4xx
// never to be repeated, 5xx to be tried again.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { HoldfastError, messageOf } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { DomainFilterOptions } from '../../endpoints/domain-filter.ts'
import type { NameProblem } from './name-changes.ts'
import type { SkydnsStore } from './skydns-store.ts'
import { asStored, storageProblem } from './storable.ts'
import { type GuardOptions, refusalOf } from './webhook-guard.ts'
import { formatEndpoints, parseChanges, parseEndpoints } from './webhook-json.ts'

const MEDIA_TYPE = 'application/external.dns.webhook+json;version=1'
/** What ExternalDNS takes at most, unless told otherwise; some 60,000 records. */
const MAX_BODY_BYTES = 32 << 20
/** Who is still writing when the connection closes may never see the answer. */
const MOST_READ_BYTES = 2 * MAX_BODY_BYTES
const HEADERS_TIMEOUT_MS = 5000
const REQUEST_TIMEOUT_MS = 30_000
/** ExternalDNS waits 15 s for an answer, unless told otherwise. */
const PATIENCE_MS = 5000
const CLOSING_MS = 5000
/** ExternalDNS needs one, and each can bring a body of that size. */
const MAX_CONNECTIONS = 16

export interface WebhookOptions {
  readonly store: Pick<SkydnsStore, 'caughtUp' | 'endpoints' | 'apply'>
  readonly domains: DomainFilterOptions
  readonly guard: GuardOptions
  readonly log: Log
  /** Of every answer. */
  readonly onAnswer?: (route: string, status: number) => void
}

interface Answer {
  readonly status: number
  readonly body?: string
  readonly type?: string
}

type Handler = (body: Uint8Array) => Answer | Promise<Answer>

export class WebhookServer {
  readonly #options: WebhookOptions
  readonly #server: Server
  readonly #routes: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
    '/': { GET: () => this.#negotiate() },
    '/records': { GET: () => this.#records(), POST: (body) => this.#apply(body) },
    '/adjustendpoints': { POST: (body) => this.#adjust(body) },
    '/healthz': { GET: () => ({ status: 200, body: 'OK\n' }) },
  }
  /** What could not be stored at the last asking: it is said once as long as it lasts. */
  #told: ReadonlySet<string> = new Set()

  constructor(options: WebhookOptions) {
    this.#options = options
    const limits = { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS }
    this.#server = createServer(limits, (request, response) => void this.#respond(request, response))
    this.#server.maxConnections = MAX_CONNECTIONS
  }

  /** Rejects with what the system says. */
  async listen(host: string, port: number): Promise<void> {
    this.#server.listen({ port, ...(host !== '' && { host }) })
    await once(this.#server, 'listening')
  }

  /** Requests under way are answered. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeIdleConnections()
    const force = setTimeout(() => this.#server.closeAllConnections(), CLOSING_MS)
    await closed
    clearTimeout(force)
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = (request.url ?? '').split('?', 1)
    const methods = Object.hasOwn(this.#routes, path) ? this.#routes[path] : undefined
    const { status, body = '', type = 'text/plain; charset=utf-8' } = await this.#answer(path, methods, request)
    this.#options.onAnswer?.(methods === undefined ? 'other' : path, status)
    if (response.destroyed) return
    response.writeHead(status, {
      ...(status !== 204 && { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
      ...(status === 405 && { allow: Object.keys(methods ?? {}).join(', ') }),
      ...(status === 401 && { 'www-authenticate': 'Basic realm="holdfast"' }),
      // What was not read of the request must not be taken for another one.
      ...(!request.complete && { connection: 'close' }),
    })
    response.end(request.method === 'HEAD' ? undefined : body)
  }

  async #answer(
    path: string,
    methods: Readonly<Record<string, Handler>> | undefined,
    request: IncomingMessage,
  ): Promise<Answer> {
    // A probe has no password.
    const { password, ...guard } = this.#options.guard
    const refusal = refusalOf(request, { ...guard, password: path === '/healthz' ? undefined : password })
    if (refusal !== undefined) return { status: refusal.status, body: `${refusal.reason}\n` }
    if (methods === undefined) return { status: 404, body: 'Not Found\n' }
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
    if (!Object.hasOwn(methods, method)) return { status: 405, body: 'Method Not Allowed\n' }
    try {
      const body = await readBody(request)
      if (body === undefined) return { status: 413, body: `Expected at most ${MAX_BODY_BYTES} bytes\n` }
      return await methods[method](body)
    } catch (thrown) {
      const message = messageOf(thrown)
      this.#options.log.error(message)
      const isTheirs = thrown instanceof HoldfastError && thrown.code === 'WebhookRequest'
      return { status: isTheirs ? 400 : 503, body: `${message}\n` }
    }
  }

  #negotiate(): Answer {
    const { include, exclude, ...regexps } = this.#options.domains
    const isRegexp = Object.values(regexps).some((regexp) => regexp !== '')
    return { status: 200, type: MEDIA_TYPE, body: JSON.stringify(isRegexp ? regexps : { include, exclude }) }
  }

  async #records(): Promise<Answer> {
    const { store } = this.#options
    await store.caughtUp(PATIENCE_MS)
    return { status: 200, type: MEDIA_TYPE, body: formatEndpoints(store.endpoints('all')) }
  }

  async #apply(body: Uint8Array): Promise<Answer> {
    const { store, log } = this.#options
    const { puts, deletes, problems } = await store.apply(parseChanges(body))
    if (puts + deletes > 0) log.info(`Records: ${puts} keys written, ${deletes} removed`)
    for (const { message } of problems) log.error(message)
    return problems.length === 0 ? { status: 204 } : { status: 500, body: undone(problems) }
  }

  #adjust(body: Uint8Array): Answer {
    const wanted = parseEndpoints(body)
    const problems = new Set(wanted.flatMap((endpoint) => storageProblem(endpoint) ?? []))
    for (const problem of problems.difference(this.#told)) this.#options.log.warning(problem)
    this.#told = problems
    const stored = wanted.filter((endpoint) => storageProblem(endpoint) === undefined).map(asStored)
    return { status: 200, type: MEDIA_TYPE, body: formatEndpoints(stored) }
  }
}

/** Undefined: too much. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > MOST_READ_BYTES) return undefined
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    // Without the answer, nobody would know why.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MOST_READ_BYTES) return undefined
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
    }
  } catch (cause) {
    throw new HoldfastError('WebhookRequest', 'Cannot read the request: the connection was cut', { cause })
  }
  return bytes > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks)
}

function undone(problems: readonly NameProblem[]): string {
  const [{ message }] = problems
  return `${problems.length === 1 ? message : `${message}, and ${problems.length - 1} more`}\n`
}
