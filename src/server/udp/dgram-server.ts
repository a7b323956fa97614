// UDP on node:dgram, for hosts where batched I/O cannot be had: the same answers from the main thread, slower.

import { createSocket } from 'node:dgram'
import type { RemoteInfo, Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { ELSEWHERE } from '../../zone/answer.ts'
import type { ArenaReader } from '../arena-reader.ts'
import { cannotListen } from '../cannot-listen.ts'
import type { Responder } from '../responder.ts'
import { addressBytes } from './sockaddr.ts'
import type { UdpListener } from './udp-server.ts'

const CAPACITY = 65_535

export type DgramHandOver = (
  query: Uint8Array,
  space: number,
  address: string,
  port: number,
) => Promise<Uint8Array | undefined>

export class DgramServer {
  readonly #responder: Responder
  readonly #arena: ArenaReader
  readonly #handOver: DgramHandOver
  readonly #sockets: Socket[] = []
  readonly #packet = new Uint8Array(CAPACITY)

  constructor(responder: Responder, arena: ArenaReader, handOver: DgramHandOver) {
    this.#responder = responder
    this.#arena = arena
    this.#handOver = handOver
  }

  async listen(listener: UdpListener, shared: boolean): Promise<void> {
    const { host, port } = listener
    const v6 = isIPv6(host)
    const socket = createSocket({ type: v6 ? 'udp6' : 'udp4', ipv6Only: v6, reusePort: shared })
    await new Promise<void>((resolve, reject) => {
      socket.once('error', (error: NodeJS.ErrnoException) =>
        reject(cannotListen('UDP', host, port, error.code ?? error.message)),
      )
      socket.bind({ address: host, port, exclusive: true }, resolve)
    })
    socket.removeAllListeners('error')
    socket.on('error', () => undefined) // a packet that could not be sent: its client asks again
    socket.on('message', (packet, remote) => this.#answer(socket, listener, packet, remote))
    this.#sockets.push(socket)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#sockets.map((socket) => new Promise<void>((resolve) => socket.close(resolve))))
  }

  #answer(socket: Socket, { views }: UdpListener, query: Buffer, { address, port }: RemoteInfo): void {
    const responder = this.#responder
    const bytes = addressBytes(address)
    responder.edns.address.set(bytes)
    responder.edns.addressLength = bytes.length
    responder.edns.nowSeconds = Math.floor(Date.now() / 1000)
    responder.port = port
    this.#packet.set(query)
    this.#arena.enter()
    const length = responder.respond(this.#packet, 0, query.length, CAPACITY, views, false)
    this.#arena.leave()
    if (length > 0) socket.send(this.#packet.slice(0, length), port, address)
    else if (length === ELSEWHERE) {
      void this.#handOver(query, responder.query.space, address, port).then((response) => {
        if (response !== undefined) socket.send(response, port, address)
      })
    }
  }
}
