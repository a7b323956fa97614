import { afterEach, expect, test } from 'vitest'
import { address, answer, decoded, FaultServer, type Handler, question } from '../../../test/support/fault-server.ts'
import { freePort } from '../../../test/support/ports.ts'
import { forwardTo } from '../../../test/support/resolver-block.ts'
import { parseName } from '../../dns/name.ts'
import { RCODE, TYPE } from '../../dns/types.ts'
import type { ForwardConfig } from '../config.ts'
import { Forwarder } from './forward.ts'
import { type Query, readQuery } from './query.ts'
import { createUpstreamStats, type UpstreamStats } from './stats.ts'

const open: { stop(): unknown }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.stop()
})

async function serve(handler: Handler, port?: number): Promise<FaultServer> {
  const server = await FaultServer.start(handler, port)
  open.push(server)
  return server
}

interface Made {
  readonly forwarder: Forwarder
  readonly stats: UpstreamStats
  readonly logged: string[]
}

function forwarder(config: ForwardConfig): Made {
  const logged: string[] = []
  const stats = createUpstreamStats()
  const log = { warn: (message: string) => logged.push(message), info: (message: string) => logged.push(message) }
  const made = new Forwarder(config, stats, log)
  open.unshift({ stop: () => made.close() })
  return { forwarder: made, stats, logged }
}

const query = readQuery(question('www.example.')) as Query

/** The last byte of the address answered, or the rcode. */
async function ask(made: Made, transport: 'udp' | 'tcp' = 'udp'): Promise<number | string> {
  const outcome = await made.forwarder.ask(query, transport)
  if ('failure' in outcome) return `failure ${outcome.failure.rcode}`
  const [first] = decoded(outcome.reply.wire).answers
  return first === undefined ? `rcode ${outcome.reply.rcode}` : first.rdata[3]
}

async function askTimes(made: Made, times: number): Promise<(number | string)[]> {
  const answers: (number | string)[] = []
  for (let i = 0; i < times; i++) answers.push(await ask(made))
  return answers
}

/** Answers with an address ending in `n`, health checks too. */
const good =
  (n: number): Handler =>
  ({ query, send }) =>
    send(address(query, `192.0.2.${n}`))
const rcode =
  (code: number): Handler =>
  ({ query, send }) =>
    send(answer(query, { rcode: code }))
const silent: Handler = () => undefined

async function three(): Promise<number[]> {
  const servers = await Promise.all([1, 2, 3].map((n) => serve(good(n))))
  return servers.map(({ port }) => port)
}

test('round_robin asks each in turn', async () => {
  const made = forwarder(forwardTo(await three(), { policy: 'round_robin' }))
  expect(await askTimes(made, 6)).toEqual([1, 2, 3, 1, 2, 3])
})

test('sequential asks the first', async () => {
  const made = forwarder(forwardTo(await three(), { policy: 'sequential' }))
  expect(await askTimes(made, 4)).toEqual([1, 1, 1, 1])
})

test('random asks all of them', async () => {
  const made = forwarder(forwardTo(await three()))
  expect(new Set(await askTimes(made, 60)).size).toBe(3)
})

test('the next upstream is asked when one does not work, which is then passed over until it does again', async () => {
  const second = await serve(good(2))
  const port = await freePort()
  const made = forwarder(forwardTo([port, second.port], { policy: 'sequential', healthCheckMs: 20 }))
  expect(await ask(made)).toBe(2)
  await expect
    .poll(() => made.logged)
    .toEqual([`Upstream 127.0.0.1:${port} is down: read udp 127.0.0.1:${port}: connection refused`])
  const before = made.stats.upstreams.get(`127.0.0.1:${port}`)?.requests
  expect(await askTimes(made, 3)).toEqual([2, 2, 2])
  expect(made.stats.upstreams.get(`127.0.0.1:${port}`)?.requests).toBe(before)

  await serve(good(1), port)
  await expect.poll(() => made.logged.length).toBe(2)
  expect(made.logged[1]).toBe(`Upstream 127.0.0.1:${port} answers again`)
  expect(await ask(made)).toBe(1)
})

test('a failed exchange starts health checks: the NS of the name set, the RD bit as set; any answer will do', async () => {
  const server = await serve(({ query, send }) => {
    if (query.questions[0].type === TYPE.NS) send(answer(query, { rcode: RCODE.REFUSED }))
    else send(address(query, '192.0.2.1').slice(0, -1))
  })
  const checks = (): FaultServer['received'] =>
    server.received.filter(({ query }) => query.questions[0].type === TYPE.NS)
  for (const forceTcp of [false, true]) {
    const parts = { healthCheckName: 'check.example.', healthCheckRecursionDesired: forceTcp, forceTcp }
    const made = forwarder(forwardTo([server.port], { ...parts, maxFails: 1 }))
    expect(await ask(made)).toBe(`failure ${RCODE.SERVFAIL}`)
    await expect.poll(() => checks().at(-1)?.transport).toBe(forceTcp ? 'tcp' : 'udp')
    expect(checks().at(-1)?.query).toMatchObject({ rd: forceTcp, questions: [{ name: parseName('check.example.') }] })
    expect(made.logged).toEqual([])
  }
})

