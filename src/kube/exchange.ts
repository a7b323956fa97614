// One HTTP request and its answer. Nothing is waited for without end: a server that is silent for too long, before the
// answer or in the middle of it, counts as gone.

import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { messageOf } from '../lib/errors.ts'
import type { Access } from './connection.ts'

export interface Call {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** How long nothing may be heard. */
  readonly silenceMs: number
}

export interface Answer {
  readonly status: number
  readonly retryAfterMs: number | undefined
  /** The body as it comes. Whoever stops early closes the connection. */
  readonly chunks: () => AsyncGenerator<Buffer>
}

/** There was no answer, or not all of it. */
export class TransportFailure extends Error {
  /** A connection was taken up again that the server had just closed: nothing has been asked. */
  readonly stale: boolean
  readonly silent: boolean

  constructor(cause: unknown, { stale, silent }: { stale: boolean; silent: boolean }) {
    super(messageOf(cause), { cause })
    this.name = 'TransportFailure'
    this.stale = stale
    this.silent = silent
  }
}

/** Begins to ask after this time whether the other side is still there; a dead one is noticed some ten seconds later. */
const KEEP_ALIVE_MS = 15_000

/** Resolves with the head of the answer. Rejects with a TransportFailure, or with the signal's reason. */
export async function send(access: Access, call: Call): Promise<Answer> {
  const { signal, silenceMs } = call
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = open(access, call)
  const silence = new Silence(silenceMs, () => request.destroy())
  const failure = (error: unknown): unknown => {
    silence.end()
    if (signal?.aborted === true) return signal.reason
    const { code } = error as NodeJS.ErrnoException
    const stale = request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE')
    return new TransportFailure(error, { stale, silent: silence.isOver })
  }
  request.once('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS))
  request.once('response', resolve)
  request.on('error', reject)
  request.end(call.body)
  try {
    const response = await promise
    silence.heard()
    const chunks = () => read(response, silence, failure)
    return { status: response.statusCode ?? 0, retryAfterMs: retryAfter(response), chunks }
  } catch (error) {
    throw failure(error)
  }
}

function open({ server, agent, headers }: Access, call: Call): ClientRequest {
  const { method, path, body, signal } = call
  const ask = server.startsWith('http:') ? requestPlain : requestSecure
  const content =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  try {
    return ask(server + path, {
      agent,
      method,
      headers: { accept: 'application/json', 'user-agent': 'holdfast', ...content, ...headers },
      ...(signal !== undefined && { signal }),
    })
  } catch (error) {
    // Certificates and keys that are no such thing are noticed here.
    throw new TransportFailure(error, { stale: false, silent: false })
  }
}

async function* read(
  response: IncomingMessage,
  silence: Silence,
  failure: (error: unknown) => unknown,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of response) {
      silence.heard()
      yield chunk as Buffer
    }
  } catch (error) {
    throw failure(error)
  } finally {
    silence.end()
  }
}

function retryAfter({ headers }: IncomingMessage): number | undefined {
  const seconds = headers['retry-after']
  return seconds !== undefined && /^\d+$/u.test(seconds) ? Number(seconds) * 1000 : undefined
}

/** What has arrived while this thread was busy counts as heard: timers come before sockets. */
class Silence {
  readonly #timer: NodeJS.Timeout
  #immediate: NodeJS.Immediate | undefined
  isOver = false

  constructor(limitMs: number, run: () => void) {
    this.#timer = setTimeout(() => {
      this.#immediate = setImmediate(() => {
        this.isOver = true
        run()
      })
    }, limitMs)
  }

  heard(): void {
    clearImmediate(this.#immediate)
    this.#timer.refresh()
  }

  end(): void {
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
  }
}

export async function readAll({ chunks }: Answer): Promise<string> {
  const pieces: Buffer[] = []
  for await (const chunk of chunks()) pieces.push(chunk)
  return Buffer.concat(pieces).toString()
}
