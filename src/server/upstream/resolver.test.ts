import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  address,
  answer,
  decoded,
  denial,
  FaultServer,
  type Handler,
  question,
} from '../../../test/support/fault-server.ts'
import type { NameServer, RunningServer } from '../../../test/support/name-server.ts'
import { bind, knot, nsd } from '../../../test/support/name-servers.ts'
import { needing } from '../../../test/support/needing.ts'
import { freePort } from '../../../test/support/ports.ts'
import { cacheConfig, forwardTo, serverBlock } from '../../../test/support/resolver-block.ts'
import type { Message } from '../../dns/message.ts'
import { formatName, parseName } from '../../dns/name.ts'
import { RCODE, TYPE } from '../../dns/types.ts'
import type { ServerBlock } from '../config.ts'
import { ErrorLog } from '../error-log.ts'
import { WaitingPlaces } from '../waiting-places.ts'
import { type LocalAnswer, Resolver } from './resolver.ts'
import { createUpstreamStats, type UpstreamStats } from './stats.ts'

const open: { stop(): unknown }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.stop()
})

const CLIENT = { address: '192.0.2.200', port: 40_000, transport: 'udp' } as const
/** As many as a client gets when no other waits. */
const PLACES_OF_ONE_CLIENT = 3000
const EDNS = { udpBytes: 1232, version: 0, do: false, options: [] }

async function serve(handler: Handler, port?: number): Promise<FaultServer> {
  const server = await FaultServer.start(handler, port)
  open.push(server)
  return server
}

interface Made {
  readonly resolver: Resolver
  readonly stats: UpstreamStats
  readonly warnings: string[]
  readonly abort: AbortController
}

function resolverFor(block: Partial<ServerBlock>): Made {
  const stats = createUpstreamStats()
  const warnings: string[] = []
  const abort = new AbortController()
  const log = { warn: () => undefined, info: () => undefined }
  const lines = { error: () => undefined, warning: (line: string) => warnings.push(line), info: () => undefined }
  const resolver = new Resolver(serverBlock(block), {
    signal: abort.signal,
    log,
    stats,
    places: new WaitingPlaces(),
    errors: new ErrorLog([], lines, abort.signal),
  })
  open.unshift({ stop: () => abort.abort() })
  return { resolver, stats, warnings, abort }
}

function answered(response: Uint8Array | undefined): Uint8Array {
  if (response === undefined) throw new Error('the query was dropped')
  return response
}

async function ask(made: Made, query: Uint8Array, local?: LocalAnswer): Promise<Message> {
  return decoded(answered(await made.resolver.resolve(query, CLIENT, local)))
}

const good =
  (n: number, ttlSeconds = 300): Handler =>
  ({ query, send }) =>
    send(address(query, `192.0.2.${n}`, ttlSeconds))
const rcode =
  (code: number): Handler =>
  ({ query, send }) =>
    send(answer(query, { rcode: code }))
const lastByte = (message: Message): number | undefined => message.answers[0]?.rdata[3]

needing('nsd', 'knotd', 'named').describe('with real servers', () => {
  const servers: RunningServer[] = []
  let directory: string
  let file: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-upstream-'))
    file = join(directory, 'corp.example.zone')
    const large = Array.from({ length: 90 }, (_, i) => `big A 198.51.100.${i}`).join('\n')
    await writeFile(
      file,
      `$ORIGIN corp.example.\n$TTL 600\n@ SOA ns1 host 1 7200 3600 1209600 42\n@ NS ns1\nns1 A 192.0.2.1\n` +
        `www CNAME web\nweb A 192.0.2.80\n${large}\n`,
    )
    for (const server of [nsd, knot, bind] as NameServer[])
      servers.push(await server.start([{ origin: 'corp.example.', file }]))
  })
  afterAll(async () => {
    for (const server of servers) await server.stop()
    await rm(directory, { recursive: true })
  })

  test.each([0, 1, 2])('answers, denials and large answers of server %i arrive whole', async (index) => {
    const made = resolverFor({ forwards: [forwardTo([servers[index].port])], cache: cacheConfig() })
    const www = await ask(made, question('WWW.corp.example.', TYPE.A, { id: 99, edns: EDNS }))
    expect(www).toMatchObject({ id: 99, qr: true, rcode: RCODE.NOERROR, edns: { options: [] } })
    expect(www.questions[0].name).toEqual(parseName('WWW.corp.example.'))
    expect(www.answers.map(({ type }) => type)).toEqual([TYPE.CNAME, TYPE.A])

    const missing = await ask(made, question('missing.corp.example.'))
    expect(missing).toMatchObject({ rcode: RCODE.NXDOMAIN, authorities: [{ type: TYPE.SOA, ttlSeconds: 42 }] })

    const big = await ask(made, question('big.corp.example.'))
    expect(big).toMatchObject({ tc: false, rcode: RCODE.NOERROR })
    expect(big.answers.length).toBe(90)

    const before = made.stats.upstreams.get(`127.0.0.1:${servers[index].port}`)?.requests
    for (const name of ['www', 'missing', 'big']) {
      const first = { www, missing, big }[name]
      const again = await ask(made, question(`${name}.corp.example.`, TYPE.A, name === 'www' ? { edns: EDNS } : {}))
      expect(again.answers.length).toBe(first?.answers.length)
    }
    expect(made.stats.upstreams.get(`127.0.0.1:${servers[index].port}`)?.requests).toBe(before)
  })

  test('queries go on being answered when one of them is killed', async () => {
    const victim = await nsd.start([{ origin: 'corp.example.', file }])
    const made = resolverFor({ forwards: [forwardTo([victim.port, servers[1].port], { policy: 'round_robin' })] })
    const sweep = async (): Promise<number[]> => {
      const rcodes: number[] = []
      for (let i = 0; i < 20; i++) rcodes.push((await ask(made, question('web.corp.example.'))).rcode)
      return rcodes
    }
    const all = new Array(20).fill(RCODE.NOERROR)
    expect(await sweep()).toEqual(all)
    await victim.stop()
    expect(await sweep()).toEqual(all)
  })
})

