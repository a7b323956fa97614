// TCP clients of every kind: hasty, slow, rude and too many. Whatever they do, the others are served.

import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { TYPE } from '../../src/dns/types.ts'
import { exchangeTcp } from '../support/dns-client.ts'
import { address, decoded, FaultServer, frame, question } from '../support/fault-server.ts'
import { dig, type HoldfastProcess, metric, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { briefly } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'
import { TcpClient } from '../support/tcp-client.ts'
import { until } from '../support/until.ts'

const sandbox = new Sandbox()
const clients: TcpClient[] = []
let server: HoldfastProcess
let upstream: FaultServer
let port: number
let metrics: number
/** Opened before the other tests, because their end takes as long as those. */
let idle: TcpClient
let trickle: TcpClient

beforeAll(async () => {
  upstream = await FaultServer.start(() => undefined)
  port = await freePort()
  metrics = await freePort()
  const big = Array.from({ length: 240 }, (_, i) => `big TXT "${String(i).padStart(250, 'x')}"`)
  const file = sandbox.write('example.test', zoneText(['www A 192.0.2.1', ...big]))
  server = await sandbox.serve(
    '-conf',
    sandbox.write(
      'Corefile',
      `.:${port} {
    bind 127.0.0.1
    file ${file} example.test
    forward corp.example 127.0.0.1:${upstream.port}
    prometheus 127.0.0.1:${metrics}
}
`,
    ),
  )
  idle = await TcpClient.open(port, '127.0.1.1')
  trickle = await TcpClient.open(port, '127.0.1.1')
  trickle.socket.write(frame(question('www.example.test.')).subarray(0, 20))
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  const [answer] = await exchangeTcp(port, [question('www.example.test.')])
  expect(answer && briefly(decoded(answer))).toBe('192.0.2.1')
})
afterAll(async () => {
  idle.destroy()
  trickle.destroy()
  await sandbox.close()
  await upstream.stop()
})

async function open(localAddress?: string): Promise<TcpClient> {
  const client = await TcpClient.open(port, localAddress)
  clients.push(client)
  return client
}

function memoryBytes(): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/mu.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

test('a thousand queries in one write are all answered', async () => {
  const client = await open()
  client.socket.write(
    Buffer.concat(Array.from({ length: 1000 }, (_, id) => frame(question('www.example.test.', TYPE.A, { id })))),
  )
  const answers = await client.received(1000)
  expect(answers.map((answer) => answer.readUInt16BE(0))).toEqual(Array.from({ length: 1000 }, (_, id) => id))
  expect(new Set(answers.map((answer) => briefly(decoded(answer))))).toEqual(new Set(['192.0.2.1']))
})

test('an answer from a zone does not wait for one from upstream', async () => {
  const client = await open()
  client.socket.write(
    Buffer.concat([
      frame(question('slow.corp.example.', TYPE.A, { id: 1 })),
      frame(question('www.example.test.', TYPE.A, { id: 2 })),
    ]),
  )
  const [first] = await client.received(1)
  expect(first.readUInt16BE(0)).toBe(2)
  const { query, send } = await until('the query upstream', () => upstream.received.at(-1))
  send(address(query, '198.51.100.1'))
  const [, second] = await client.received(2)
  expect(briefly(decoded(second))).toBe('198.51.100.1')
})

test('more forwarded queries than may wait are answered all the same', async () => {
  upstream.handler = ({ query, send }) => send(address(query, '198.51.100.2'))
  const client = await open()
  client.socket.write(
    Buffer.concat(Array.from({ length: 500 }, (_, id) => frame(question(`h${id}.corp.example.`, TYPE.A, { id })))),
  )
  const answers = await client.received(500)
  expect(new Set(answers.map((answer) => briefly(decoded(answer))))).toEqual(new Set(['198.51.100.2']))
  expect(new Set(answers.map((answer) => answer.readUInt16BE(0))).size).toBe(500)
})

test('a client that closes its side after asking gets its answers, forwarded ones too', async () => {
  upstream.handler = ({ query, send }) => void setImmediate(() => send(address(query, '198.51.100.3')))
  const client = await open()
  client.socket.end(
    Buffer.concat([frame(question('late.corp.example.')), frame(question('www.example.test.', TYPE.A, { id: 2 }))]),
  )
  const answers = await client.received(2)
  expect(answers.map((answer) => briefly(decoded(answer))).toSorted()).toEqual(['192.0.2.1', '198.51.100.3'])
  expect(await client.ended()).toBe('end')
})

test('a query that comes byte by byte is answered', async () => {
  const client = await open()
  for (const byte of frame(question('www.example.test.')))
    await new Promise((resolve) => client.socket.write(Uint8Array.of(byte), resolve))
  const [answer] = await client.received(1)
  expect(briefly(decoded(answer))).toBe('192.0.2.1')
})

test.each([
  ['half a message', frame(question('www.example.test.')).subarray(0, 15)],
  ['half a length', Uint8Array.of(0)],
  ['a length and nothing more', Uint8Array.of(255, 255)],
])('%s and then the end of the client ends the connection', async (_, bytes) => {
  const client = await open()
  client.socket.end(bytes)
  expect(await client.ended()).toBe('end')
  expect(client.messages).toEqual([])
})

test.each([
  ['length 0', Uint8Array.of(0, 0)],
  ['a message shorter than a header', Uint8Array.of(0, 3, 1, 2, 3)],
  ['HTTP without a good length', Buffer.from('\0\x05GET / HTTP/1.1\r\n\r\n')],
])('%s ends the connection, after the answers to what came before', async (_, bytes) => {
  const client = await open()
  client.socket.write(Buffer.concat([frame(question('www.example.test.')), bytes]))
  const [answer] = await client.received(1)
  expect(briefly(decoded(answer))).toBe('192.0.2.1')
  expect(await client.ended()).toMatch(/^(?:end|ECONNRESET)$/u)
})

test('garbage with a good length gets FORMERR and the connection goes on', async () => {
  const client = await open()
  client.socket.write(frame(Buffer.from('\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00garbage', 'latin1')))
  const [error] = await client.received(1)
  expect(briefly(decoded(error))).toBe('FORMERR')
  client.socket.write(frame(question('www.example.test.')))
  await client.received(2)
})

test('responses are ignored', async () => {
  const client = await open()
  client.socket.write(frame(question('www.example.test.', TYPE.A, { qr: true, id: 1 })))
  client.socket.write(frame(question('www.example.test.', TYPE.A, { id: 2 })))
  const [answer] = await client.received(1)
  expect(answer.readUInt16BE(0)).toBe(2)
})

test('transfers are refused', async () => {
  expect(await dig(port, 'example.test', 'AXFR')).toContain('Transfer failed')
  expect(await dig(port, '+tcp', 'example.test', 'IXFR=1')).toContain('Transfer failed')
})

test('a client that never reads stops being answered and costs little memory', async () => {
  const before = memoryBytes()
  const greedy = await Promise.all(Array.from({ length: 10 }, () => open()))
  const burst = Buffer.concat(Array.from({ length: 2000 }, () => frame(question('big.example.test.', TYPE.TXT))))
  for (const { socket } of greedy) {
    socket.pause()
    for (let i = 0; i < 20; i++) socket.write(burst)
  }
  // 10 clients ask for 20 × 2000 × 60 kB each: the server stops when the system takes no more.
  await until('no more answers', async () => {
    const sofar = await answeredOverTcp()
    await exchangeTcp(port, [question('www.example.test.')])
    return (await answeredOverTcp()) === sofar + 1
  })
  expect(await answeredOverTcp()).toBeLessThan(40_000)
  expect(memoryBytes() - before).toBeLessThan(100e6)
})

async function answeredOverTcp(): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
  const counts = page.matchAll(/^coredns_dns_requests_total\{.*proto="tcp".*\} (\d+)$/gmu)
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0)
}

test('a client with too many connections loses those that asked least recently, and others none', async () => {
  const served = async (client: TcpClient) => {
    client.socket.write(frame(question('www.example.test.')))
    await client.received(1)
  }
  const other = await open('127.0.3.1')
  await served(other)
  const first = await open('127.0.2.1')
  await served(first)
  const surplus = await Promise.all(Array.from({ length: 300 }, () => open('127.0.2.1')))
  await first.ended(60_000)
  const ended = () => surplus.filter(({ closed }) => closed !== undefined).length
  await until('the end of the surplus', () => ended() >= 44)
  const last = await open('127.0.2.1')
  await served(last)
  expect(other.closed).toBeUndefined()
  expect(await metric(metrics, 'holdfast_tcp_connections_evicted_total')).toBeGreaterThan(44)
})

test('a connection without a whole query is closed after ten seconds, whatever trickles in', async () => {
  const more = setInterval(() => trickle.socket.write(Uint8Array.of(0)), 500)
  expect(await idle.ended(15_000)).toMatch(/^(?:end|ECONNRESET)$/u)
  expect(await trickle.ended(15_000)).toMatch(/^(?:end|ECONNRESET|EPIPE)$/u)
  clearInterval(more)
})
