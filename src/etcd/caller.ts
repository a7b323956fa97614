// Brings a call to a member that can answer it, within one deadline: members that are unreachable, silent or without a
// leader are left for others, refused tokens are renewed, and what cannot be done is explained in one line.

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import { Connections } from './connections.ts'
import { type Endpoint, parseEndpoints } from './endpoint.ts'
import { explain } from './explain.ts'
import { CallFailure, type FailureKind, isTokenRefused, mayRetry } from './failure.ts'
import type { Method } from './methods.ts'
import type { EtcdOptions } from './options.ts'
import { type Decoded, decode, type Encodable, encode, type Fields, type MessageType } from './protobuf.ts'
import { startTimeout } from './timeout.ts'

const REQUEST_TIMEOUT_MS = 5000
/** Between rounds over all members, as when they are electing a leader; shortened at random by up to a half. */
const ROUND_PAUSE_MS = 200
/** A member's share of the deadline never gets so short that a healthy one could not answer. */
const LEAST_SHARE_MS = 250

export interface Asking {
  /** What is being done, for errors: `read "/zones/"`. */
  readonly what: string
  readonly signal?: AbortSignal | undefined
  /** The only member that will do, by its URL. */
  readonly endpoint?: string | undefined
  readonly timeoutMs?: number
}

type Attempt<T> = (connection: Connection, timeoutMs: number) => Promise<T>

export class Caller {
  readonly #options: EtcdOptions
  readonly #connections: Connections

  constructor(options: EtcdOptions) {
    this.#options = options
    this.#connections = new Connections(options)
  }

  close(): void {
    this.#connections.close()
  }

