import { once } from 'node:events'
import { constants, createServer, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Connection } from './connection.ts'
import { type Dialled, dial } from './dial.ts'
import { CallFailure } from './failure.ts'
import { frame } from './framing.ts'

// Members that behave as real ones rarely do.

const cleanUp: (() => void)[] = []
afterEach(() => {
  for (const run of cleanUp.splice(0)) run()
})

test('an answer is taken with its status, and the request has the headers of gRPC', async () => {
  let seen: unknown
  const connection = await connectTo((stream, headers) => {
    seen = [
      headers[':path'],
      headers['content-type'],
      headers.te,
      headers.hasleader,
      headers.token,
      headers['grpc-timeout'],
    ]
    answer(stream, [Buffer.from('yes')], { 'grpc-status': '0' })
  })
  const bytes = await connection.ask('/a.B/C', Buffer.from('?'), { token: 'secret', timeoutMs: 4000 })
  expect(Buffer.from(bytes).toString()).toBe('yes')
  expect(seen).toEqual(['/a.B/C', 'application/grpc', 'trailers', 'true', 'secret', '4000m'])
})

test('what the member says is the failure, percent signs decoded', async () => {
  const connection = await connectTo((stream) => {
    stream.respond({ ':status': 200, 'grpc-status': '14', 'grpc-message': 'no%20leader 50%' }, { endStream: true })
  })
  expect(await failureOf(connection)).toEqual(['status', 'no%20leader 50%', 14])
  const other = await connectTo((stream) =>
    answer(stream, [], { 'grpc-status': '7', 'grpc-message': 'not%20for%20you' }),
  )
  expect(await failureOf(other)).toEqual(['status', 'not for you', 7])
})

test('a request that the member refused unprocessed is known not to be executed', async () => {
  const connection = await connectTo((stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM))
  expect((await failureOf(connection))[0]).toBe('refused')
})

test('a call that breaks off, ends without a status or has no answer is lost', async () => {
  const broken = await connectTo((stream) => stream.session?.destroy())
  expect((await failureOf(broken))[0]).toBe('lost')
  const cancelled = await connectTo((stream) => stream.close(constants.NGHTTP2_CANCEL))
  expect((await failureOf(cancelled))[0]).toBe('lost')
  const statusless = await connectTo((stream) => stream.respond({ ':status': 404 }, { endStream: true }))
  expect(await failureOf(statusless)).toEqual(['lost', 'the call ended without a status', 0])
  const empty = await connectTo((stream) => answer(stream, [], { 'grpc-status': '0' }))
  expect(await failureOf(empty)).toEqual(['lost', 'the member ended the call without an answer', 0])
})

test('a member that says nothing is silent', async () => {
  const connection = await connectTo(() => {})
  expect(await failureOf(connection)).toEqual(['silent', 'no answer within 50 ms', 0])
})

test('a connection that the member is about to close takes no more calls, and closing it does not wait for the member', async () => {
  const greeting = Buffer.from('000000040000000000', 'hex')
  const goingAway = Buffer.from('0000080700000000000000000000000000', 'hex')
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    socket.write(Buffer.concat([greeting, goingAway]))
  })
  const { connection, socket } = await connect(server)
  const unusable = new Promise<void>((resolve) => {
    connection.onUnusable(resolve)
  })
  await unusable
  expect([connection.usable, await connection.prove()]).toEqual([false, false])
  connection.close()
  await once(socket, 'close')
  expect(socket.destroyed).toBe(true)
})

function connectTo(handle: (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void): Promise<Connection> {
  const server = createServer()
  server.on('session', (session) => cleanUp.push(() => session.destroy()))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    handle(stream, headers)
  })
  return connect(server).then(({ connection }) => connection)
}

async function connect(server: Server): Promise<{ connection: Connection; socket: Dialled['socket'] }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const endpoint = { url: `http://127.0.0.1:${port}`, host: '127.0.0.1', port, secure: false }
  const dialled = await dial(endpoint, { tls: undefined, timeoutMs: 2000, signal: new AbortController().signal })
  const connection = new Connection(endpoint, dialled)
  cleanUp.push(() => {
    connection.close()
    server.close()
  })
  return { connection, socket: dialled.socket }
}

function answer(stream: ServerHttp2Stream, messages: readonly Uint8Array[], trailers: Record<string, string>): void {
  stream.respond({ ':status': 200 }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers(trailers))
  for (const message of messages) stream.write(frame(message))
  stream.end()
}

async function failureOf(connection: Connection): Promise<[kind: string, message: string, status: number]> {
  try {
    await connection.ask('/a.B/C', new Uint8Array(0), { token: undefined, timeoutMs: 50 })
  } catch (error) {
    if (error instanceof CallFailure) return [error.kind, error.message, error.status]
    throw error
  }
  throw new Error('the call succeeded')
}
