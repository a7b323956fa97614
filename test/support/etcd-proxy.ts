// Stands between a client and one etcd member, and does to the connections what networks do: cuts them, swallows what
// is sent, delays it; now, or as soon as given bytes pass by.

import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './ports.ts'

interface Passage {
  readonly client: Socket
  readonly member: Socket
}

export class EtcdProxy {
  readonly endpoint: string
  readonly #server: Server
  readonly #passages = new Set<Passage>()
  #target: { readonly host: string; readonly port: number }
  /** How many connections there have been. */
  connections = 0
  /** How many connections were closed because of `refusing`. */
  refusals = 0
  /** Bytes are taken and go nowhere; so are new connections. Nobody is told. */
  blackHole = false
  /** Connections are closed as soon as they are made. */
  refusing = false
  delayMs = 0
  /** Sees what a member sends before it is passed on. If it returns `cut`, the connection is cut after that was passed on. */
  onAnswer: (bytes: Buffer) => 'cut' | undefined = () => undefined

  /** Plain endpoints, so that the proxy can read along, and TLS ones alike. */
  static async start(endpoint: string): Promise<EtcdProxy> {
    const port = await freePort()
    const proxy = new EtcdProxy(`${new URL(endpoint).protocol}//127.0.0.1:${port}`, endpoint)
    proxy.#server.listen(port, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  private constructor(endpoint: string, target: string) {
    this.endpoint = endpoint
    this.#target = addressOf(target)
    this.#server = createServer((client) => this.#accept(client, connect(this.#target)))
  }

  /** New connections go to another member, perhaps of another cluster. */
  redirect(endpoint: string): void {
    this.#target = addressOf(endpoint)
  }

  /** Cuts all connections there are; new ones are taken. */
  cut(): void {
    for (const { client, member } of this.#passages) {
      client.resetAndDestroy()
      member.resetAndDestroy()
    }
  }

  async stop(): Promise<void> {
    this.cut()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  #accept(client: Socket, member: Socket): void {
    if (this.refusing) {
      this.refusals++
      client.resetAndDestroy()
      member.destroy()
      return
    }
    this.connections++
    const passage = { client, member }
    this.#passages.add(passage)
    const pass = async (bytes: Buffer, to: Socket) => {
      if (this.delayMs > 0) await sleep(this.delayMs)
      if (!this.blackHole) to.write(bytes)
    }
    client.on('data', (bytes) => void pass(bytes, member))
    member.on('data', (bytes) => {
      const verdict = this.onAnswer(bytes)
      void pass(bytes, client).then(() => {
        if (verdict === 'cut') client.end().destroySoon()
        return verdict === 'cut' && member.destroy()
      })
    })
    for (const socket of [client, member]) {
      socket.setNoDelay()
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        this.#passages.delete(passage)
        // A black hole swallows the end of a connection, too.
        if (this.blackHole) return
        client.destroy()
        member.destroy()
      })
    }
  }
}

function addressOf(endpoint: string): { host: string; port: number } {
  const { hostname, port } = new URL(endpoint)
  return { host: hostname, port: Number(port) }
}

/** Whether there is an HTTP/2 data frame with the message that says a watch is created, and nothing else in it. */
export function holdsCreated(bytes: Buffer): boolean {
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3)
    const isData = bytes[at + 3] === 0
    // WatchResponse: field 3, `created`, is true; it comes last.
    if (
      isData &&
      end <= bytes.length &&
      bytes
        .subarray(at + 9, end)
        .subarray(-2)
        .equals(Buffer.of(0x18, 1))
    )
      return true
    at = end
  }
  return false
}
