// The open TCP connections of all listeners and generations. When there is no room for another, one is closed (RFC 7766
// section 6.2.3, RFC 9210 section 4.5): of the client with most connections, the one that has been idle for longest. So a
// client with few is served however many others have.

import { clientNetwork } from './client-network.ts'

const MOST_CONNECTIONS = 4096
const MOST_OF_CLIENT = 256

export interface Connection {
  /** An answer is being waited for. */
  readonly isWaiting: boolean
  destroy(): void
}

interface Client {
  readonly network: string
  /** The one that asked least recently first. */
  readonly connections: Set<Connection>
}

export class TcpConnections {
  /** Totals. */
  accepted = 0
  evicted = 0
  readonly #most: number
  readonly #mostOfClient: number
  readonly #owners = new Map<Connection, Client>()
  readonly #clients = new Map<string, Client>()
  /** By number of connections; the client that asked least recently first. */
  readonly #bySize: Set<Client>[] = [new Set()]

  constructor(most: number = MOST_CONNECTIONS, mostOfClient: number = MOST_OF_CLIENT) {
    this.#most = most
    this.#mostOfClient = mostOfClient
  }

  get open(): number {
    return this.#owners.size
  }

  /** Makes room if there is none. */
  add(connection: Connection, address: string): void {
    const network = clientNetwork(address)
    const before = this.#clients.get(network)
    if (before !== undefined && before.connections.size >= this.#mostOfClient) this.#evictFrom(before)
    else if (this.#owners.size >= this.#most) this.#evict()
    // It may have been the client's last one.
    const client = this.#clients.get(network) ?? { network, connections: new Set() }
    this.#clients.set(network, client)
    this.accepted++
    this.#owners.set(connection, client)
    this.#resize(client, () => client.connections.add(connection))
  }

  /** The connection has asked something. */
  asked(connection: Connection): void {
    const client = this.#owners.get(connection)
    if (client === undefined) return
    client.connections.delete(connection)
    client.connections.add(connection)
    this.#resize(client, () => undefined)
  }

  remove(connection: Connection): void {
    const client = this.#owners.get(connection)
    if (client === undefined) return
    this.#owners.delete(connection)
    this.#resize(client, () => client.connections.delete(connection))
    if (client.connections.size === 0) this.#clients.delete(client.network)
  }

  #evict(): void {
    const largest = this.#bySize.findLast((clients) => clients.size > 0)
    const [client] = largest ?? []
    if (client !== undefined) this.#evictFrom(client)
  }

  #evictFrom({ connections }: Client): void {
    const [longest] = connections
    const victim = connections.values().find((connection) => !connection.isWaiting) ?? longest
    this.evicted++
    this.remove(victim)
    victim.destroy()
  }

  #resize(client: Client, change: () => void): void {
    this.#bySize[client.connections.size]?.delete(client)
    change()
    const { size } = client.connections
    if (size > 0) (this.#bySize[size] ??= new Set()).add(client)
  }
}
