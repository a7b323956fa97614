// DNS over TCP (RFC 7766, 9210): queries may follow each other without waiting, answers to one read go out in one
// write, idle and surplus connections are closed. Runs on the main thread.

import { createServer, isIPv6 } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { ELSEWHERE } from '../zone/answer.ts'
import type { View } from '../zone/query.ts'
import type { ArenaReader } from './arena-reader.ts'
import { cannotListen } from './cannot-listen.ts'
import type { Responder } from './responder.ts'
import { addressBytes } from './udp/sockaddr.ts'

export const TCP_LIMITS = {
  idleMs: 10_000,
  connections: 4096,
  connectionsPerClient: 256,
  /** Forwarded questions of one connection under way; reading pauses beyond. */
  pending: 128,
} as const

const LONGEST_MESSAGE = 65_535
const LENGTH_BYTES = 2

export interface TcpCounters {
  open: number
  accepted: number
  refused: number
}

/** Answers what the zones cannot; resolves to the whole response. */
export type HandOver = (query: Uint8Array, space: number, address: string, port: number) => Promise<Uint8Array>

export class TcpListener {
  readonly #server: Server
  readonly #views: readonly View[]
  readonly #responder: Responder
  readonly #arena: ArenaReader
  readonly #handOver: HandOver
  readonly #counters: TcpCounters
  readonly #connections = new Set<TcpConnection>()
  readonly #perClient = new Map<string, number>()
  readonly #output = new OutputBuffer()
  readonly #onAnswered: () => void

  /** `onAnswered` is called after each read that was answered. */
  constructor(
    views: readonly View[],
    responder: Responder,
    arena: ArenaReader,
    handOver: HandOver,
    counters: TcpCounters,
    onAnswered: () => void,
  ) {
    this.#onAnswered = onAnswered
    this.#views = views
    this.#responder = responder
    this.#arena = arena
    this.#handOver = handOver
    this.#counters = counters
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket))
  }

  /** Resolves to the port. `shared`: an earlier generation of this server still holds the address. */
  listen(host: string, port: number, shared: boolean): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) =>
        reject(cannotListen('TCP', host, port, error.code ?? error.message)),
      )
      this.#server.listen({ host, port, ipv6Only: isIPv6(host), reusePort: shared, backlog: 1024 }, () =>
        resolve((this.#server.address() as AddressInfo).port),
      )
    })
  }

  /** No new connections; open ones end once their answers are sent. */
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
    const ofClient = this.#perClient.get(client) ?? 0
    if (this.#counters.open >= TCP_LIMITS.connections || ofClient >= TCP_LIMITS.connectionsPerClient) {
      this.#counters.refused++
      socket.resetAndDestroy()
      return
    }
    this.#counters.open++
    this.#counters.accepted++
    this.#perClient.set(client, ofClient + 1)
    const connection = new TcpConnection(
      socket,
      client,
      this.#views,
      this.#responder,
      this.#arena,
      this.#handOver,
      this.#output,
      this.#onAnswered,
    )
    this.#connections.add(connection)
    socket.once('close', () => {
      this.#connections.delete(connection)
      this.#counters.open--
      const left = (this.#perClient.get(client) ?? 1) - 1
      if (left === 0) this.#perClient.delete(client)
      else this.#perClient.set(client, left)
    })
  }
}

class TcpConnection {
  readonly #socket: Socket
  readonly #address: string
  readonly #addressBytes: Uint8Array
  readonly #port: number
  readonly #views: readonly View[]
  readonly #responder: Responder
  readonly #arena: ArenaReader
  readonly #handOver: HandOver
  readonly #output: OutputBuffer
  readonly #onAnswered: () => void
  /** The start of a message whose rest has not arrived. */
  #rest: Buffer | undefined
  #pending = 0
  #draining = false

