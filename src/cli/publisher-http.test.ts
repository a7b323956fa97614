import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../test/support/ports.ts'
import { serveMetrics } from './publisher-http.ts'

async function serve(): Promise<{ port: number; end: AbortController }> {
  const port = await freePort()
  const end = new AbortController()
  onTestFinished(() => end.abort())
  await serveMetrics({ host: '127.0.0.1', port }, () => 'a_metric 1\n', end.signal)
  return { port, end }
}

test('metrics and health are served until the signal', async () => {
  const { port, end } = await serve()
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  expect(await (await get('/metrics?x')).text()).toBe('a_metric 1\n')
  expect(await (await get('/healthz')).text()).toBe('OK')
  expect((await get('/')).status).toBe(404)
  end.abort()
  await expect(get('/healthz')).rejects.toThrow('fetch failed')
})

test('connections are few', async () => {
  const { port } = await serve()
  const sockets = Array.from({ length: 65 }, () => connect(port, '127.0.0.1'))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  const last = sockets[64]
  last.resume().on('error', () => undefined)
  await once(last, 'close')
  expect(sockets.slice(0, 64).some(({ destroyed }) => destroyed)).toBe(false)
})

test('an address that is taken is refused', async () => {
  const { port } = await serve()
  const again = serveMetrics({ host: '127.0.0.1', port }, () => '', new AbortController().signal)
  await expect(again).rejects.toMatchObject({ code: 'PortInUse' })
})
