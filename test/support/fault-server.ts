// A name server that misbehaves on demand, on one loopback port for UDP and TCP: each query goes to a handler which
// may answer well, badly, late, several times or never.

import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { decodeMessage, encodeMessage, type Message } from '../../src/dns/message.ts'
import { parseName } from '../../src/dns/name.ts'
import { CLASS, RCODE, TYPE } from '../../src/dns/types.ts'
import { freePort } from './ports.ts'

export interface Received {
  readonly query: Message
  readonly bytes: Uint8Array
  readonly transport: 'udp' | 'tcp'
  /** Where it came from. */
  readonly port: number
  readonly send: (answer: Uint8Array) => void
  /** Raw bytes on the connection, without a length; only for TCP. */
  readonly sendRaw: (bytes: Uint8Array) => void
  /** Ends the connection; only for TCP. */
  readonly hangUp: () => void
}

export type Handler = (received: Received) => void

export class FaultServer {
  readonly port: number
  readonly received: Received[] = []
  handler: Handler
  readonly #udp: UdpSocket
  readonly #tcp: Server
  readonly #connections = new Set<Socket>()
  #stopped = false

  private constructor(port: number, handler: Handler) {
    this.port = port
    this.handler = handler
    this.#udp = createSocket('udp4', (bytes, from) => this.#onDatagram(bytes, from))
    this.#tcp = createServer((socket) => this.#onConnection(socket))
  }

  static async start(handler: Handler, port?: number): Promise<FaultServer> {
    const server = new FaultServer(port ?? (await freePort()), handler)
    server.#udp.bind(server.port, '127.0.0.1')
    server.#tcp.listen(server.port, '127.0.0.1')
    await Promise.all([once(server.#udp, 'listening'), once(server.#tcp, 'listening')])
    return server
  }

  get connections(): number {
    return this.#connections.size
  }

  hangUpAll(): void {
    for (const socket of this.#connections) socket.destroy()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.hangUpAll()
    const closed = [once(this.#udp, 'close'), once(this.#tcp, 'close')]
    this.#udp.close()
    this.#tcp.close()
    await Promise.all(closed)
  }

  #onDatagram(bytes: Uint8Array, from: RemoteInfo): void {
    const send = (answer: Uint8Array): void => {
      if (!this.#stopped) this.#udp.send(answer, from.port, from.address)
    }
    this.#handle(bytes, { transport: 'udp', port: from.port, send, sendRaw: send, hangUp: () => undefined })
  }

  #onConnection(socket: Socket): void {
    this.#connections.add(socket)
    socket.on('close', () => this.#connections.delete(socket))
    socket.on('error', () => socket.destroy())
    let rest = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
        const end = 2 + rest.readUInt16BE(0)
        this.#handle(rest.subarray(2, end), {
          transport: 'tcp',
          port: socket.remotePort ?? 0,
          send: (answer) => void socket.write(frame(answer)),
          sendRaw: (bytes) => void socket.write(bytes),
          hangUp: () => socket.end(),
        })
        rest = rest.subarray(end)
      }
    })
  }

  #handle(bytes: Uint8Array, from: Omit<Received, 'query' | 'bytes'>): void {
    const query = decodeMessage(bytes)
    if (typeof query === 'string') throw new Error(`the resolver sent a malformed query: ${query}`)
    const received = { query, bytes, ...from }
    this.received.push(received)
    this.handler(received)
  }
}

export function frame(message: Uint8Array): Uint8Array {
  return Buffer.concat([Uint8Array.of(message.length >> 8, message.length & 255), message])
}

/** A well-formed answer to `query`; `parts` replaces any of it. */
export function answer(query: Message, parts: Partial<Message> = {}): Uint8Array {
  return encodeMessage({ ...query, qr: true, ra: true, ad: false, rcode: RCODE.NOERROR, ...parts })
}

/** An answer with one address. */
export function address(query: Message, ip: string, ttlSeconds = 300): Uint8Array {
  const [{ name }] = query.questions
  const rdata = Uint8Array.from(ip.split('.').map(Number))
  return answer(query, { answers: [{ name, type: TYPE.A, klass: CLASS.IN, ttlSeconds, rdata }] })
}

/** A denial with a SOA whose TTL and minimum are given. */
export function denial(query: Message, rcode: number, soaTtlSeconds: number, soaMinimumSeconds: number): Uint8Array {
  const host = parseName('ns.example.')
  const numbers = new DataView(new ArrayBuffer(20))
  numbers.setUint32(16, soaMinimumSeconds)
  const rdata = Uint8Array.from([...host, ...host, ...new Uint8Array(numbers.buffer)])
  const soa = { name: parseName('example.'), type: TYPE.SOA, klass: CLASS.IN, ttlSeconds: soaTtlSeconds, rdata }
  return answer(query, { rcode, authorities: [soa] })
}

/** A query as a client sends it. */
export function question(name: string, type: number = TYPE.A, parts: Partial<Message> = {}): Uint8Array {
  return encodeMessage({
    id: 4711,
    qr: false,
    opcode: 0,
    aa: false,
    tc: false,
    rd: true,
    ra: false,
    z: false,
    ad: false,
    cd: false,
    rcode: RCODE.NOERROR,
    questions: [{ name: parseName(name), type, klass: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
    ...parts,
  })
}

export function decoded(bytes: Uint8Array): Message {
  const message = decodeMessage(bytes)
  if (typeof message === 'string') throw new Error(message)
  return message
}
