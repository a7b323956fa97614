// Stands between one program and the API server, in plain HTTP, so that it knows a list from a watch, and does what
// networks and proxies do: refuses, delays, falls silent, cuts, also in the middle of a page or of an event.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { request } from 'node:https'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Access } from '../../../src/kube/connection.ts'
import { freePort } from '../../support/ports.ts'

/** `half`: half of the first piece of the answer is passed on, then the connection is cut. */
export type Verdict = 'pass' | 'cut' | 'half' | { readonly status: number; readonly body: object }

/** A request with its answer under way. */
interface Exchange {
  readonly socket: Socket
  readonly isWatch: boolean
  /** Nothing comes through any more, and nobody is told. */
  isDead: boolean
  /** The next piece of the answer is passed on by half, and is the last. */
  isTorn: boolean
  /** Pieces are passed on in order, however long each is delayed. */
  passed: Promise<void>
}

export class ApiProxy {
  readonly server: string
  /** Connections are cut at every request. */
  refusing = false
  /** Requests are taken and not answered. */
  silent = false
  /** For every piece of an answer. */
  delayMs = 0
  onRequest: (url: URL) => Verdict = () => 'pass'
  readonly #access: Access
  readonly #server: Server
  readonly #exchanges = new Set<Exchange>()

  /** Asks with these credentials, whoever comes. */
  static async start(host: string, access: Access): Promise<ApiProxy> {
    const port = await freePort()
    const proxy = new ApiProxy(`http://${host}:${port}`, access)
    proxy.#server.listen(port, host)
    await once(proxy.#server, 'listening')
    return proxy
  }

  private constructor(server: string, access: Access) {
    this.server = server
    this.#access = access
    this.#server = createServer((incoming, answer) => this.#take(incoming, answer))
  }

  /** Cuts all connections there are; new ones are taken. */
  cut(): void {
    this.#server.closeAllConnections()
  }

  /** Every watch is cut in the middle of its next event. */
  tearWatches(): void {
    for (const exchange of this.#exchanges) exchange.isTorn ||= exchange.isWatch
  }

  /** Watches that there are say nothing any more, while everything else works, until `revive`. */
  stallWatches(): void {
    for (const exchange of this.#exchanges) exchange.isDead ||= exchange.isWatch
  }

  /** All connections that there are are dead, as behind a router that forgot them. */
  fallSilent(): void {
    this.silent = true
    for (const exchange of this.#exchanges) exchange.isDead = true
  }

  /** The other side notices what is dead. */
  revive(): void {
    this.silent = false
    for (const { socket, isDead } of this.#exchanges) if (isDead) socket.destroy()
  }

  async stop(): Promise<void> {
    this.cut()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  #take(incoming: IncomingMessage, answer: ServerResponse): void {
    const { url = '/', socket } = incoming
    const verdict = this.refusing ? 'cut' : this.onRequest(new URL(url, this.server))
    if (verdict === 'cut') {
      socket.destroy()
      return
    }
    const isWatch = url.includes('watch=true')
    const exchange: Exchange = { socket, isWatch, isDead: this.silent, isTorn: false, passed: Promise.resolve() }
    this.#exchanges.add(exchange)
    answer.on('close', () => this.#exchanges.delete(exchange))
    if (typeof verdict === 'object')
      answer.writeHead(verdict.status, { 'content-type': 'application/json' }).end(JSON.stringify(verdict.body))
    else if (!this.silent) this.#pass(incoming, answer, Object.assign(exchange, { isTorn: verdict === 'half' }))
  }

  #pass(incoming: IncomingMessage, answer: ServerResponse, exchange: Exchange): void {
    const { url = '/', method = 'GET', socket } = incoming
    const { server, agent, headers } = this.#access
    const type = incoming.headers['content-type']
    const content = type === undefined ? {} : { 'content-type': type }
    const asked = request(server + url, { agent, method, headers: { ...headers, ...content } }, (response) => {
      const passAfter = async (before: Promise<void>, delayMs: number, run: () => void) => {
        await before
        if (delayMs > 0) await sleep(delayMs)
        if (!exchange.isDead) run()
      }
      const pass = (run: () => void) => {
        exchange.passed = passAfter(exchange.passed, this.delayMs, run)
      }
      pass(() => answer.writeHead(response.statusCode ?? 500, response.headers).flushHeaders())
      response.on('data', (chunk: Buffer) =>
        pass(() => {
          if (exchange.isTorn) answer.write(chunk.subarray(0, chunk.length / 2), () => socket.destroy())
          else answer.write(chunk)
        }),
      )
      response.on('end', () => pass(() => answer.end()))
      response.on('error', () => pass(() => socket.destroy()))
    })
    // Whoever is behind a dead connection does not hear of the other end either.
    asked.on('error', () => exchange.isDead || socket.destroy())
    answer.on('close', () => asked.destroy())
    incoming.pipe(asked)
  }
}