test('max_fails 0 sends no health checks', async () => {
  const port = await freePort()
  const made = forwarder(forwardTo([port], { maxFails: 0, healthCheckMs: 5 }))
  expect(await ask(made)).toBe(`failure ${RCODE.SERVFAIL}`)
  const server = await serve(good(1), port)
  expect(await ask(made)).toBe(1)
  expect(server.received.map(({ query }) => query.questions[0].type)).toEqual([TYPE.A])
})

test('with every upstream down one is tried anyway, unless failing fast is asked for', async () => {
  for (const failfastAllUnhealthy of [false, true]) {
    const port = await freePort()
    // The long interval keeps it down: only a check brings it up again.
    const made = forwarder(forwardTo([port], { maxFails: 1, healthCheckMs: 600_000, failfastAllUnhealthy }))
    await ask(made)
    await expect.poll(() => made.logged.length).toBe(1)
    const server = await serve(good(1), port)
    expect(await ask(made)).toBe(failfastAllUnhealthy ? `failure ${RCODE.SERVFAIL}` : 1)
    expect(server.received.length).toBe(failfastAllUnhealthy ? 0 : 1)
    expect(made.stats.healthcheckBroken).toBe(failfastAllUnhealthy ? 1 : made.stats.healthcheckBroken)
    expect(made.stats.healthcheckBroken).toBeGreaterThan(0)
  }
})

test('an upstream that never answers is left for the next after its time', async () => {
  const [first, second] = [await serve(silent), await serve(good(2))]
  const made = forwarder(forwardTo([first.port, second.port], { policy: 'sequential' }))
  expect(await ask(made)).toBe(2)
})

test('without any answer the outcome is SERVFAIL within the deadline', async () => {
  const server = await serve(silent)
  const outcome = await forwarder(forwardTo([server.port])).forwarder.ask(query, 'udp')
  expect(outcome).toEqual({
    failure: { rcode: RCODE.SERVFAIL, reason: `read udp 127.0.0.1:${server.port}: i/o timeout` },
  })
})

test('an rcode listed for failover sends the query to the next upstream, and the last answer counts', async () => {
  const [first, second] = [await serve(rcode(RCODE.SERVFAIL)), await serve(good(2))]
  const config = forwardTo([first.port, second.port], { policy: 'sequential', failoverRcodes: [RCODE.SERVFAIL] })
  expect(await ask(forwarder(config))).toBe(2)
  expect(await ask(forwarder({ ...config, failoverRcodes: [] }))).toBe(`rcode ${RCODE.SERVFAIL}`)
  second.handler = rcode(RCODE.SERVFAIL)
  const before = second.received.length
  expect(await ask(forwarder(config))).toBe(`rcode ${RCODE.SERVFAIL}`)
  expect(second.received.length).toBe(before + 1)
})

test('queries beyond max_concurrent are refused', async () => {
  const waiting: (() => void)[] = []
  const server = await serve(({ query, send }) => waiting.push(() => send(address(query, '192.0.2.1'))))
  const made = forwarder(forwardTo([server.port], { maxConcurrent: 2 }))
  const under = [ask(made), ask(made)]
  expect(await ask(made)).toBe(`failure ${RCODE.REFUSED}`)
  expect(made.stats.maxConcurrentRejects).toBe(1)
  await expect.poll(() => waiting.length).toBe(2)
  for (const reply of waiting) reply()
  expect(await Promise.all(under)).toEqual([1, 1])
  server.handler = good(1)
  expect(await ask(made)).toBe(1)
})

test("the transport is the client's, unless force_tcp or prefer_udp says otherwise", async () => {
  const server = await serve(good(1))
  const used = async (parts: Partial<ForwardConfig>, transport: 'udp' | 'tcp'): Promise<string> => {
    await ask(forwarder(forwardTo([server.port], parts)), transport)
    return server.received.at(-1)?.transport ?? ''
  }
  expect(await used({}, 'udp')).toBe('udp')
  expect(await used({}, 'tcp')).toBe('tcp')
  expect(await used({ forceTcp: true, preferUdp: true }, 'udp')).toBe('tcp')
  expect(await used({ preferUdp: true }, 'tcp')).toBe('udp')
})

test('it matches names below FROM, except those excepted; FROM itself always', () => {
  const made = forwarder(forwardTo([53], { from: 'Example.', except: ['internal.example.', 'example.'] })).forwarder
  expect(made.matches(parseName('example.'))).toBe(true)
  const some = forwarder(forwardTo([53], { from: 'example.', except: ['internal.example.'] })).forwarder
  const names = ['a.example.', 'internal.example.', 'x.internal.example.', 'xinternal.example.', 'org.']
  expect(names.filter((name) => some.matches(parseName(name)))).toEqual(['a.example.', 'xinternal.example.'])
})

test('responses are counted by upstream and rcode', async () => {
  const server = await serve(rcode(RCODE.NXDOMAIN))
  const made = forwarder(forwardTo([server.port]))
  await askTimes(made, 3)
  const counted = made.stats.upstreams.get(`127.0.0.1:${server.port}`)
  expect(counted?.requests).toBe(3)
  expect(counted?.responseSeconds.get(RCODE.NXDOMAIN)?.buckets.reduce((sum, count) => sum + count)).toBe(3)
  expect(counted?.connectionMisses.udp).toBe(3)
})
