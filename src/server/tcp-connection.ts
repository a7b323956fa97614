// One TCP connection: queries may follow each other without waiting, answers to one read go out together. A client
// that does not read its answers gets no more of its questions answered, and one that asks nothing is cut off.

import type { Socket } from 'node:net'
import { ELSEWHERE } from '../zone/answer.ts'
import type { Answering } from './answering.ts'
import { addressBytes } from './udp/sockaddr.ts'

/** From one whole query to the next; bytes that never become one do not count. */
export const TCP_IDLE_MS = 10_000
/** Forwarded queries of one connection under way; no more are taken on beyond. */
const MOST_PENDING = 128
/** Answers are written out when they have grown to this, whatever is still to be answered. */
const WRITE_BYTES = 65_536
/** A connection that is drained ends when nothing has come for the first time, and after the second in any case. */
const QUIET_MS = 50
const DRAIN_MS = 1000

const LONGEST_MESSAGE = 65_535
const LENGTH_BYTES = 2
const HEADER_BYTES = 12

export class TcpConnection {
  readonly #socket: Socket
  readonly #address: string
  readonly #addressBytes: Uint8Array
  readonly #port: number
  readonly #owner: { readonly answering: Answering }
  readonly #output: OutputBuffer
  readonly #asked: () => void
  readonly #idle: NodeJS.Timeout
  /** Received and not answered yet: the start of a message, or more when the client has to read first. */
  #rest: Buffer = Buffer.alloc(0)
  #pending = 0
  /** To be ended once everything is answered. */
  #ending = false

  /** `output` is shared by all connections: it is empty between reads. `asked` hears of each read with a whole query. */
  constructor(
    socket: Socket,
    address: string,
    owner: { readonly answering: Answering },
    output: OutputBuffer,
    asked: () => void,
  ) {
    this.#asked = asked
    this.#socket = socket
    this.#address = address
    this.#addressBytes = addressBytes(address)
    this.#port = socket.remotePort ?? 0
    this.#owner = owner
    this.#output = output
    this.#idle = setTimeout(() => this.#cutOff(), TCP_IDLE_MS)
    socket.on('data', (data) => this.#read(data))
    socket.on('drain', () => this.#goOn())
    socket.on('end', () => this.#end())
    socket.on('error', () => socket.destroy())
    socket.once('close', () => clearTimeout(this.#idle))
  }

  /** A forwarded query is under way. */
  get isWaiting(): boolean {
    return this.#pending > 0
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Answers what is on its way, then ends. */
  drain(): void {
    this.#socket.setTimeout(QUIET_MS, () => this.#end())
    setTimeout(() => this.#end(), DRAIN_MS).unref()
  }

  #read(data: Buffer): void {
    if (!this.#socket.writable) return // it is ending: nothing could be answered
    this.#rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data])
    this.#answerRest()
  }

  /** Answers whole messages, until the client has to read or a forwarded query to be answered first. */
  #answerRest(): void {
    const input = this.#rest
    const output = this.#output
    let at = 0
    let broken = false
    while (!this.#blocked && at + LENGTH_BYTES <= input.length) {
      const length = (input[at] << 8) | input[at + 1]
      const end = at + LENGTH_BYTES + length
      // No DNS message at all, and so neither is what follows.
      broken = length < HEADER_BYTES
      if (broken || end > input.length) break
      broken = !this.#answered(input.subarray(at + LENGTH_BYTES, end))
      if (broken) break
      if (output.length >= WRITE_BYTES) this.#socket.write(output.take())
      at = end
    }
    if (at > 0) {
      this.#idle.refresh()
      this.#asked()
      // A copy: the chunk of which this is the end may be much larger.
      this.#rest = Buffer.from(input.subarray(at))
    }
    if (output.length > 0) this.#socket.write(output.take())
    if (this.#blocked || broken) this.#socket.pause()
    if (broken) this.#socket.destroySoon()
    this.#owner.answering.answered()
  }

  /** False when answering failed, for a reason that is not the client's. */
  #answered(query: Buffer): boolean {
    const { answering } = this.#owner
    try {
      this.#answer(query, answering)
      return true
    } catch (thrown) {
      answering.failed(thrown)
      return false
    }
  }

  #answer(query: Buffer, { responder, arena, views }: Answering): void {
    const { edns } = responder
    edns.addressLength = this.#addressBytes.length
    edns.address.set(this.#addressBytes)
    edns.nowSeconds = Math.floor(Date.now() / 1000)
    responder.port = this.#port
    const bytes = this.#output.reserve()
    const base = this.#output.length + LENGTH_BYTES
    for (let i = 0; i < query.length; i++) bytes[base + i] = query[i]
    arena.enter()
    let length: number
    try {
      length = responder.respond(bytes, base, query.length, LONGEST_MESSAGE, views, true)
    } finally {
      arena.leave()
    }
    if (length > 0) this.#output.commit(length)
    else if (length === ELSEWHERE)
      void this.#forward(Buffer.from(query), responder.query.block, responder.query.handover)
  }

  async #forward(query: Buffer, block: number, reason: number): Promise<void> {
    this.#pending++
    const response = await this.#owner.answering.handOver(query, block, reason, this.#address, this.#port)
    this.#pending--
    if (response === undefined) {
      this.#socket.destroy() // sooner than its client would give up waiting, and it may ask again
      return
    }
    if (this.#socket.writable) {
      const framed = Buffer.allocUnsafe(LENGTH_BYTES + response.length)
      framed.writeUInt16BE(response.length)
      framed.set(response, LENGTH_BYTES)
      this.#socket.write(framed)
    }
    this.#goOn()
  }

  get #blocked(): boolean {
    return this.#socket.writableNeedDrain || this.#pending >= MOST_PENDING
  }

  #goOn(): void {
    if (!this.#socket.writable) return
    this.#idle.refresh()
    if (this.#blocked) return
    this.#answerRest()
    if (!this.#blocked) this.#socket.resume()
    if (this.#ending) this.#end()
  }

  #end(): void {
    this.#ending = true
    if (this.#pending === 0 && !this.#blocked) this.#socket.destroySoon()
  }

  #cutOff(): void {
    if (this.#pending === 0) this.#socket.destroy()
  }
}

/** Responses to one read, framed. Every reservation has room for the longest message. */
export class OutputBuffer {
  length = 0
  readonly #bytes: Buffer = Buffer.allocUnsafe(WRITE_BYTES + LENGTH_BYTES + LONGEST_MESSAGE)

  reserve(): Buffer {
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
