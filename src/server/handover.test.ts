import { MessageChannel } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FaultServer, question } from '../../test/support/fault-server.ts'
import { PLAIN_VIEW } from '../../test/support/local-answer.ts'
import { forwardTo, serverBlock } from '../../test/support/resolver-block.ts'
import { decodeMessage, encodeMessage } from '../dns/message.ts'
import type { Message, ResourceRecord } from '../dns/message.ts'
import { parseName } from '../dns/name.ts'
import { RCODE, TYPE } from '../dns/types.ts'
import { Arena } from '../zone/arena.ts'
import { compileZone } from '../zone/compile.ts'
import { Directory } from '../zone/directory.ts'
import { ZoneEdits } from '../zone/edits.ts'
import { EdnsContext } from '../zone/edns.ts'
import { Control } from '../zone/epoch.ts'
import { HANDOVER, Query } from '../zone/query.ts'
import { ArenaReader } from './arena-reader.ts'
import type { ForwardConfig } from './config.ts'
import { Handover } from './handover.ts'
import type { Search } from './handover.ts'
import { Resolver } from './upstream/resolver.ts'
import { createUpstreamStats } from './upstream/stats.ts'
import { WaitingPlaces } from './waiting-places.ts'

const SOA = Uint8Array.of(1, 0x61, 0, 1, 0x62, 0, ...new Uint8Array(20))
const MANY = 100
const COOKIE = 10
const CLIENT = { address: '127.0.0.1', port: 1, transport: 'udp' } as const
const CLIENT_COOKIE = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)

interface SearchedZone {
  /** Fails when the query is dropped. */
  readonly ask: (packet: Uint8Array) => Promise<Message>
  readonly edns: EdnsContext
  readonly places: WaitingPlaces
}

/** Asks a zone whose name `many` has many addresses, and whose searches are answered by `search`. */
function searchedZone(search: Search, forwards: readonly ForwardConfig[] = []): SearchedZone {
  const arena = new Arena(1 << 16)
  const control = Control.create(1)
  const zone = new ZoneEdits(parseName('example.'))
  zone.add(parseName('example.'), TYPE.SOA, 60, SOA)
  for (let i = 0; i < MANY; i++) zone.add(parseName('many.example.'), TYPE.A, 60, Uint8Array.of(10, 0, 0, i))
  const options = { space: 0, slot: 1, fallthrough: false, searches: true }
  new Directory(arena, control).publish(compileZone(zone.builder, arena, options))
  const { port1, port2 } = new MessageChannel()
  port1.postMessage({ generation: 1, arena: arena.buffer })
  control.nextGeneration()
  const query = new Query()
  const places = new WaitingPlaces()
  const edns = new EdnsContext(new Uint8Array(16), 100)
  const handover = new Handover(query, edns, new ArenaReader(control, 0, port2, query), search, places)
  const resolver = new Resolver(serverBlock({ forwards }), {
    signal: new AbortController().signal,
    stats: createUpstreamStats(),
    places,
    errors: undefined,
    log: { warn: () => undefined, info: () => undefined },
  })
  const block = { view: { ...PLAIN_VIEW, searches: true, handsOver: forwards.length > 0 }, resolver }
  const ask = async (packet: Uint8Array) => {
    const response = await handover.answer(packet, HANDOVER.search, block, CLIENT)
    const message = response === undefined ? 'dropped' : decodeMessage(response)
    if (typeof message === 'string') throw new Error(message)
    return message
  }
  return { ask, edns, places }
}

test('an alias found by a search leads to all addresses, also those too many for UDP', async () => {
  const alias = { type: TYPE.CNAME, ttl: 60, rdata: parseName('many.example.') }
  const { ask } = searchedZone(() => Promise.resolve({ found: true, records: [alias], additional: [] }))
  const { answers } = await ask(question('*.x.example.', TYPE.A))
  expect(answers).toHaveLength(1 + MANY)
})

test('a search whose alias cannot be followed for want of a place is dropped, not denied', async () => {
  const alias = { type: TYPE.CNAME, ttl: 60, rdata: parseName('elsewhere.test.') }
  // Nothing is sent to this port.
  const zone = searchedZone(() => {
    takeMostPlaces(zone.places)
    return Promise.resolve({ found: true, records: [alias], additional: [] })
  }, [forwardTo([9])])
  await expect(zone.ask(question('*.x.example.', TYPE.A))).rejects.toThrow('dropped')
})