  async ask<Q extends MessageType<Fields>, A extends MessageType<Fields>>(
    { path, leaderless, repeatable, ...method }: Method<Q, A>,
    request: Encodable<Q>,
    asking: Asking,
  ): Promise<Decoded<A>> {
    const bytes = encode(method.request, request)
    const { signal } = asking
    const answer = await this.#attempts(repeatable, asking, (connection, timeoutMs) =>
      connection.ask(path, bytes, { token: connection.token, timeoutMs, leaderless, signal }),
    )
    return decode(method.answer, answer)
  }

  /**
   * The answers of a call that goes on. Members are tried until one gives the first answer; a failure after that
   * ends the call, and the next one begins with another member.
   */
  async *follow<Q extends MessageType<Fields>, A extends MessageType<Fields>>(
    method: Method<Q, A>,
    request: Encodable<Q>,
    asking: Asking,
  ): AsyncGenerator<Decoded<A>> {
    const bytes = encode(method.request, request)
    const { endpoint, answers, first } = await this.#attempts(true, asking, async (connection, timeoutMs) => {
      const { endpoint, token } = connection
      const givingUp = new AbortController()
      const signal = AbortSignal.any([givingUp.signal, ...(asking.signal === undefined ? [] : [asking.signal])])
      const { path, leaderless, open } = method
      const answers = readAnswers(method, endpoint, connection.call(path, bytes, { token, leaderless, open, signal }))
      try {
        return { endpoint, answers, first: await within(answers.next(), { timeoutMs, kind: 'silent', endpoint }) }
      } catch (error) {
        givingUp.abort()
        throw error
      }
    })
    try {
      if (first.done !== true) yield first.value
      yield* answers
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error
      this.#connections.demote(endpoint)
      throw explain([error], { what: asking.what, repeatable: true }, this.#options)
    } finally {
      await answers.return(undefined)
    }
  }

  async #attempts<T>(repeatable: boolean, asking: Asking, attempt: Attempt<T>): Promise<T> {
    const { signal, timeoutMs = this.#options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS } = asking
    const deadline = performance.now() + timeoutMs
    const task = { what: asking.what, repeatable }
    let earlier: readonly CallFailure[] = []
    let failures: CallFailure[] = []
    for (;;) {
      signal?.throwIfAborted()
      const [endpoint, ...others] = this.#candidates(asking, failures)
      if (endpoint === undefined) {
        const pauseMs = ROUND_PAUSE_MS * (1 - Math.random() / 2)
        // If the time is up (timers may be early by a little), the round before says more about the members.
        if (performance.now() + pauseMs >= deadline) throw explain([...earlier, ...failures], task, this.#options)
        // If no member can be reached, reporting it at once helps more than waiting.
        if (failures.every(({ kind }) => kind === 'unreachable')) throw explain(failures, task, this.#options)
        await sleep(pauseMs, undefined, signal === undefined ? {} : { signal })
        earlier = failures
        failures = []
        continue
      }
      try {
        return await this.#attempt(endpoint, deadline, repeatable ? 1 + others.length : 1, signal, attempt)
      } catch (error) {
        if (this.#connections.closed)
          throw new HoldfastError('EtcdFailed', `Cannot ${asking.what}: the etcd client is closed`)
        if (!(error instanceof CallFailure)) throw error
        failures.push(error)
        if (!mayRetry(error, repeatable)) throw explain(failures, task, this.#options)
        // The time ran out in the middle of a round: the round before says more about the members.
        if (performance.now() >= deadline) throw explain([...earlier, ...failures], task, this.#options)
        this.#connections.demote(endpoint)
      }
    }
  }

  /** Members that have not failed in this round. */
  #candidates(asking: Asking, failures: readonly CallFailure[]): Endpoint[] {
    const failed = new Set(failures.map((failure) => failure.endpoint))
    return this.#wanted(asking).filter((endpoint) => !failed.has(endpoint))
  }

  #wanted({ what, endpoint }: Asking): readonly Endpoint[] {
    if (endpoint === undefined) return this.#connections.order
    const [{ url }] = parseEndpoints({ ...this.#options, endpoints: [endpoint] })
    const found = this.#connections.order.filter((each) => each.url === url)
    if (found.length > 0) return found
    throw new HoldfastError('EtcdEndpoint', `Cannot ${what}: "${url}" is not among the endpoints of this client`)
  }

  /** `share`: how many members have to get by with the time that is left. */
  async #attempt<T>(
    endpoint: Endpoint,
    deadline: number,
    share: number,
    signal: AbortSignal | undefined,
    attempt: Attempt<T>,
  ): Promise<T> {
    const leftMs = () => Math.max(1, deadline - performance.now())
    const shareMs = () => Math.min(leftMs(), Math.max(LEAST_SHARE_MS, leftMs() / share))
    const connecting = () => ({ timeoutMs: shareMs(), kind: 'unreachable', endpoint, signal }) as const
    const connection = await within(this.#connections.connect(endpoint), connecting())
    const { token } = connection
    try {
      return await attempt(connection, shareMs())
    } catch (error) {
      if (!(error instanceof CallFailure) || !isTokenRefused(error) || this.#options.username === undefined) throw error
      await within(this.#connections.renewToken(connection, token), connecting())
      return attempt(connection, shareMs())
    }
  }
}

async function* readAnswers<Q extends MessageType<Fields>, A extends MessageType<Fields>>(
  { answer: type, refusal }: Method<Q, A>,
  endpoint: Endpoint,
  messages: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Decoded<A>> {
  for await (const message of messages) {
    const answer = decode(type, message)
    const reason = refusal?.(answer)
    if (reason !== undefined) throw new CallFailure('status', endpoint, reason)
    yield answer
  }
}

interface Waiting {
  readonly timeoutMs: number
  readonly kind: FailureKind
  readonly endpoint: Endpoint
  readonly signal?: AbortSignal | undefined
}

/** What was begun goes on for others who wait for it; this caller waits no longer. */
async function within<T>(begun: Promise<T>, { timeoutMs, kind, endpoint, signal }: Waiting): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const late = () => reject(new CallFailure(kind, endpoint, `no answer within ${Math.ceil(timeoutMs)} ms`))
  const stopTimeout = startTimeout(timeoutMs, late)
  const abort = () => reject(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([begun, promise])
  } finally {
    stopTimeout()
    signal?.removeEventListener('abort', abort)
  }
}
