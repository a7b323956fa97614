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

test('a write that did not get past the login was certainly not done', async () => {
  const url = await member((stream) => stream.session?.destroy())
  const caller = callerOf([url], { username: 'dns', password: 'secret' })
  await expect(caller.ask(PUT, {}, { what: 'write "/a"' })).rejects.toMatchObject({
    code: 'EtcdUnreachable',
    message: expect.stringContaining(`Cannot write "/a": etcd at "${url}" takes no calls (`),
  })
})

test('a write whose connection breaks is not sent again, a read is', async () => {
  const paths: string[] = []
  const breaking = (stream: ServerHttp2Stream, path: string) => {
    paths.push(path)
    stream.session?.destroy()
  }
  const caller = callerOf([await member(breaking), await member(breaking)])
  await expect(caller.ask(PUT, {}, { what: 'write "/a"' })).rejects.toMatchObject({ code: 'EtcdTimeout' })
  expect(paths).toHaveLength(1)
  await expect(caller.ask(RANGE, {}, { what: 'read "/a"' })).rejects.toMatchObject({ code: 'EtcdTimeout' })
  expect(paths.length).toBeGreaterThan(3)
})

test('a write goes to another member when one says that it did nothing', async () => {
  const refusing = await member((stream) => {
    stream.respond(
      { ':status': 200, 'grpc-status': '14', 'grpc-message': 'etcdserver: no leader' },
      { endStream: true },
    )
  })
  const willing = await member((stream) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(frame(encode(ANSWER, { header: { revision: 7n } })))
  })
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

function callerOf(endpoints: string[], user: { username?: string; password?: string } = {}): Caller {
  const caller = new Caller({ endpoints, requestTimeoutMs: 600, ...user })
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
