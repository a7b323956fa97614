import { createSocket } from 'node:dgram'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import {
  address,
  answer,
  decoded,
  FaultServer,
  frame,
  type Handler,
  question,
} from '../../../test/support/fault-server.ts'
import { freePort } from '../../../test/support/ports.ts'
import type { Message } from '../../dns/message.ts'
import { parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/types.ts'
import { Upstream } from './exchange.ts'
import { createUpstreamStats } from './stats.ts'

const LONG_MS = 10_000
const open: { stop(): unknown }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.stop()
})

async function serve(handler: Handler): Promise<FaultServer> {
  const server = await FaultServer.start(handler)
  open.push(server)
  return server
}

function upstream(port: number, expireMs = 10_000): Upstream {
  const made = new Upstream({ host: '127.0.0.1', port }, expireMs, createUpstreamStats())
  open.unshift({ stop: () => made.close() })
  return made
}

const good: Handler = ({ query, send }) => send(address(query, '192.0.2.1'))
const query = question('www.example.')

test('an answer by UDP is returned', async () => {
  const server = await serve(good)
  const reply = await upstream(server.port).ask(query, 'udp', LONG_MS)
  expect(decoded(reply.wire).answers[0].rdata).toEqual(Uint8Array.of(192, 0, 2, 1))
})

const WRONG: readonly [string, (query: Message, bytes: Uint8Array) => Uint8Array][] = [
  ['another id', (query) => answer(query, { id: query.id ^ 1 })],
  ['another name', (query) => answer(query, { questions: [{ ...query.questions[0], name: parseName('other.') }] })],
  ['another type', (query) => answer(query, { questions: [{ ...query.questions[0], type: TYPE.AAAA }] })],
  ['no question', (query) => answer(query, { questions: [] })],
  ['three bytes', () => Uint8Array.of(1, 2, 3)],
  ['nothing', () => new Uint8Array(0)],
  ['garbage', () => new Uint8Array(600).fill(255)],
  ['the query', (_, bytes) => bytes],
]

test.each(WRONG)('a message with %s is ignored, and the right one after it is taken', async (_, wrong) => {
  const server = await serve(({ query, bytes, send }) => {
    send(wrong(query, bytes))
    send(address(query, '192.0.2.7'))
  })
  const reply = await upstream(server.port).ask(query, 'udp', LONG_MS)
  expect(decoded(reply.wire).answers[0].rdata[3]).toBe(7)
  expect(server.received.map(({ transport }) => transport)).toEqual(['udp'])
})

test('a question to which several wrong answers come is asked by TCP', async () => {
  const server = await serve(({ query, transport, send }) => {
    if (transport === 'tcp') return send(address(query, '192.0.2.8'))
    for (let i = 1; i <= 200; i++) send(answer(query, { id: (query.id + i) & 0xffff }))
  })
  const reply = await upstream(server.port).ask(query, 'udp', LONG_MS)
  expect(decoded(reply.wire).answers[0].rdata[3]).toBe(8)
  expect(server.received.map(({ transport }) => transport)).toEqual(['udp', 'tcp'])
})

test('an answer from another address is not seen', async () => {
  const spoofer = createSocket('udp4')
  open.push({ stop: () => spoofer.close() })
  const server = await serve(({ query, port, send }) => {
    spoofer.send(address(query, '192.0.2.66'), port, '127.0.0.1', () => send(address(query, '192.0.2.1')))
  })
  const reply = await upstream(server.port).ask(query, 'udp', LONG_MS)
  expect(decoded(reply.wire).answers[0].rdata[3]).toBe(1)
})

test('every query by UDP has its own port and id', async () => {
  const server = await serve(good)
  const client = upstream(server.port)
  await Promise.all(Array.from({ length: 200 }, () => client.ask(query, 'udp', LONG_MS)))
  expect(new Set(server.received.map(({ port }) => port)).size).toBe(200)
  // 200 draws from 65,536 collide now and then, but hardly ever ten times.
  expect(new Set(server.received.map(({ query }) => query.id)).size).toBeGreaterThan(190)
})

test('no answer by UDP is an error after the time given', async () => {
  const server = await serve(() => undefined)
  await expect(upstream(server.port).ask(query, 'udp', 50)).rejects.toThrow(
    `read udp 127.0.0.1:${server.port}: i/o timeout`,
  )
})

test('an answer that comes too late is not taken for that of a later question', async () => {
  const late: (() => void)[] = []
  const server = await serve(() => undefined)
  const client = upstream(server.port)
  for (const transport of ['udp', 'tcp'] as const) {
    server.handler = ({ query, send }) => late.push(() => send(address(query, '192.0.2.66')))
    await expect(client.ask(query, transport, 50)).rejects.toThrow('i/o timeout')
    server.handler = ({ query, send }) => {
      for (const reply of late.splice(0)) reply()
      send(address(query, '192.0.2.1'))
    }
    const reply = await client.ask(query, transport, LONG_MS)
    expect(decoded(reply.wire).answers[0].rdata[3]).toBe(1)
  }
})

test('a closed port is an error at once', async () => {
  const client = upstream(await freePort())
  await expect(client.ask(query, 'udp', LONG_MS)).rejects.toThrow('connection refused')
  await expect(client.ask(query, 'tcp', LONG_MS)).rejects.toThrow('connection refused')
})

