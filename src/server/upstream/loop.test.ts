import { afterEach, expect, test } from 'vitest'
import { answer, FaultServer, type Handler } from '../../../test/support/fault-server.ts'
import { freePort } from '../../../test/support/ports.ts'
import { cacheConfig, forwardTo, serverBlock } from '../../../test/support/resolver-block.ts'
import { formatName } from '../../dns/name.ts'
import { RCODE } from '../../dns/types.ts'
import { LoopDetector } from './loop.ts'
import { Resolver } from './resolver.ts'
import { WaitingPlaces } from '../waiting-places.ts'
import { createUpstreamStats } from './stats.ts'

const open: { stop(): unknown }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.stop()
})

/** A server whose queries pass the detector and then a resolver forwarding to `upstreamPort`. */
async function serverForwardingTo(upstreamPort: number, port: number, zone: string) {
  const abort = new AbortController()
  const log = { warn: () => undefined, info: () => undefined }
  const block = serverBlock({ forwards: [forwardTo([upstreamPort])], cache: cacheConfig() })
  const resolver = new Resolver(block, {
    signal: abort.signal,
    log,
    stats: createUpstreamStats(),
    places: new WaitingPlaces(),
    errors: undefined,
  })
  const detector = new LoopDetector(zone)
  const verdicts: boolean[] = []
  const handler: Handler = ({ bytes, transport, send, port: from }) => {
    verdicts.push(detector.seen(bytes))
    void resolver.resolve(bytes, { address: '127.0.0.1', port: from, transport }).then(
      (response) => response && send(response),
      () => undefined,
    )
  }
  const server = await FaultServer.start(handler, port)
  open.push({ stop: () => abort.abort() }, server)
  return { detector, verdicts, server, signal: abort.signal }
}

const self = (port: number) => ({ host: '127.0.0.1', port })

test('a server that forwards to itself is found out', async () => {
  const port = await freePort()
  const { detector, verdicts, signal } = await serverForwardingTo(port, port, '.')
  void detector.probe(self(port), signal)
  await expect.poll(() => verdicts).toContain(true)
  expect(verdicts[0]).toBe(false)
})

test('a loop through another server is found out', async () => {
  const [near, far] = [await freePort(), await freePort()]
  await serverForwardingTo(near, far, '.')
  const { detector, verdicts, signal } = await serverForwardingTo(far, near, '.')
  void detector.probe(self(near), signal)
  await expect.poll(() => verdicts).toContain(true)
})

test('without a loop the probe, a name below the zone, comes once and the detector rests afterwards', async () => {
  const upstream = await FaultServer.start(({ query, send }) => send(answer(query, { rcode: RCODE.NXDOMAIN })))
  open.push(upstream)
  const port = await freePort()
  const { detector, verdicts, server, signal } = await serverForwardingTo(upstream.port, port, 'corp.example.')
  await detector.probe(self(port), signal)
  expect(verdicts).toEqual([false])
  const [{ bytes, query }] = server.received
  expect(formatName(query.questions[0].name)).toMatch(/^\d+\.\d+\.corp\.example\.$/)
  expect([detector.seen(bytes), detector.seen(bytes)]).toEqual([false, false])
})

test('a server that comes up late is still probed', async () => {
  const port = await freePort()
  const abort = new AbortController()
  open.push({ stop: () => abort.abort() })
  const detector = new LoopDetector('.')
  void detector.probe(self(port), abort.signal)
  const server = await FaultServer.start(({ query, send }) => send(answer(query)), port)
  open.push(server)
  await expect.poll(() => server.received.length).toBe(1)
})
