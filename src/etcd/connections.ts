// One connection per member at most, made when it is needed and authenticated once it is open. Members are asked in
// an order that changes as they fail: one that failed goes to the end.

import { Connection } from './connection.ts'
import { dial } from './dial.ts'
import { type Endpoint, parseEndpoints } from './endpoint.ts'
import { CallFailure, isAuthDisabled, isOutcomeUnknown } from './failure.ts'
import * as methods from './methods.ts'
import type { EtcdOptions } from './options.ts'
import { decode, encode } from './protobuf.ts'

const DIAL_TIMEOUT_MS = 2000
const AUTHENTICATE_TIMEOUT_MS = 3000

export class Connections {
  readonly #options: EtcdOptions
  readonly #order: Endpoint[]
  /** The current ones, or attempts at them. */
  readonly #current = new Map<Endpoint, Promise<Connection>>()
  readonly #renewals = new Map<Connection, Promise<void>>()
  /** Also those that take no more calls but still have some under way. */
  readonly #all = new Set<Connection>()
  readonly #closing = new AbortController()

  constructor(options: EtcdOptions) {
    this.#options = options
    const endpoints = parseEndpoints(options)
    // Clients of one cluster spread over its members.
    const first = Math.floor(Math.random() * endpoints.length)
    this.#order = [...endpoints.slice(first), ...endpoints.slice(0, first)]
  }

  /** The members, in the order in which they should be asked. */
  get order(): readonly Endpoint[] {
    return this.#order
  }

  get closed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Asks the member later than the others from now on. */
  demote(endpoint: Endpoint): void {
    if (this.#order[0] === endpoint) this.#order.push(...this.#order.splice(0, 1))
  }

  /** Open, proven and authenticated. Concurrent callers share one attempt. */
  async connect(endpoint: Endpoint): Promise<Connection> {
    const shared = this.#share(endpoint)
    const connection = await shared
    if (await connection.prove()) return connection
    this.#forget(endpoint, shared)
    return this.#share(endpoint)
  }

  /** A new token in place of one that was refused. Concurrent callers share one attempt. */
  async renewToken(connection: Connection, refused: string | undefined): Promise<void> {
    if (connection.token !== refused) return
    const shared = this.#renewals.get(connection)
    if (shared !== undefined) return shared
    const renewal = this.#authenticate(connection).finally(() => this.#renewals.delete(connection))
    this.#renewals.set(connection, renewal)
    await renewal
  }

  close(): void {
    this.#closing.abort(new Error('the client is closed'))
    for (const connection of this.#all) connection.close()
  }

  #share(endpoint: Endpoint): Promise<Connection> {
    const shared = this.#current.get(endpoint)
    if (shared !== undefined) return shared
    const made = this.#open(endpoint)
    this.#current.set(endpoint, made)
    const forget = () => this.#forget(endpoint, made)
    made.then((connection) => connection.onUnusable(forget)).catch(forget)
    return made
  }

  #forget(endpoint: Endpoint, made: Promise<Connection>): void {
    if (this.#current.get(endpoint) === made) this.#current.delete(endpoint)
  }

  async #open(endpoint: Endpoint): Promise<Connection> {
    const { tls, dialTimeoutMs: timeoutMs = DIAL_TIMEOUT_MS } = this.#options
    const connection = new Connection(endpoint, await dial(endpoint, { tls, timeoutMs, signal: this.#closing.signal }))
    this.#all.add(connection)
    connection.onClose(() => this.#all.delete(connection))
    try {
      await this.#authenticate(connection)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }

  async #authenticate(connection: Connection): Promise<void> {
    const { username: name, password = '' } = this.#options
    if (name === undefined) return
    const { path, request, answer } = methods.AUTHENTICATE
    const options = { token: undefined, timeoutMs: AUTHENTICATE_TIMEOUT_MS, signal: this.#closing.signal }
    try {
      const bytes = await connection.ask(path, encode(request, { name, password }), options)
      connection.token = decode(answer, bytes).token
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error
      // Whoever wanted to log in has sent nothing else yet.
      if (isOutcomeUnknown(error))
        throw new CallFailure('refused', connection.endpoint, error.message, { cause: error })
      // A user is given, but the cluster has authentication turned off: it is open to all.
      if (!isAuthDisabled(error)) throw error
      connection.token = undefined
    }
  }
}