test('an answer with broken records is an error at once', async () => {
  const server = await serve(({ query, send }) => send(address(query, '192.0.2.1').slice(0, -2)))
  await expect(upstream(server.port).ask(query, 'udp', LONG_MS)).rejects.toThrow('malformed')
})

test('a truncated answer is asked for again by TCP', async () => {
  const server = await serve(({ query, transport, send }) =>
    send(transport === 'udp' ? answer(query, { tc: true }) : address(query, '192.0.2.9')),
  )
  const reply = await upstream(server.port).ask(query, 'udp', LONG_MS)
  expect(reply.truncated).toBe(false)
  expect(decoded(reply.wire).answers[0].rdata[3]).toBe(9)
})

test('a truncated answer is returned as such when TCP fails', async () => {
  const server = await serve(({ query, transport, send, hangUp }) =>
    transport === 'udp' ? send(answer(query, { tc: true })) : hangUp(),
  )
  const reply = await upstream(server.port).ask(query, 'udp', LONG_MS)
  expect(decoded(reply.wire)).toMatchObject({ tc: true, answers: [] })
})

test('a connection closed in the middle of an answer is an error', async () => {
  const server = await serve(({ query, sendRaw, hangUp }) => {
    sendRaw(frame(address(query, '192.0.2.1')).subarray(0, 20))
    hangUp()
  })
  await expect(upstream(server.port).ask(query, 'tcp', LONG_MS)).rejects.toThrow('closed the connection')
})

test('an answer by TCP in single bytes is put together', async () => {
  const server = await serve(({ query, sendRaw }) => {
    for (const byte of frame(address(query, '192.0.2.3'))) sendRaw(Uint8Array.of(byte))
  })
  const reply = await upstream(server.port).ask(query, 'tcp', LONG_MS)
  expect(decoded(reply.wire).answers[0].rdata[3]).toBe(3)
})

test('questions share a TCP connection and may be answered in any order', async () => {
  const waiting: (() => void)[] = []
  const server = await serve(({ query, send }) => {
    waiting.push(() => send(address(query, `192.0.2.${query.questions[0].name[1]}`)))
    if (waiting.length === 5) for (const reply of waiting.reverse()) reply()
  })
  const client = upstream(server.port)
  const names = ['a', 'b', 'c', 'd', 'e']
  const replies = await Promise.all(names.map((name) => client.ask(question(`${name}.`), 'tcp', LONG_MS)))
  expect(replies.map(({ wire }) => decoded(wire).answers[0].rdata[3])).toEqual([97, 98, 99, 100, 101])
  expect(server.connections).toBe(1)
  expect(client.stats.connectionHits.tcp).toBe(4)
})

test('more questions than one connection takes open further ones', async () => {
  const waiting: (() => void)[] = []
  const server = await serve(({ query, send }) => {
    waiting.push(() => send(address(query, '192.0.2.1')))
    if (waiting.length === 40) for (const reply of waiting) reply()
  })
  const client = upstream(server.port)
  await Promise.all(Array.from({ length: 40 }, () => client.ask(query, 'tcp', LONG_MS)))
  expect(client.stats.connectionMisses.tcp).toBe(3)
})

test('a kept connection that the server has closed is replaced', async () => {
  const server = await serve(good)
  const client = upstream(server.port)
  await client.ask(query, 'tcp', LONG_MS)
  server.handler = ({ hangUp }) => {
    server.handler = good
    hangUp()
  }
  const reply = await client.ask(query, 'tcp', LONG_MS)
  expect(reply.rcode).toBe(0)
  expect(client.stats.connectionMisses.tcp).toBe(2)
})

test('a connection on which a question timed out is not used again', async () => {
  const server = await serve(() => undefined)
  const client = upstream(server.port)
  await expect(client.ask(query, 'tcp', 50)).rejects.toThrow(/^read tcp \S+: i\/o timeout$/u)
  server.handler = good
  await client.ask(query, 'tcp', LONG_MS)
  expect(client.stats.connectionMisses.tcp).toBe(2)
})

test('an idle connection is closed', async () => {
  const server = await serve(good)
  await upstream(server.port, 20).ask(query, 'tcp', LONG_MS)
  await expect.poll(() => server.connections).toBe(0)
})

test('a connection that was silent while a question waited is closed when it is idle', async () => {
  let answerLater = (): void => undefined
  const server = await serve((received) => (answerLater = () => good(received)))
  const asked = upstream(server.port, 1).ask(query, 'tcp', LONG_MS)
  await expect.poll(() => server.received.length).toBe(1)
  // Longer than the connection may be idle.
  await sleep(50)
  answerLater()
  await asked
  await expect.poll(() => server.connections).toBe(0)
})

test('closing ends what is under way and refuses what comes later', async () => {
  const server = await serve(() => undefined)
  const client = upstream(server.port)
  const asked = [client.ask(query, 'udp', LONG_MS), client.ask(query, 'tcp', LONG_MS)]
  const ended = Promise.all(asked.map((promise) => expect(promise).rejects.toThrow('resolver was closed')))
  client.close()
  await ended
  await expect(client.ask(query, 'udp', LONG_MS)).rejects.toThrow('closed')
  await expect(client.ask(query, 'tcp', LONG_MS)).rejects.toThrow('closed')
})