describe('the cache', () => {
  test('answers the second query, whatever its letter case and EDNS, and not a different one', async () => {
    const server = await serve(good(1))
    const made = resolverFor({ forwards: [forwardTo([server.port])], cache: cacheConfig({ successMaxTtlSeconds: 30 }) })
    expect((await ask(made, question('www.example.'))).answers[0].ttlSeconds).toBe(30)
    const second = await ask(made, question('WWW.example.', TYPE.A, { id: 5, edns: EDNS }))
    expect(second).toMatchObject({ id: 5, answers: [{ rdata: Uint8Array.of(192, 0, 2, 1) }], edns: { udpBytes: 1232 } })
    expect(server.received.length).toBe(1)
    await ask(made, question('www.example.', TYPE.A, { edns: { ...EDNS, do: true } }))
    expect(server.received.length).toBe(2)
    expect(made.stats.cache).toMatchObject({ requests: 3, misses: 2, success: { hits: 1, entries: 2 } })
  })

  test('is left out for names it does not cover', async () => {
    const server = await serve(good(1))
    const made = resolverFor({ forwards: [forwardTo([server.port])], cache: cacheConfig({ zones: ['org.'] }) })
    await ask(made, question('www.example.'))
    expect((await ask(made, question('www.example.'))).answers[0].ttlSeconds).toBe(300)
    expect(server.received.length).toBe(2)
  })

  test('does not keep SERVFAIL for which no upstream is to blame', async () => {
    const port = await freePort()
    const made = resolverFor({ forwards: [forwardTo([port])], cache: cacheConfig() })
    expect((await ask(made, question('www.example.'))).rcode).toBe(RCODE.SERVFAIL)
    await serve(good(1), port)
    expect(lastByte(await ask(made, question('www.example.')))).toBe(1)
  })

  test('fetches a popular answer anew before it expires', async () => {
    const server = await serve(good(1, 5))
    const prefetch = { prefetchAmount: 2, prefetchPercentage: 90 }
    const made = resolverFor({ forwards: [forwardTo([server.port])], cache: cacheConfig(prefetch) })
    await ask(made, question('www.example.'))
    server.handler = good(2, 600)
    // With 90 % of 5 s left, rounded up, every second hit is due at once.
    await ask(made, question('www.example.'))
    expect(lastByte(await ask(made, question('www.example.')))).toBe(1)
    await expect.poll(async () => lastByte(await ask(made, question('www.example.')))).toBe(2)
    expect(made.stats.cache.prefetches).toBe(1)
  })

  test.each([false, true])(
    'serves stale answers when the upstream is gone, and fresh ones after (verify: %s)',
    async (verify) => {
      const port = await freePort()
      const server = await FaultServer.start(good(1, 0), port)
      const stale = { successMinTtlSeconds: 1, serveStaleMs: 3600_000, serveStaleVerify: verify }
      const made = resolverFor({ forwards: [forwardTo([port])], cache: cacheConfig(stale) })
      await ask(made, question('www.example.'))
      await server.stop()
      await expect
        .poll(() => ask(made, question('www.example.')))
        .toMatchObject({
          rcode: RCODE.NOERROR,
          answers: [{ ttlSeconds: 0, rdata: Uint8Array.of(192, 0, 2, 1) }],
        })
      expect(made.stats.cache.servedStale).toBeGreaterThan(0)
      await serve(good(2), port)
      await expect.poll(async () => lastByte(await ask(made, question('www.example.')))).toBe(2)
    },
  )
})

