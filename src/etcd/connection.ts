// An open connection to one member and the calls on it. While calls are under way it is pinged, so that a cut network
// is noticed within seconds; after a silence it has to prove itself before it may carry a request.

import { type ClientHttp2Session, type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import { messageOf } from '../lib/errors.ts'
import type { Dialled } from './dial.ts'
import type { Endpoint } from './endpoint.ts'
import { CallFailure } from './failure.ts'
import { FrameReader, frame } from './framing.ts'
import { startTimeout } from './timeout.ts'

/** etcd hangs up on clients that ping more often than every five seconds. */
const PING_INTERVAL_MS = 5200
const PING_TIMEOUT_MS = 2000
/** A connection that was heard within this time needs no proof. */
const FRESH_MS = 1000
const PROOF_TIMEOUT_MS = 1000

export interface CallOptions {
  readonly token: string | undefined
  /** Until the end of the call, for calls with one answer. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
  /** Leaves our side open after the request, as watches need it. */
  readonly open?: boolean
  /** Also from a member that has no leader. Others are told to refuse rather than let the call wait or a watch go quiet. */
  readonly leaderless?: boolean
}

export class Connection {
  readonly endpoint: Endpoint
  /** What calls on it carry: a member keeps the tokens it has given in memory only. */
  token: string | undefined
  readonly #session: ClientHttp2Session
  readonly #socket: Socket
  #calls = 0
  #proof: Promise<boolean> | undefined
  #pinging: NodeJS.Timeout | undefined
  #lastHeard = performance.now()

  constructor(endpoint: Endpoint, { session, socket }: Dialled) {
    this.endpoint = endpoint
    this.#session = session
    this.#socket = socket
    session.unref()
  }

  /** False once it is closed, or closing because the member said so. */
  get usable(): boolean {
    return !this.#session.closed && !this.#session.destroyed
  }

  /** Runs when it takes no more calls, because it is closed or the member is about to close it. May run twice. */
  onUnusable(run: () => void): void {
    this.#session.once('goaway', run)
    this.#session.once('close', run)
  }

  onClose(run: () => void): void {
    this.#session.once('close', run)
  }

  close(): void {
    this.#session.destroy()
    this.#socket.destroy()
  }

  /** Whether the member is heard: a request sent after that was not sent into the void. If not, the connection is closed. */
  prove(): Promise<boolean> {
    if (!this.usable) return Promise.resolve(false)
    if (performance.now() - this.#lastHeard < FRESH_MS) return Promise.resolve(true)
    this.#proof ??= this.#ping(PROOF_TIMEOUT_MS).finally(() => {
      this.#proof = undefined
    })
    return this.#proof
  }

  /** A call with one request and one answer. */
  async ask(path: string, request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    let answer: Uint8Array | undefined
    for await (const message of this.call(path, request, options)) answer ??= message
    if (answer !== undefined) return answer
    throw new CallFailure('lost', this.endpoint, 'the member ended the call without an answer')
  }

  /** The messages of the answer as they arrive; ends normally when the member says that all is well. */
  async *call(path: string, request: Uint8Array, options: CallOptions): AsyncGenerator<Uint8Array> {
    const { signal, timeoutMs } = options
    signal?.throwIfAborted()
    const stream = this.#request(path, options)
    let trailers: IncomingHttpHeaders | undefined
    stream.on('response', (headers) => {
      this.#lastHeard = performance.now()
      if (headers['grpc-status'] !== undefined) trailers = headers
    })
    stream.on('trailers', (headers: IncomingHttpHeaders) => {
      trailers = headers
    })
    const silent = () =>
      stream.destroy(new CallFailure('silent', this.endpoint, `no answer within ${Math.ceil(timeoutMs ?? 0)} ms`))
    const stopTimeout = timeoutMs === undefined ? undefined : startTimeout(timeoutMs, silent)
    const abort = () => stream.destroy(new Error('aborted'))
    signal?.addEventListener('abort', abort, { once: true })
    this.#began()
    try {
      stream.write(frame(request))
      if (options.open !== true) stream.end()
      const reader = new FrameReader()
      for await (const chunk of stream) {
        this.#lastHeard = performance.now()
        yield* reader.push(chunk as Buffer)
      }
    } catch (error) {
      signal?.throwIfAborted()
      throw this.#broken(stream, error)
    } finally {
      stopTimeout?.()
      signal?.removeEventListener('abort', abort)
      stream.close(constants.NGHTTP2_CANCEL)
      this.#ended()
    }
    this.#checkStatus(trailers)
  }

  #request(path: string, { token, timeoutMs, leaderless }: CallOptions): ClientHttp2Stream {
    try {
      const stream = this.#session.request({
        ':method': 'POST',
        ':path': path,
        te: 'trailers',
        'content-type': 'application/grpc',
        'user-agent': 'holdfast',
        ...(leaderless !== true && { hasleader: 'true' }),
        ...(token !== undefined && { token }),
        ...(timeoutMs !== undefined && { 'grpc-timeout': `${Math.ceil(timeoutMs)}m` }),
      })
      // Whoever reads the stream sees its errors; one that comes after the last read is of no interest.
      stream.on('error', () => {})
      return stream
    } catch (error) {
      // It was closed a moment ago.
      throw new CallFailure('refused', this.endpoint, messageOf(error), { cause: error })
    }
  }

  #broken(stream: ClientHttp2Stream, error: unknown): CallFailure {
    if (error instanceof CallFailure) return error
    const kind = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? 'refused' : 'lost'
    return new CallFailure(kind, this.endpoint, messageOf(error), { cause: error })
  }

  #checkStatus(trailers: IncomingHttpHeaders | undefined): void {
    if (trailers === undefined) throw new CallFailure('lost', this.endpoint, 'the call ended without a status')
    const status = Number(trailers['grpc-status'])
    if (status === 0) return
    throw new CallFailure('status', this.endpoint, decodeMessage(trailers['grpc-message']), { status })
  }

  #began(): void {
    if (this.#calls++ > 0) return
    this.#session.ref()
    this.#keepPinging()
  }

  #ended(): void {
    if (--this.#calls > 0) return
    clearTimeout(this.#pinging)
    if (!this.#session.destroyed) this.#session.unref()
  }

  #keepPinging(): void {
    clearTimeout(this.#pinging)
    const ping = async () => {
      if ((await this.#ping(PING_TIMEOUT_MS)) && this.#calls > 0) this.#keepPinging()
    }
    this.#pinging = setTimeout(() => void ping(), PING_INTERVAL_MS).unref()
  }

  /** Closes the connection if there is no answer; its calls notice that. */
  #ping(timeoutMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const settle = (isHeard: boolean) => {
      stopTimeout()
      if (isHeard) this.#lastHeard = performance.now()
      else this.close()
      resolve(isHeard)
    }
    const stopTimeout = startTimeout(timeoutMs, () => settle(false))
    if (this.usable) this.#session.ping((error) => settle(error === null))
    else settle(false)
    return promise
  }
}

/** gRPC percent-encodes what is not printable ASCII. */
function decodeMessage(text: string | string[] | undefined): string {
  const raw = String(text ?? '')
  try {
    return decodeURIComponent(raw)
  } catch {
    return raw
  }
}
