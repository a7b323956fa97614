// One HTTP connection: one request, one answer, then the end. Requests that were sent along are never looked at, which is
// what node:http cannot do: it reads all of them, and many at once would hold up everything else of the thread.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

const LONGEST_HEAD = 8192
/** Of the request, and of the answer. */
const TIMEOUT_MS = 5000
/** After the answer the client has this long to close, and may send so much more, before it is cut off. */
const LINGER_MS = 1000
const LINGER_BYTES = 65_536
const END_OF_HEAD = /\r?\n\r?\n/u
const REQUEST_LINE = /^([A-Z]+) (?:http:\/\/[^/ ]*)?(\/[^ ]*) HTTP\/1\.[01]$/u

export interface HttpAnswer {
  readonly status: number
  readonly body: string | Buffer
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface HttpRequest {
  readonly method: string
  readonly path: string
}

export class HttpConnection {
  readonly #socket: Socket
  readonly #answer: (request: HttpRequest) => HttpAnswer
  readonly #timer: NodeJS.Timeout
  #head = ''
  #surplus = 0
  #answered = false

  constructor(socket: Socket, answer: (request: HttpRequest) => HttpAnswer) {
    this.#socket = socket
    this.#answer = answer
    this.#timer = setTimeout(() => socket.destroy(), TIMEOUT_MS)
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('error', () => socket.destroy())
    socket.once('close', () => clearTimeout(this.#timer))
    socket.once('finish', () => setTimeout(() => socket.destroy(), LINGER_MS).unref())
  }

  /** Nothing was asked yet. */
  get isIdle(): boolean {
    return !this.#answered
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    if (this.#answered) {
      this.#surplus += chunk.length
      if (this.#surplus > LINGER_BYTES) this.#socket.destroy()
      return
    }
    this.#head += chunk.toString('latin1', 0, LONGEST_HEAD)
    const end = END_OF_HEAD.exec(this.#head)
    if (end === null && this.#head.length < LONGEST_HEAD) return
    this.#answered = true
    this.#timer.refresh()
    if (end === null || end.index > LONGEST_HEAD) this.#send('GET', plain(431))
    else this.#respond(this.#head.slice(0, end.index))
  }

  #respond(head: string): void {
    const [line] = head.split(/\r?\n/u, 1)
    const [, method, target] = REQUEST_LINE.exec(line) ?? []
    if (method === undefined || target === undefined) return this.#send('GET', plain(400))
    const [path] = target.split('?', 1)
    this.#send(method, this.#answer({ method, path }))
  }

  #send(method: string, { status, body, type, headers = {} }: HttpAnswer): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const fields = {
      Date: new Date().toUTCString(),
      Connection: 'close',
      'Content-Type': type,
      'Content-Length': String(bytes.length),
      ...headers,
    }
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`)
    if (method === 'HEAD') this.#socket.end()
    else this.#socket.end(bytes)
  }
}

/** An answer that only says its status. */
export function plain(status: number): HttpAnswer {
  return { status, body: `${STATUS_CODES[status] ?? ''}\n`, type: 'text/plain; charset=utf-8' }
}
