// A small DNS client, to ask one server one question: over UDP, and over TCP when the answer does not fit or TCP is what
// is to be tried. It asks the server that is named and nobody else.

import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import { decodeMessage, encodeMessage, type Message } from '../../dns/message.ts'
import { equalNames, parseName, ROOT } from '../../dns/name.ts'
import { formatRdata } from '../../dns/rdata/rdata.ts'
import { CLASS, OPCODE, RCODE, rcodeName, TYPE } from '../../dns/types.ts'

interface Server {
  readonly address: string
  readonly port: number
}

export interface AskOptions {
  readonly transport: 'udp' | 'tcp'
  /** For one attempt; over UDP there are several. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

type Exchange = (server: Server, query: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>

const UDP_ATTEMPTS = 3
const RESOLVE_TIMEOUT_MS = 1000
const EXCHANGES: Readonly<Record<AskOptions['transport'], Exchange>> = { udp: overUdp, tcp: overTcp }

/** Addresses of a name, in text and in order; none when it does not exist. Throws an Error that says what is wrong. */
export async function resolve(
  address: string,
  port: number,
  name: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<string[]> {
  const options: AskOptions = { transport: 'udp', timeoutMs: RESOLVE_TIMEOUT_MS, signal }
  const found = await Promise.all([TYPE.A, TYPE.AAAA].map((type) => askRecords({ address, port }, name, type, options)))
  return found.flat().toSorted()
}

/** Records of this type in the answer, as text; aliases on the way are not among them. */
export async function askRecords(server: Server, name: string, type: number, options: AskOptions): Promise<string[]> {
  const { rcode, answers } = await ask(server, name, type, options)
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) throw new Error(`it answers ${rcodeName(rcode)} for ${name}`)
  return answers.filter((record) => record.type === type).map(({ rdata }) => formatRdata(type, rdata))
}

async function ask(server: Server, name: string, type: number, options: AskOptions): Promise<Message> {
  const { transport, timeoutMs, signal } = options
  const query: Message = {
    ...{ id: randomInt(0x10000), qr: false, opcode: OPCODE.QUERY, rcode: RCODE.NOERROR },
    ...{ aa: false, tc: false, rd: false, ra: false, z: false, ad: false, cd: false },
    questions: [{ name: parseName(name, ROOT), type, klass: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
  }
  for (let attempt = transport === 'udp' ? UDP_ATTEMPTS : 1; ; attempt--) {
    signal.throwIfAborted()
    const time = AbortSignal.timeout(timeoutMs)
    try {
      const bytes = await EXCHANGES[transport](server, encodeMessage(query), AbortSignal.any([signal, time]))
      const answer = readAnswer(bytes, query)
      return answer.tc && transport === 'udp' ? await ask(server, name, type, { ...options, transport: 'tcp' }) : answer
    } catch (thrown) {
      if (!time.aborted) throw thrown
      if (attempt === 1)
        throw new Error(`no answer over ${transport.toUpperCase()} within ${timeoutMs} ms`, { cause: thrown })
    }
  }
}

function readAnswer(bytes: Uint8Array, query: Message): Message {
  const answer = decodeMessage(bytes)
  if (typeof answer === 'string') throw new Error(`its answer is no DNS message: ${answer}`)
  const [asked] = query.questions
  const [told] = answer.questions
  if (told === undefined || !equalNames(told.name, asked.name) || told.type !== asked.type)
    throw new Error('its answer is to another question')
  return answer
}

function overUdp({ address, port }: Server, query: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  socket.on('error', reject)
  socket.on('message', (bytes) => {
    if (bytes.length > 2 && bytes[0] === query[0] && bytes[1] === query[1]) resolve(bytes)
  })
  socket.on('connect', () => socket.send(query))
  socket.connect(port, address)
  return promise.finally(() => socket.close())
}

function overTcp({ address, port }: Server, query: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const socket = connect({ host: address, port, noDelay: true })
  let received = Buffer.alloc(0)
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  socket.on('error', reject)
  socket.on('close', () => reject(new Error('it closed the connection without an answer')))
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    const end = received.length < 2 ? Infinity : 2 + received.readUInt16BE(0)
    if (received.length >= end) resolve(received.subarray(2, end))
  })
  socket.write(Buffer.concat([Uint8Array.of(query.length >> 8, query.length & 255), query]))
  return promise.finally(() => socket.destroy())
}