  constructor(
    socket: Socket,
    address: string,
    views: readonly View[],
    responder: Responder,
    arena: ArenaReader,
    handOver: HandOver,
    output: OutputBuffer,
    onAnswered: () => void,
  ) {
    this.#onAnswered = onAnswered
    this.#output = output
    this.#socket = socket
    this.#address = address
    this.#addressBytes = addressBytes(address)
    this.#port = socket.remotePort ?? 0
    this.#views = views
    this.#responder = responder
    this.#arena = arena
    this.#handOver = handOver
    socket.setTimeout(TCP_LIMITS.idleMs, () => {
      if (this.#pending === 0) socket.destroy()
    })
    socket.on('data', (data) => this.#read(data))
    socket.on('drain', () => this.#resume())
    socket.on('end', () => this.#endWhenDone())
    socket.on('error', () => socket.destroy())
  }

  destroy(): void {
    this.#socket.destroy()
  }

  drain(): void {
    this.#draining = true
    this.#socket.pause()
    this.#endWhenDone()
  }

  #read(data: Buffer): void {
    const input = this.#rest === undefined ? data : Buffer.concat([this.#rest, data])
    this.#rest = undefined
    const output = this.#output
    let at = 0
    this.#arena.enter()
    while (at + LENGTH_BYTES <= input.length) {
      const length = (input[at] << 8) | input[at + 1]
      if (at + LENGTH_BYTES + length > input.length) break
      at += LENGTH_BYTES
      if (!this.#answer(input, at, length, output)) {
        this.#arena.leave()
        output.length = 0
        this.#socket.destroy()
        return
      }
      at += length
    }
    this.#arena.leave()
    if (at < input.length) this.#rest = Buffer.from(input.subarray(at))
    if (output.length > 0) this.#write(output.take())
    this.#onAnswered()
  }

  /** False when the bytes are no DNS message at all, and so neither is what follows. */
  #answer(input: Buffer, at: number, length: number, output: OutputBuffer): boolean {
    if (length < 12) return false
    const responder = this.#responder
    const { edns } = responder
    edns.addressLength = this.#addressBytes.length
    edns.address.set(this.#addressBytes)
    edns.nowSeconds = Math.floor(Date.now() / 1000)
    responder.port = this.#port
    const bytes = output.reserve()
    const base = output.length + LENGTH_BYTES
    for (let i = 0; i < length; i++) bytes[base + i] = input[at + i]
    const responseLength = responder.respond(bytes, base, length, LONGEST_MESSAGE, this.#views, true)
    if (responseLength === ELSEWHERE) this.#forward(Buffer.from(input.subarray(at, at + length)), responder.query.space)
    else if (responseLength > 0) output.commit(responseLength)
    return true
  }

  #forward(query: Buffer, space: number): void {
    this.#pending++
    if (this.#pending >= TCP_LIMITS.pending) this.#socket.pause()
    void this.#handOver(query, space, this.#address, this.#port).then((response) => {
      this.#pending--
      if (this.#socket.writable) {
        const framed = Buffer.allocUnsafe(LENGTH_BYTES + response.length)
        framed.writeUInt16BE(response.length)
        framed.set(response, LENGTH_BYTES)
        this.#write(framed)
      }
      this.#resume()
      if (this.#draining) this.#endWhenDone()
    })
  }

  /** A client that does not read gets no more of its questions read. */
  #write(bytes: Buffer): void {
    if (!this.#socket.write(bytes)) this.#socket.pause()
  }

  #resume(): void {
    if (!this.#draining && !this.#socket.writableNeedDrain && this.#pending < TCP_LIMITS.pending) this.#socket.resume()
  }

  #endWhenDone(): void {
    this.#draining = true
    if (this.#pending === 0) this.#socket.end()
  }
}

/** Responses of one read, framed. Reused by all connections; every reservation has room for the longest message. */
class OutputBuffer {
  length = 0
  #bytes: Buffer = Buffer.allocUnsafe(4 * (LENGTH_BYTES + LONGEST_MESSAGE))

  reserve(): Buffer {
    const wanted = this.length + LENGTH_BYTES + LONGEST_MESSAGE
    if (wanted > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(wanted * 2)
      larger.set(this.#bytes.subarray(0, this.length))
      this.#bytes = larger
    }
    return this.#bytes
  }

  commit(responseLength: number): void {
    this.#bytes[this.length] = responseLength >> 8
    this.#bytes[this.length + 1] = responseLength
    this.length += LENGTH_BYTES + responseLength
  }

  /** A copy of what was committed; the buffer is empty afterwards. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.length))
    this.length = 0
    return taken
  }
}
