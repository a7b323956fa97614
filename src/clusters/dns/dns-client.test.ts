import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decodeMessage, encodeMessage, type Message } from '../../dns/message.ts'
import { RCODE, TYPE } from '../../dns/types.ts'
import { askRecords, resolve } from './dns-client.ts'

const ADDRESS = '127.103.6.1'

let udp: Socket
let tcp: Server
let port: number
/** Of a query, what goes back over UDP; nothing when it is undefined. */
let overUdp: (query: Message) => Message | undefined
beforeEach(async () => {
  udp = createSocket('udp4')
  udp.bind(0, ADDRESS)
  await once(udp, 'listening')
  ;({ port } = udp.address())
  udp.on('message', (bytes, { port: back, address }) => {
    const answer = overUdp(read(bytes))
    if (answer !== undefined) udp.send(encodeMessage(answer), back, address)
  })
  tcp = createServer((socket) => {
    socket.on('data', (bytes) => {
      const answer = encodeMessage(answered(read(bytes.subarray(2)), [192, 0, 2, 2]))
      // In two pieces, as a network may deliver it.
      socket.write(Uint8Array.of(answer.length >> 8))
      setTimeout(() => socket.write(Buffer.concat([Uint8Array.of(answer.length & 255), answer])), 10)
    })
  })
  tcp.listen(port, ADDRESS)
  await once(tcp, 'listening')
})
afterEach(async () => {
  udp.close()
  tcp.close()
  await once(tcp, 'close')
})

function read(bytes: Uint8Array): Message {
  const message = decodeMessage(bytes)
  if (typeof message === 'string') throw new Error(message)
  return message
}

function answered(query: Message, address: readonly number[]): Message {
  const [{ name, type, klass }] = query.questions
  const records = type === TYPE.A ? [{ name, type, klass, ttlSeconds: 1, rdata: Uint8Array.from(address) }] : []
  return { ...query, qr: true, answers: records }
}

function ask(timeoutMs = 2000, signal = new AbortController().signal): Promise<string[]> {
  return askRecords({ address: ADDRESS, port }, 'www.test', TYPE.A, { transport: 'udp', timeoutMs, signal })
}

test('addresses of a name are told', async () => {
  overUdp = (query) => answered(query, [192, 0, 2, 1])
  expect(await resolve(ADDRESS, port, 'www.test')).toEqual(['192.0.2.1'])
})

test('an answer that does not fit is fetched over TCP', async () => {
  overUdp = (query) => ({ ...answered(query, [192, 0, 2, 1]), answers: [], tc: true })
  expect(await resolve(ADDRESS, port, 'www.test')).toEqual(['192.0.2.2'])
})

test('a datagram that was lost is sent again', async () => {
  let seen = 0
  overUdp = (query) => (++seen < 3 ? undefined : answered(query, [192, 0, 2, 1]))
  expect(await ask(50)).toEqual(['192.0.2.1'])
})

test('a name that does not exist has no addresses; a failure, a foreign answer and silence are told', async () => {
  overUdp = (query) => ({ ...query, qr: true, rcode: RCODE.NXDOMAIN })
  expect(await ask()).toEqual([])
  overUdp = (query) => ({ ...query, qr: true, rcode: RCODE.SERVFAIL })
  await expect(ask()).rejects.toThrow('it answers SERVFAIL for www.test')
  overUdp = (query) => ({ ...query, qr: true, questions: [] })
  await expect(ask()).rejects.toThrow('its answer is to another question')
  overUdp = () => undefined
  await expect(ask(20)).rejects.toThrow('no answer over UDP within 20 ms')
})

test('whoever does not want to wait any more need not', async () => {
  overUdp = () => undefined
  const controller = new AbortController()
  const asked = ask(60_000, controller.signal)
  controller.abort(new Error('enough'))
  await expect(asked).rejects.toThrow('enough')
})