describe('a search whose alias leads out of the zones', () => {
  const alias = { type: TYPE.CNAME, ttl: 60, rdata: parseName('elsewhere.test.') }
  const search = () => Promise.resolve({ found: true, records: [alias], additional: [] })
  const asked = question('*.x.example.', TYPE.A)
  let upstream: FaultServer
  beforeAll(async () => {
    upstream = await FaultServer.start(() => undefined)
  })
  afterAll(() => upstream.stop())

  const chain: ResourceRecord[] = [
    { name: alias.rdata, type: TYPE.CNAME, klass: 1, ttlSeconds: 60, rdata: parseName('further.test.') },
  ]
  test.each<[string, Partial<Message>, number, number]>([
    ['SERVFAIL', { rcode: RCODE.SERVFAIL }, RCODE.SERVFAIL, 1],
    ['SERVFAIL behind another alias', { rcode: RCODE.SERVFAIL, answers: chain }, RCODE.SERVFAIL, 2],
    ['REFUSED', { rcode: RCODE.REFUSED }, RCODE.REFUSED, 1],
    ['NXDOMAIN behind another alias', { rcode: RCODE.NXDOMAIN, answers: chain }, RCODE.NXDOMAIN, 2],
    ['NXDOMAIN', { rcode: RCODE.NXDOMAIN }, RCODE.NOERROR, 0],
    ['no data', {}, RCODE.NOERROR, 0],
  ])('to %s has that rcode behind the aliases', async (_, reply, rcode, aliases) => {
    upstream.handler = ({ query, send }) => send(encodeMessage({ ...query, qr: true, ...reply }))
    const message = await searchedZone(search, [forwardTo([upstream.port])]).ask(asked)
    expect([message.rcode, message.answers.length]).toEqual([rcode, aliases])
    expect(message.answers.every(({ type }) => type === TYPE.CNAME)).toBe(true)
    expect(message.authorities.map(({ type }) => type)).toEqual(aliases === 0 ? [TYPE.SOA] : [])
  })

  test('to an upstream that hangs up is SERVFAIL', async () => {
    upstream.handler = ({ hangUp }) => hangUp()
    const { ask } = searchedZone(search, [forwardTo([upstream.port], { forceTcp: true })])
    const message = await ask(asked)
    expect([message.rcode, message.answers.length]).toEqual([RCODE.SERVFAIL, 1])
  })

  test('has the alias alone when there is nothing to forward to: the client asks elsewhere', async () => {
    const message = await searchedZone(search).ask(asked)
    expect([message.rcode, message.answers.length]).toEqual([RCODE.NOERROR, 1])
  })
})

/** Afterwards only clients with fewer than ten places get another, and the client has ten. */
function takeMostPlaces(places: WaitingPlaces): void {
  for (let i = 0; i < 10; i++) places.take(CLIENT, `question ${i}`)
  for (let i = 0; places.taken < 6100; i++)
    places.take({ address: `10.0.${i >> 8}.${i & 255}`, transport: 'udp' }, 'question')
}

test('the cookie of an answer to a search is that of its client, whoever asks meanwhile', async () => {
  const nothing = { found: true, records: [], additional: [] }
  const cookieOf = ({ edns }: Message) => edns?.options.find(({ code }) => code === COOKIE)?.data.slice(8, 24)
  const asked = question('*.x.example.', TYPE.A, {
    edns: { udpBytes: 1232, version: 0, do: false, options: [{ code: COOKIE, data: CLIENT_COOKIE }] },
  })
  const alone = searchedZone(() => Promise.resolve(nothing))
  alone.edns.address.set([192, 0, 2, 1])
  const disturbed = searchedZone(() => {
    disturbed.edns.address.set([192, 0, 2, 2])
    return Promise.resolve(nothing)
  })
  disturbed.edns.address.set([192, 0, 2, 1])
  const wanted = cookieOf(await alone.ask(asked))
  expect(wanted).toHaveLength(16)
  expect(cookieOf(await disturbed.ask(asked))).toEqual(wanted)
})