describe('alternate', () => {
  const alternate = (port: number, rcodes: number[], from = '.'): ServerBlock['alternates'][number] => ({
    original: true,
    rcodes,
    forward: forwardTo([port], { from }),
  })
  const local = (code: number, fallthrough = false): LocalAnswer => ({
    rcode: code,
    message: answer(decoded(question('www.example.')), { rcode: code, aa: true }),
    fallthrough,
  })

  test('on SERVFAIL takes names no zone covers, as the Corefile of a zone server relies on', async () => {
    const server = await serve(good(9))
    const made = resolverFor({ alternates: [alternate(server.port, [RCODE.SERVFAIL])] })
    expect(made.resolver.handles(parseName('www.example.'))).toBe(true)
    expect(lastByte(await ask(made, question('www.example.')))).toBe(9)
    expect(lastByte(await ask(made, question('www.example.'), { rcode: RCODE.REFUSED, message: undefined }))).toBe(9)
  })

  test('replaces the answer of a forward that has its rcode, or of one that fails', async () => {
    const [main, other] = [await serve(rcode(RCODE.SERVFAIL)), await serve(good(9))]
    const alternates = [alternate(other.port, [RCODE.SERVFAIL])]
    expect(lastByte(await ask(resolverFor({ forwards: [forwardTo([main.port])], alternates }), question('a.')))).toBe(9)
    const dead = forwardTo([await freePort()])
    expect(lastByte(await ask(resolverFor({ forwards: [dead], alternates }), question('a.')))).toBe(9)
    main.handler = rcode(RCODE.NXDOMAIN)
    const kept = await ask(resolverFor({ forwards: [forwardTo([main.port])], alternates }), question('a.'))
    expect(kept.rcode).toBe(RCODE.NXDOMAIN)
  })

  test("replaces a zone's own answer only for its rcodes and names", async () => {
    const server = await serve(good(9))
    const made = resolverFor({
      alternates: [alternate(server.port, [RCODE.NXDOMAIN], 'example.')],
      forwards: [forwardTo([server.port])],
    })
    expect([...made.resolver.alternateRcodes]).toEqual([RCODE.NXDOMAIN])
    expect(lastByte(await ask(made, question('www.example.'), local(RCODE.NXDOMAIN)))).toBe(9)
    expect(server.received.length).toBe(1)
    const unchanged = local(RCODE.NOERROR)
    expect(await made.resolver.resolve(question('www.example.'), CLIENT, unchanged)).toBe(unchanged.message)
    const elsewhere = local(RCODE.NXDOMAIN)
    expect(await made.resolver.resolve(question('www.org.'), CLIENT, elsewhere)).toBe(elsewhere.message)
    expect(server.received.length).toBe(1)
  })

  test('the first rule that fits is used, and its answers are cached', async () => {
    const [first, second] = [await serve(good(1)), await serve(good(2))]
    const alternates = [
      alternate(first.port, [RCODE.NXDOMAIN]),
      alternate(second.port, [RCODE.SERVFAIL, RCODE.NXDOMAIN]),
    ]
    const made = resolverFor({ alternates, cache: cacheConfig() })
    expect(lastByte(await ask(made, question('www.example.'), local(RCODE.NXDOMAIN)))).toBe(1)
    expect(lastByte(await ask(made, question('www.example.'), local(RCODE.NXDOMAIN)))).toBe(1)
    expect(lastByte(await ask(made, question('www.example.')))).toBe(2)
    expect([first.received.length, second.received.length]).toEqual([1, 1])
  })

  test('a zone with fallthrough lets the forward answer, or keeps its own answer without one', async () => {
    const server = await serve(good(3))
    const made = resolverFor({ forwards: [forwardTo([server.port], { from: 'example.' })] })
    expect(lastByte(await ask(made, question('www.example.'), local(RCODE.NXDOMAIN, true)))).toBe(3)
    const own = local(RCODE.NXDOMAIN, true)
    expect(await made.resolver.resolve(question('www.org.'), CLIENT, own)).toBe(own.message)
  })
})

test('the forward with the longest matching name is asked, and the next where that one excepts the name', async () => {
  const [root, corp, deep] = [await serve(good(1)), await serve(good(2)), await serve(good(3))]
  const made = resolverFor({
    forwards: [
      forwardTo([root.port]),
      forwardTo([corp.port], { from: 'corp.example.', except: ['public.corp.example.'] }),
      forwardTo([deep.port], { from: 'a.corp.example.' }),
    ],
  })
  const names = ['org.', 'x.corp.example.', 'y.a.corp.example.', 'www.public.corp.example.']
  const answers = await Promise.all(names.map((name) => ask(made, question(name))))
  expect(answers.map(lastByte)).toEqual([1, 2, 3, 1])
})

