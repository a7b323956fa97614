// The sockets that the main thread serves: TCP of every address, and UDP too where there are no workers. A reload
// hands them on open to the next generation.

import type { Answering } from './answering.ts'
import { TcpListener } from './tcp.ts'
import type { TcpConnections } from './tcp-connections.ts'
import { DgramListener } from './udp/dgram-listener.ts'
import type { UdpListener } from './udp/udp-server.ts'

type Transport = 'udp' | 'tcp'

export class MainSockets {
  readonly #transports: readonly Transport[]
  readonly #answering: (listener: UdpListener, transport: Transport) => Answering
  readonly #connections: TcpConnections
  readonly #sockets = new Map<string, TcpListener | DgramListener>()

  constructor(
    transports: readonly Transport[],
    answering: (listener: UdpListener, transport: Transport) => Answering,
    connections: TcpConnections,
  ) {
    this.#transports = transports
    this.#answering = answering
    this.#connections = connections
  }

  /** Opens what `previous` does not have. Throws when an address cannot be had. */
  async open(listeners: readonly UdpListener[], previous: MainSockets | undefined): Promise<void> {
    for (const [key, listener, transport] of this.#wanted(listeners)) {
      if (previous !== undefined && previous.#sockets.has(key)) continue
      const answering = this.#answering(listener, transport)
      if (transport === 'tcp') {
        const socket = new TcpListener(answering, this.#connections)
        await socket.listen(listener)
        this.#sockets.set(key, socket)
      } else {
        const socket = new DgramListener(answering, listener)
        await socket.listen(previous === undefined)
        this.#sockets.set(key, socket)
      }
    }
  }

  /** Takes the sockets for the same addresses away from `previous`. */
  takeOver(listeners: readonly UdpListener[], previous: MainSockets): void {
    for (const [key, listener, transport] of this.#wanted(listeners)) {
      const socket = previous.#sockets.get(key)
      if (socket === undefined) continue
      previous.#sockets.delete(key)
      this.#sockets.set(key, socket)
      socket.answering = this.#answering(listener, transport)
    }
  }

  /** Answers what has arrived, then closes. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#sockets.values(), (socket) => socket.close()))
  }

  /** Ends what `close` is still waiting for. */
  destroy(): void {
    for (const socket of this.#sockets.values()) socket.destroy()
  }

  #wanted(listeners: readonly UdpListener[]): [string, UdpListener, Transport][] {
    return listeners.flatMap((listener) =>
      this.#transports.map((transport): [string, UdpListener, Transport] => {
        const { host, scope, port } = listener
        return [`${transport} ${host}%${scope} ${port}`, listener, transport]
      }),
    )
  }
}
