// Stands between a client and an API server, in plain HTTP, so that it can read along, and does what networks and proxies
// do: refuses, cuts in the middle of an answer, swallows events, answers in the server's place.

import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  request as requestPlain,
  type Server,
  type ServerResponse,
} from 'node:http'
import { request } from 'node:https'
import type { Access } from '../../src/kube/connection.ts'
import { freePort } from './ports.ts'

export interface OwnAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** `half`: half of the first piece of the answer is passed on, then the connection is cut. */
export type Verdict = 'pass' | 'cut' | 'half' | OwnAnswer

export class KubeProxy {
  readonly server: string
  /** Paths with their queries, in order. */
  readonly requests: string[] = []
  /** Connections are cut at every request. */
  refusing = false
  /** Events are taken and go nowhere. */
  swallowing = false
  onRequest: (url: URL) => Verdict = () => 'pass'
  readonly #access: Access
  readonly #server: Server

  /** Asks with these credentials, whoever comes. */
  static async start(host: string, access: Access): Promise<KubeProxy> {
    const port = await freePort()
    const proxy = new KubeProxy(`http://${host}:${port}`, access)
    proxy.#server.listen(port, host)
    await once(proxy.#server, 'listening')
    return proxy
  }

  private constructor(server: string, access: Access) {
    this.server = server
    this.#access = access
    this.#server = createServer((incoming, answer) => this.#pass(incoming, answer))
  }

  get lists(): readonly string[] {
    return this.requests.filter(
      (path) => path.includes('limit=') && !path.includes('limit=1&') && !path.endsWith('limit=1'),
    )
  }

  get watches(): readonly string[] {
    return this.requests.filter((path) => path.includes('watch=true'))
  }

  /** Cuts all connections there are; new ones are taken. */
  cut(): void {
    this.#server.closeAllConnections()
  }

  async stop(): Promise<void> {
    this.cut()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  #pass(incoming: IncomingMessage, answer: ServerResponse): void {
    const { url = '/', method = 'GET', socket } = incoming
    if (this.refusing) return void socket.destroy()
    this.requests.push(url)
    const verdict = this.onRequest(new URL(url, this.server))
    if (verdict === 'cut') return void socket.destroy()
    if (typeof verdict === 'object') return void answer.writeHead(verdict.status, verdict.headers).end(verdict.body)
    const { server, agent, headers } = this.#access
    const ask = server.startsWith('http:') ? requestPlain : request
    const type = incoming.headers['content-type']
    const content = type === undefined ? {} : { 'content-type': type }
    const asked = ask(server + url, { agent, method, headers: { ...headers, ...content } }, (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers).flushHeaders()
      response.on('data', (chunk: Buffer) => {
        if (verdict === 'half') answer.write(chunk.subarray(0, chunk.length / 2), () => socket.destroy())
        else if (!this.swallowing) answer.write(chunk)
      })
      response.on('end', () => answer.end())
      response.on('error', () => socket.destroy())
    })
    asked.on('error', () => socket.destroy())
    answer.on('close', () => asked.destroy())
    incoming.pipe(asked)
  }
}
