// DNS over TCP (RFC 7766, 9210): one listening socket and its connections, on the main thread.

import { createServer, isIPv6 } from 'node:net'
import type { Server, Socket } from 'node:net'
import type { Answering } from './answering.ts'
import { cannotListen } from './cannot-listen.ts'
import type { Listener } from './listeners.ts'
import { OutputBuffer, TcpConnection } from './tcp-connection.ts'
import type { TcpConnections } from './tcp-connections.ts'

/** A reload may go from one address to all of them, or back, while the earlier socket is still open. */
const CAN_SHARE = process.platform === 'linux'

export class TcpListener {
  /** May be replaced at any time; connections answer their next query with it. */
  answering: Answering
  readonly #server: Server
  readonly #all: TcpConnections
  readonly #connections = new Set<TcpConnection>()
  readonly #output = new OutputBuffer()

  /** `all`: over all listeners and generations. */
  constructor(answering: Answering, all: TcpConnections) {
    this.answering = answering
    this.#all = all
    // A client may close its side when it has asked everything: the answers still go out.
    this.#server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => this.#accept(socket))
  }

  listen({ host, port }: Listener): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) =>
        reject(cannotListen('TCP', host, port, error.code ?? error.message)),
      )
      this.#server.listen({ host, port, ipv6Only: isIPv6(host), reusePort: CAN_SHARE, backlog: 4096 }, () => {
        // Errors from here on are of accept (no descriptors left): the next connection may do better.
        this.#server.removeAllListeners('error').on('error', () => undefined)
        resolve()
      })
    })
  }

  /** No new connections; open ones end once what has arrived is answered. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const connection of this.#connections) connection.drain()
    await closed
  }

  /** Ends what `close` is still waiting for. */
  destroy(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  #accept(socket: Socket): void {
    const client = socket.remoteAddress
    if (client === undefined) {
      socket.destroy()
      return
    }
    const connection = new TcpConnection(socket, client, this, this.#output, () => this.#all.asked(connection))
    this.#connections.add(connection)
    this.#all.add(connection, client)
    socket.once('close', () => {
      this.#connections.delete(connection)
      this.#all.remove(connection)
    })
  }
}
