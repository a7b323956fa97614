// One connection per member at most, made when it is needed and authenticated once it is open. Members are asked in
// an order that changes as they fail: one that failed goes to the end.

import { Connection } from './connection.ts'
import { dial } from './dial.ts'
import { type Endpoint, parseEndpoints } from './endpoint.ts'
import { CallFailure, isAuthDisabled } from './failure.ts'
import * as methods from './methods.ts'
import type { EtcdOptions } from './options.ts'
import { decode, encode } from './protobuf.ts'

const DIAL_TIMEOUT_MS = 2000
const AUTHENTICATE_TIMEOUT_MS = 3000

/** A connection and the token that its calls carry: each member keeps the tokens it has given only in memory. */
export interface Link {
  readonly connection: Connection
  readonly token: string | undefined
}

export class Connections {
  readonly #options: EtcdOptions
  readonly #order: Endpoint[]
  readonly #links = new Map<Endpoint, Promise<Link>>()
  /** Also those that take no more calls but still have some under way. */
  readonly #open = new Set<Connection>()
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
  async link(endpoint: Endpoint): Promise<Link> {
    const shared = this.#share(endpoint, () => this.#connect(endpoint))
    const link = await shared
    if (await link.connection.prove()) return link
    this.#forget(endpoint, shared)
    return this.#share(endpoint, () => this.#connect(endpoint))
  }

  /** A new token in place of one that was refused. Concurrent callers share one attempt. */
  async renew(endpoint: Endpoint, refused: Link): Promise<Link> {
    const shared = this.#links.get(endpoint)
    if (shared === undefined || (await shared) !== refused) return this.link(endpoint)
    this.#forget(endpoint, shared)
    return this.#share(endpoint, () => this.#authenticate(refused.connection))
  }

  close(): void {
    this.#closing.abort(new Error('the client is closed'))
    for (const connection of this.#open) connection.close()
  }

  #share(endpoint: Endpoint, make: () => Promise<Link>): Promise<Link> {
    const shared = this.#links.get(endpoint)
    if (shared !== undefined) return shared
    const made = make()
    this.#links.set(endpoint, made)
    const forget = () => this.#forget(endpoint, made)
    made.then(({ connection }) => connection.onUnusable(forget)).catch(forget)
    return made
  }

  #forget(endpoint: Endpoint, made: Promise<Link>): void {
    if (this.#links.get(endpoint) === made) this.#links.delete(endpoint)
  }

  async #connect(endpoint: Endpoint): Promise<Link> {
    const { tls, dialTimeoutMs: timeoutMs = DIAL_TIMEOUT_MS } = this.#options
    const connection = new Connection(endpoint, await dial(endpoint, { tls, timeoutMs, signal: this.#closing.signal }))
    this.#open.add(connection)
    connection.onClose(() => this.#open.delete(connection))
    try {
      return await this.#authenticate(connection)
    } catch (error) {
      connection.close()
      throw error
    }
  }

  async #authenticate(connection: Connection): Promise<Link> {
    const { username: name, password = '' } = this.#options
    if (name === undefined) return { connection, token: undefined }
    const { path, request, answer } = methods.AUTHENTICATE
    const options = { token: undefined, timeoutMs: AUTHENTICATE_TIMEOUT_MS, signal: this.#closing.signal }
    try {
      const bytes = await connection.ask(path, encode(request, { name, password }), options)
      return { connection, token: decode(answer, bytes).token }
    } catch (error) {
      // A user is given, but the cluster has authentication turned off: it is open to all.
      if (error instanceof CallFailure && isAuthDisabled(error)) return { connection, token: undefined }
      throw error
    }
  }
}
