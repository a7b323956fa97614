// A raw TCP connection to a name server: what is written is up to the test, what comes back is cut into messages.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { until } from './until.ts'

export class TcpClient {
  readonly socket: Socket
  readonly messages: Buffer[] = []
  /** `end` by the server's FIN, else the code of the error. */
  closed: string | undefined
  #rest: Buffer = Buffer.alloc(0)

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('end', () => {
      this.closed ??= 'end'
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.closed ??= error.code ?? error.message
    })
  }

  static async open(port: number, localAddress = '127.0.0.1'): Promise<TcpClient> {
    const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true, allowHalfOpen: true })
    const client = new TcpClient(socket)
    await once(socket, 'connect')
    return client
  }

  async received(count: number): Promise<readonly Buffer[]> {
    await until(`${count} answers over TCP`, () => this.messages.length >= count)
    return this.messages
  }

  /** How the server ended it. */
  ended(timeoutMs?: number): Promise<string> {
    return until('the end of the connection', () => this.closed, timeoutMs)
  }

  destroy(): void {
    this.socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    while (this.#rest.length >= 2 && this.#rest.length >= 2 + this.#rest.readUInt16BE(0)) {
      const end = 2 + this.#rest.readUInt16BE(0)
      this.messages.push(this.#rest.subarray(2, end))
      this.#rest = this.#rest.subarray(end)
    }
  }
}
