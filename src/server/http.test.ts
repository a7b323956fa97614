import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { block } from './corefile/testing.ts'
import { type HttpDirective, type HttpEndpoint, httpEndpoints, HttpServer } from './http.ts'
import { HealthProbe } from './metrics/health-probe.ts'

let missing: readonly string[] = []
let metrics = () => 'up 1\n'
const opened: HttpServer[] = []
const never = new AbortController().signal

function start(mostPages?: number): HttpServer {
  const reports = { notReady: () => missing, status: () => ({ zones: [] }), metrics: () => metrics() }
  const http = new HttpServer(reports, mostPages)
  opened.push(http)
  return http
}

afterEach(async () => {
  missing = []
  metrics = () => 'up 1\n'
  for (const http of opened.splice(0)) await http.close()
})

function endpoint(directive: HttpDirective, port: number, host = '127.0.0.1'): HttpEndpoint {
  return { directive, address: { host, port }, at: 'Corefile:1' }
}

interface Reply {
  readonly status: number | undefined
  readonly type: string | undefined
  readonly body: string
}

async function ask(port: number | undefined, path: string, method = 'GET', host = '127.0.0.1'): Promise<Reply> {
  const asked = request({ host, port, path, method, agent: false })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  let body = ''
  for await (const chunk of response) body += String(chunk)
  return { status: response.statusCode, type: response.headers['content-type'], body }
}