test('the same question in flight goes upstream once, and each client gets its own id and case', async () => {
  const waiting: (() => void)[] = []
  const server = await serve(({ query, send }) => waiting.push(() => send(address(query, '192.0.2.1'))))
  const made = resolverFor({ forwards: [forwardTo([server.port])] })
  const asked = [1, 2, 3].map((id) => ask(made, question(id === 2 ? 'WWW.example.' : 'www.example.', TYPE.A, { id })))
  await expect.poll(() => waiting.length).toBe(1)
  waiting[0]()
  const answers = await Promise.all(asked)
  expect(answers.map(({ id }) => id)).toEqual([1, 2, 3])
  expect(answers[1].questions[0].name).toEqual(parseName('WWW.example.'))
  expect(server.received.length).toBe(1)
})

test('the buffer of a query may be used again at once', async () => {
  const server = await serve(good(1))
  const made = resolverFor({ forwards: [forwardTo([server.port])] })
  const buffer = question('www.example.', TYPE.A, { id: 12 })
  const asked = made.resolver.resolve(buffer, CLIENT)
  buffer.fill(0)
  expect(decoded(answered(await asked))).toMatchObject({ id: 12, questions: [{ name: parseName('www.example.') }] })
})

test('a query nobody handles is refused, and what is no query gets its rcode', async () => {
  const made = resolverFor({ forwards: [forwardTo([53], { from: 'example.' })] })
  expect(made.resolver.handles(parseName('org.'))).toBe(false)
  const refused = await ask(made, question('www.org.', TYPE.MX, { id: 8, edns: EDNS }))
  expect(refused).toMatchObject({ id: 8, qr: true, rd: true, rcode: RCODE.REFUSED, edns: { udpBytes: 1232 } })
  expect(refused.questions).toMatchObject([{ name: parseName('www.org.'), type: TYPE.MX }])
  expect((await ask(made, question('example.', TYPE.A, { opcode: 4 }))).rcode).toBe(RCODE.NOTIMP)
  expect((await ask(made, question('example.').slice(0, 12))).rcode).toBe(RCODE.FORMERR)
})

test('a failure is answered with SERVFAIL and logged with its reason', async () => {
  const port = await freePort()
  const made = resolverFor({ forwards: [forwardTo([port])] })
  expect((await ask(made, question('www.example.', TYPE.MX))).rcode).toBe(RCODE.SERVFAIL)
  expect(made.warnings).toContain(`Cannot resolve "www.example. MX": read udp 127.0.0.1:${port}: connection refused`)
})

test('a negative answer is shown with the TTL it is kept for', async () => {
  const server = await serve(({ query, send }) => send(denial(query, RCODE.NXDOMAIN, 900, 60)))
  const made = resolverFor({ forwards: [forwardTo([server.port])], cache: cacheConfig() })
  for (let i = 0; i < 2; i++) {
    const { authorities } = await ask(made, question('no.example.'))
    expect(authorities[0].ttlSeconds).toBeGreaterThan(50)
    expect(authorities[0].ttlSeconds).toBeLessThanOrEqual(60)
  }
  expect(server.received.length).toBe(1)
})

test('aborting ends what is under way with SERVFAIL', async () => {
  const server = await serve(() => undefined)
  const made = resolverFor({ forwards: [forwardTo([server.port])] })
  const asked = ask(made, question('www.example.'))
  await expect.poll(() => server.received.length).toBe(1)
  made.abort.abort()
  expect((await asked).rcode).toBe(RCODE.SERVFAIL)
})

test('what is in the cache is answered however much waits, and what has no place is dropped', async () => {
  const server = await serve(({ query, send }) => {
    if (formatName(query.questions[0].name) === 'cached.example.') send(address(query, '192.0.2.1'))
  })
  const made = resolverFor({ forwards: [forwardTo([server.port])], cache: cacheConfig() })
  await ask(made, question('cached.example.'))
  const silent = question('silent.example.')
  const waiting = Array.from({ length: PLACES_OF_ONE_CLIENT }, () => made.resolver.resolve(silent, CLIENT))
  expect(await made.resolver.resolve(silent, CLIENT)).toBeUndefined()
  expect((await ask(made, question('cached.example.'))).answers).toHaveLength(1)
  made.abort.abort()
  const codes = await Promise.all(waiting.map(async (each) => decoded(answered(await each)).rcode))
  expect(new Set(codes)).toEqual(new Set([RCODE.SERVFAIL]))
})
