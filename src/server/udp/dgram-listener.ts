// UDP on node:dgram, for hosts where batched I/O cannot be had: one socket, the same answers from the main thread,
// slower.

import { createSocket } from 'node:dgram'
import type { RemoteInfo, Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ELSEWHERE } from '../../zone/answer.ts'
import type { Query } from '../../zone/query.ts'
import type { Answering } from '../answering.ts'
import { cannotListen } from '../cannot-listen.ts'
import type { Listener } from '../listeners.ts'
import { addressBytes } from './sockaddr.ts'

const CAPACITY = 65_535
/** A reload may go from one address to all of them, or back, while the earlier socket is still open. */
const CAN_SHARE = process.platform === 'linux'

export class DgramListener {
  /** May be replaced at any time; the next packet is answered with it. */
  answering: Answering
  readonly #host: string
  readonly #port: number
  readonly #socket: Socket
  readonly #packet = new Uint8Array(CAPACITY)
  readonly #forwarded = new Set<Promise<void>>()
  #received = 0
  #closed = false

  constructor(answering: Answering, { host, port }: Listener) {
    this.answering = answering
    this.#host = host
    this.#port = port
    this.#socket = open(host, CAN_SHARE)
  }

  /** `probe`: nobody else may have the address. */
  async listen(probe: boolean): Promise<void> {
    if (probe && CAN_SHARE) {
      const alone = open(this.#host, false)
      await this.#bind(alone)
      await new Promise<void>((resolve) => alone.close(resolve))
    }
    await this.#bind(this.#socket)
    this.#socket.on('message', (packet, remote) => this.#receive(packet, remote))
  }

  async #bind(socket: Socket): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', (error: NodeJS.ErrnoException) =>
        reject(cannotListen('UDP', this.#host, this.#port, error.code ?? error.message)),
      )
      socket.bind({ address: this.#host, port: this.#port, exclusive: true }, resolve)
    })
    // From here on errors are of packets that could not be sent: their clients ask again.
    socket.removeAllListeners('error').on('error', () => undefined)
  }

  /** Answers what has arrived, then closes. */
  async close(): Promise<void> {
    let before: number
    do {
      before = this.#received
      await nextTurn()
    } while (this.#received > before)
    await Promise.all(this.#forwarded)
    await nextTurn() // a packet is sent one turn after it is given
    this.destroy()
  }

  /** Ends what `close` is still waiting for. */
  destroy(): void {
    if (!this.#closed) this.#socket.close()
    this.#closed = true
  }

  #receive(query: Buffer, remote: RemoteInfo): void {
    this.#received++
    const { answering } = this
    try {
      this.#answer(query, remote, answering)
    } catch (thrown) {
      answering.failed(thrown)
    }
  }

  #answer(query: Buffer, { address, port }: RemoteInfo, { responder, arena, views, answered }: Answering): void {
    const started = performance.now()
    const bytes = addressBytes(address)
    responder.edns.address.set(bytes)
    responder.edns.addressLength = bytes.length
    responder.edns.nowSeconds = Math.floor(Date.now() / 1000)
    responder.port = port
    this.#packet.set(query)
    arena.enter()
    let length: number
    try {
      length = responder.respond(this.#packet, 0, query.length, CAPACITY, views, false)
    } finally {
      arena.leave()
    }
    if (length === ELSEWHERE) this.#forward(query, responder.query, address, port)
    if (length <= 0) return
    this.#socket.send(this.#packet.slice(0, length), port, address)
    responder.observe(responder.query.block, (performance.now() - started) / 1000, 1)
    answered()
  }

  #forward(query: Uint8Array, { block, handover }: Query, address: string, port: number): void {
    const forwarded = this.#answerLater(query, block, handover, address, port).finally(() =>
      this.#forwarded.delete(forwarded),
    )
    this.#forwarded.add(forwarded)
  }

  async #answerLater(query: Uint8Array, block: number, reason: number, address: string, port: number): Promise<void> {
    const response = await this.answering.handOver(query, block, reason, address, port)
    if (response !== undefined && !this.#closed) this.#socket.send(response, port, address)
  }
}

function open(host: string, reusePort: boolean): Socket {
  const v6 = isIPv6(host)
  return createSocket({ type: v6 ? 'udp6' : 'udp4', ipv6Only: v6, reusePort })
}