describe('the HTTP endpoints', () => {
  test('health is OK, and metrics come with the type Prometheus asks for', async () => {
    const [health, prometheus] = [endpoint('health', 0), endpoint('prometheus', 0, 'localhost')]
    const http = start()
    await http.serve([health, prometheus])
    expect(await ask(http.port(health), '/health')).toMatchObject({ status: 200, body: 'OK' })
    expect(await ask(http.port(prometheus), '/metrics?x=1')).toEqual({
      status: 200,
      type: 'text/plain; version=0.0.4; charset=utf-8',
      body: 'up 1\n',
    })
  })

  test('ready names what is missing, then is OK, then says 503 while draining; health stays OK', async () => {
    const [health, ready] = [endpoint('health', 0), endpoint('ready', 0)]
    const http = start()
    await http.serve([health, ready])
    const port = http.port(ready)
    missing = ['auto /zones', 'zone example.org.']
    expect(await ask(port, '/ready')).toMatchObject({ status: 503, body: 'auto /zones, zone example.org.' })
    missing = []
    expect(await ask(port, '/ready')).toMatchObject({ status: 200, body: 'OK' })
    await http.drain(0, never)
    expect(await ask(port, '/ready')).toMatchObject({ status: 503, body: 'Shutting down' })
    expect(await ask(port, '/health')).toMatchObject({ status: 200 })
  })

  test('status is served at its own address only', async () => {
    const [health, ready] = [endpoint('status', 0), endpoint('ready', 0)]
    const http = start()
    await http.serve([health, { ...ready, address: { host: '127.0.0.2', port: 0 } }])
    expect(await ask(http.port(health), '/status')).toEqual({
      status: 200,
      type: 'application/json',
      body: '{\n  "zones": []\n}\n',
    })
    const other = http.port({ ...ready, address: { host: '127.0.0.2', port: 0 } })
    expect((await ask(other, '/status', 'GET', '127.0.0.2')).status).toBe(404)
    expect((await ask(http.port(health), '/status', 'POST')).status).toBe(405)
  })

  test('a block has the endpoints its directives ask for', () => {
    const blocks = [block('health :8082\nprometheus 0.0.0.0:9153'), block('errors')]
    expect(httpEndpoints({ blocks }).map(({ directive, address }) => [directive, address])).toEqual([
      ['health', { host: '', port: 8082 }],
      ['status', { host: '', port: 8082 }],
      ['prometheus', { host: '0.0.0.0', port: 9153 }],
    ])
  })

  test('status can be elsewhere, or nowhere', () => {
    const directives = (text: string) =>
      httpEndpoints({ blocks: [block(text)] }).map(({ directive, address }) => [directive, address.port])
    expect(directives('health :8082 {\nstatus off\n}')).toEqual([['health', 8082]])
    expect(directives('health :8082 {\nstatus 127.0.0.1:8083\n}')).toEqual([
      ['health', 8082],
      ['status', 8083],
    ])
  })

  test('a connection is for one request: what is sent along is not answered', async () => {
    const prometheus = endpoint('prometheus', 0)
    const http = start()
    let written = 0
    metrics = () => String(++written)
    await http.serve([prometheus])
    const socket = connect({ host: '127.0.0.1', port: http.port(prometheus) ?? 0 })
    let received = ''
    socket.on('data', (chunk) => {
      received += String(chunk)
    })
    socket.on('error', () => undefined)
    socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500))
    await once(socket, 'close')
    expect(received.match(/HTTP\/1.1 200/gu)).toHaveLength(1)
    expect(received).toMatch(/^Connection: close\r$/imu)
    expect(written).toBe(1)
  })

  test.each([
    ['GET /health HTTP/1.1\nHost: x\n\n', 200],
    ['GET http://example.test:80/health HTTP/1.1\r\n\r\n', 200],
    ['GET /health HTTP/2\r\n\r\n', 400],
    ['\r\n\r\n', 400],
    ['\u0000\u0001\u0002\r\n\r\n', 400],
    [`GET /health HTTP/1.1\r\nX: ${'x'.repeat(9000)}\r\n\r\n`, 431],
  ])('what is sent as %j gets %i', async (bytes, status) => {
    const health = endpoint('health', 0)
    const http = start()
    await http.serve([health])
    const socket = connect({ host: '127.0.0.1', port: http.port(health) ?? 0 })
    socket.on('error', () => undefined)
    // Byte by byte, or nearly.
    for (const piece of bytes.match(/[^]{1,1000}/gu) ?? []) socket.write(piece)
    const [data] = (await once(socket, 'data')) as [Buffer]
    expect(data.toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `, 'u'))
    socket.destroy()
  })

  test('a client may have a number of pages in a second', async () => {
    const [prometheus, health] = [endpoint('prometheus', 0), endpoint('health', 0)]
    const http = start(1)
    await http.serve([prometheus, health])
    const codes = new Set<number | undefined>()
    while (codes.size < 2) {
      const asked = Array.from({ length: 20 }, () => ask(http.port(prometheus), '/metrics'))
      for (const { status } of await Promise.all(asked)) codes.add(status)
    }
    expect(codes).toEqual(new Set([200, 429]))
    expect((await ask(http.port(health), '/health')).status).toBe(200)
    await expect.poll(async () => (await ask(http.port(prometheus), '/metrics')).status, { timeout: 60_000 }).toBe(200)
  })

  test('a lameduck time ends early when the signal aborts', async () => {
    const abort = new AbortController()
    const drained = start().drain(3_600_000, abort.signal)
    abort.abort()
    await expect(drained).resolves.toBeUndefined()
  })

  test('only the paths of the address and only GET and HEAD are served', async () => {
    const health = endpoint('health', 0)
    const http = start()
    await http.serve([health])
    const port = http.port(health)
    expect((await ask(port, '/metrics')).status).toBe(404)
    expect((await ask(port, '/health/x')).status).toBe(404)
    expect((await ask(port, '/health', 'POST')).status).toBe(405)
    expect(await ask(port, '/health', 'HEAD')).toMatchObject({ status: 200, body: '' })
  })

  test('blocks that name the same address share it, and every address means IPv4 too', async () => {
    const endpoints = (['health', 'ready', 'prometheus', 'health'] as const).map((name) => endpoint(name, 0, ''))
    const http = start()
    await http.serve(endpoints)
    const port = http.port(endpoints[0])
    for (const path of ['/health', '/ready', '/metrics']) expect((await ask(port, path)).status).toBe(200)
  })

  test('metrics that cannot be written are an error of that request only', async () => {
    const prometheus = endpoint('prometheus', 0)
    const http = start()
    await http.serve([prometheus])
    metrics = () => {
      throw new Error('no such zone')
    }
    expect(await ask(http.port(prometheus), '/metrics')).toMatchObject({
      status: 500,
      body: 'Cannot write metrics: no such zone\n',
    })
    metrics = () => 'up 1\n'
    expect((await ask(http.port(prometheus), '/metrics')).status).toBe(200)
  })

  test('a port in use is an error that names address and directive, and nothing stays open', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const health = endpoint('health', 0)
    const http = start()
    await expect(http.serve([health, endpoint('ready', port)])).rejects.toMatchObject({
      code: 'PortInUse',
      message: `Cannot listen on "127.0.0.1:${port}" for "ready" (Corefile:1): the port is in use; give ready another address or stop what uses this one`,
    })
    expect(http.port(health)).toBeUndefined()
    other.close()
  })

  test('an address this host does not have is an error', async () => {
    await expect(start().serve([endpoint('health', 0, '192.0.2.1')])).rejects.toMatchObject({ code: 'CannotListen' })
  })

  test('a new configuration keeps the addresses it shares with the old one and closes the others', async () => {
    const [health, ready] = [endpoint('health', 0), endpoint('ready', 0, '127.0.0.2')]
    const http = start()
    await http.serve([health, ready])
    const [kept, closed] = [http.port(health), http.port(ready)]
    await http.serve([health, endpoint('prometheus', 0)])
    expect(http.port(health)).toBe(kept)
    expect((await ask(kept, '/metrics')).status).toBe(200)
    await expect(ask(closed, '/ready', 'GET', '127.0.0.2')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('closing does not wait for an idle connection', async () => {
    const health = endpoint('health', 0)
    const http = start()
    await http.serve([health])
    const socket = connect({ host: '127.0.0.1', port: http.port(health) ?? 0 })
    socket.on('error', () => undefined)
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'data')
    const ended = once(socket, 'close')
    await http.close()
    await ended
    expect(socket.destroyed).toBe(true)
  })

  test('the probe measures its own requests and counts those that fail', async () => {
    const health = endpoint('health', 0)
    const http = start()
    await http.serve([health])
    const probe = new HealthProbe('127.0.0.1', http.port(health) ?? 0)
    const measured = () => probe.durations.buckets.reduce((sum, count) => sum + count, 0)
    await expect.poll(measured).toBe(1)
    expect(probe.failuresTotal).toBe(0)
    await http.close()
    await expect.poll(() => probe.failuresTotal).toBe(1)
    probe.stop()
  })
})
