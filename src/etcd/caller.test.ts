import { once } from 'node:events'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Caller } from './caller.ts'
import { frame } from './framing.ts'
import { ANSWER } from './messages.ts'
import { PUT, RANGE } from './methods.ts'
import { encode } from './protobuf.ts'

// Members that fail in ways which are hard to get from real ones.

const cleanUp: (() => void)[] = []
afterEach(() => {
  for (const run of cleanUp.splice(0)) run()
})

const USER = { username: 'dns', password: 'secret' }

test('a write that did not get past the login was certainly not done', async () => {
  const url = await member((stream) => stream.session?.destroy())
  const caller = callerOf([url], USER, 600)
  // Which of its reasons is reported depends on how many attempts fit into the time.
  await expect(caller.ask(PUT, {}, { what: 'write "/a"' })).rejects.toMatchObject({
    code: 'EtcdUnreachable',
    message: expect.stringContaining(`Cannot write "/a": etcd at "${url}" `),
  })
})

test('a member that breaks off logins is reported, also when the time runs out in a later attempt', async () => {
  let logins = 0
  const url = await member((stream) => {
    if (logins++ === 0) stream.session?.destroy()
  })
  const caller = callerOf([url], USER, 3000)
  const message = expect.stringMatching(/ takes no calls \(.*, etcd at ".*" does not answer; /u)
  await expect(caller.ask(PUT, {}, { what: 'write "/a"' })).rejects.toMatchObject({ code: 'EtcdUnreachable', message })
})

test('a write whose connection breaks is not sent again, a read is until it is answered', async () => {
  const paths: string[] = []
  const breaking = (stream: ServerHttp2Stream, path: string) => {
    if (paths.push(path) < 6) stream.session?.destroy()
    else answer(stream, 7n)
  }
  const caller = callerOf([await member(breaking), await member(breaking)])
  await expect(caller.ask(PUT, {}, { what: 'write "/a"' })).rejects.toMatchObject({ code: 'EtcdTimeout' })
  expect(paths).toHaveLength(1)
  expect((await caller.ask(RANGE, {}, { what: 'read "/a"' })).header.revision).toBe(7n)
  expect(paths).toHaveLength(6)
})

test('a write that one member may have executed is not reported as refused by another', async () => {
  const [refusing, breaking] = [await member(refuse), await member((stream) => stream.session?.destroy())]
  for (let attempt = 0; attempt < 6; attempt++) {
    const caller = callerOf([refusing, breaking])
    await expect(caller.ask(PUT, {}, { what: 'write "/a"' })).rejects.toMatchObject({ code: 'EtcdTimeout' })
  }
})

test('a write goes to another member when one says that it did nothing', async () => {
  const [refusing, willing] = [await member(refuse), await member((stream) => answer(stream, 7n))]
  for (let attempt = 0; attempt < 4; attempt++) {
    const caller = callerOf([refusing, willing])
    expect((await caller.ask(PUT, {}, { what: 'write "/a"' })).header.revision).toBe(7n)
  }
})

test('only endpoints of the client can be asked for, in any form', async () => {
  const url = await member((stream) => stream.respond({ ':status': 200, 'grpc-status': '5' }, { endStream: true }))
  const caller = callerOf([url])
  const ask = (endpoint: string) => caller.ask(RANGE, {}, { what: 'get the status of etcd', endpoint })
  await expect(ask(url.slice('http://'.length))).rejects.toMatchObject({ code: 'EtcdFailed' })
  await expect(ask('http://elsewhere:1')).rejects.toThrow(
    'Cannot get the status of etcd: "http://elsewhere:1" is not among the endpoints of this client',
  )
})

function refuse(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'grpc-status': '14', 'grpc-message': 'etcdserver: no leader' }, { endStream: true })
}

function answer(stream: ServerHttp2Stream, revision: bigint): void {
  stream.respond({ ':status': 200 }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(frame(encode(ANSWER, { header: { revision } })))
}

function callerOf(
  endpoints: string[],
  user: { username?: string; password?: string } = {},
  requestTimeoutMs = 60_000,
): Caller {
  const caller = new Caller({ endpoints, requestTimeoutMs, dialTimeoutMs: 60_000, ...user })
  cleanUp.push(() => caller.close())
  return caller
}

async function member(handle: (stream: ServerHttp2Stream, path: string) => void): Promise<string> {
  const server = createServer()
  server.on('session', (session) => cleanUp.push(() => session.destroy()))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    handle(stream, String(headers[':path']))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUp.push(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
