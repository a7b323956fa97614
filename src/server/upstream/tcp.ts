// Questions over TCP (RFC 7766): connections stay open while they are used, and several questions share one, matched
// to their answers by id. A connection on which a question went unanswered takes no new ones, as it may be dead.
//
//   open ──(timeout of a question)──▶ draining ──(no question left)──▶ closed
//     └──(idle for expireMs, error, end of stream)───────────────────────▲

import { randomInt } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { UpstreamAddress } from '../config.ts'
import { NoAnswerError } from './failure.ts'
import { isAnswerTo } from './reply.ts'
import type { ExchangeStats } from './stats.ts'
import { read16, write16 } from './wire.ts'

/** Servers that answer one question at a time make others wait: beyond this a further connection is opened. */
const SHARED_QUESTIONS = 16
const MAX_CONNECTIONS = 32

export class TcpClient {
  readonly #to: UpstreamAddress
  readonly #expireMs: number
  readonly #stats: ExchangeStats
  readonly #connections = new Set<Connection>()
  #closed = false

  constructor(to: UpstreamAddress, expireMs: number, stats: ExchangeStats) {
    this.#to = to
    this.#expireMs = expireMs
    this.#stats = stats
  }

  async ask(query: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      if (this.#closed) throw new Error('the resolver is closed')
      const reused = this.#pick()
      this.#stats[reused === undefined ? 'connectionMisses' : 'connectionHits'].tcp++
      try {
        return await (reused ?? this.#connect()).ask(query, Math.max(1, deadline - performance.now()))
      } catch (error) {
        // The server may close an idle connection just as we use it. It is gone from the set now, so this ends.
        if (!(error instanceof ConnectionClosed) || reused === undefined) throw error
      }
    }
  }

  close(): void {
    this.#closed = true
    for (const connection of this.#connections) connection.close(new Error('the resolver was closed'))
  }

  #pick(): Connection | undefined {
    let best: Connection | undefined
    for (const connection of this.#connections) {
      if (connection.draining) continue
      if (best === undefined || connection.questions < best.questions) best = connection
    }
    if (best === undefined || best.questions < SHARED_QUESTIONS) return best
    return this.#connections.size < MAX_CONNECTIONS ? undefined : best
  }

  #connect(): Connection {
    const connection = new Connection(this.#to, this.#expireMs, () => this.#connections.delete(connection))
    this.#connections.add(connection)
    return connection
  }
}

class ConnectionClosed extends Error {}

interface Waiting {
  readonly sent: Uint8Array
  readonly timer: NodeJS.Timeout
  readonly resolve: (message: Uint8Array) => void
  readonly reject: (error: Error) => void
}

class Connection {
  draining = false
  readonly #socket: Socket
  readonly #waiting = new Map<number, Waiting>()
  readonly #onClose: () => void
  #received: Buffer = Buffer.alloc(0)

  constructor(to: UpstreamAddress, expireMs: number, onClose: () => void) {
    this.#onClose = onClose
    this.#socket = connect({ host: to.host, port: to.port, noDelay: true })
    this.#socket.setTimeout(Math.max(1, expireMs))
    // Each time: a callback of setTimeout runs once, and a question may be waiting then.
    this.#socket.on('timeout', () => {
      if (this.#waiting.size === 0) this.close(new ConnectionClosed('the connection was idle'))
    })
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#socket.on('error', (error) => this.close(error))
    this.#socket.on('end', () => this.close(new ConnectionClosed('the server closed the connection')))
    this.#socket.on('close', () => this.close(new ConnectionClosed('the connection was closed')))
  }

  get questions(): number {
    return this.#waiting.size
  }

  ask(query: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      let id = randomInt(0x10000)
      while (this.#waiting.has(id)) id = randomInt(0x10000)
      const framed = new Uint8Array(query.length + 2)
      write16(framed, 0, query.length)
      framed.set(query, 2)
      write16(framed, 2, id)
      const timer = setTimeout(() => this.#giveUp(id, timeoutMs), timeoutMs)
      this.#waiting.set(id, { sent: framed.subarray(2), timer, resolve, reject })
      this.#socket.write(framed)
    })
  }

  /** Ends every open question with `error`; safe to call again. */
  close(error: Error): void {
    this.draining = true
    this.#onClose()
    this.#socket.destroy()
    for (const id of this.#waiting.keys()) this.#take(id)?.reject(error)
  }

  #giveUp(id: number, timeoutMs: number): void {
    this.draining = true
    this.#take(id)?.reject(new NoAnswerError(`no answer by TCP in ${Math.round(timeoutMs)} ms`))
    this.#closeWhenDrained()
  }

  #closeWhenDrained(): void {
    if (this.draining && this.#waiting.size === 0) this.close(new ConnectionClosed('the connection did not answer'))
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    clearTimeout(waiting?.timer)
    return waiting
  }

  #receive(chunk: Buffer): void {
    let rest = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    while (rest.length >= 2) {
      const end = 2 + read16(rest, 0)
      if (rest.length < end) break
      this.#deliver(rest.subarray(2, end))
      rest = rest.subarray(end)
    }
    this.#received = rest
    this.#closeWhenDrained()
  }

  #deliver(message: Uint8Array): void {
    if (message.length < 2) return
    const id = read16(message, 0)
    const waiting = this.#waiting.get(id)
    if (waiting !== undefined && isAnswerTo(message, waiting.sent)) this.#take(id)?.resolve(message)
  }
}
