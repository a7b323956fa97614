import { beforeEach, describe, expect, test } from 'vitest'
import { LocalCatalog } from '../../test/support/local-catalog.ts'
import { parseName } from '../dns/name.ts'
import { finish } from '../dns/steps.ts'
import { TYPE } from '../dns/types.ts'
import { PLAIN_STYLE } from '../zone/edits.ts'
import { ReverseFeed } from './reverse-feed.ts'
import { ReverseNames } from './reverse.ts'
import type { NamesListener } from './served-zone.ts'

const REVERSE = '2.0.192.in-addr.arpa.'

let local: LocalCatalog
let listeners: Map<string, NamesListener>
let listenerOf: (origin: string) => NamesListener
beforeEach(() => {
  listeners = new Map()
  local = new LocalCatalog({ listener: (_, origin) => (origin === REVERSE ? undefined : listenerOf(origin)) })
  const options = { ...{ space: 0, rank: 100, plugin: 'ptr', style: PLAIN_STYLE }, fallthrough: [] }
  const part = local.catalog.part({ ...options, searches: false, leastTtl: 0 }, REVERSE)
  part.commit(1)
  const feed = new ReverseFeed(new ReverseNames({ zones: [REVERSE], ttlSeconds: 60, partOf: () => part }))
  listenerOf = (origin) => {
    const listener = listeners.get(origin) ?? feed.listener(origin)
    listeners.set(origin, listener)
    return listener
  }
})

function zone(serial: number, ...records: readonly string[]): string {
  return [
    '$TTL 300',
    `@ SOA ns.elsewhere. hostmaster ${serial} 3600 600 86400 60`,
    '@ NS ns.elsewhere.',
    ...records,
    '',
  ].join('\n')
}

/** A few records more than are read again as a whole. */
function largeZone(serial: number, ...records: readonly string[]): string {
  return zone(serial, ...Array.from({ length: 600 }, (_, i) => `host${i} TXT x`), ...records)
}

/** The names an address has. */
async function names(host: number): Promise<string> {
  // What changes in one go is published together, right after it.
  await Promise.resolve()
  return local.ask(`${host}.${REVERSE}`, TYPE.PTR)
}

describe.each([
  ['compiled as a whole', zone],
  ['changed name by name', largeZone],
])('PTR records follow a zone that is %s', (_, text) => {
  test('also where names vanish', async () => {
    const texts = local.texts(0)
    texts.put('a.test', text(1, 'www A 192.0.2.1', 'old A 192.0.2.2'))
    expect([await names(1), await names(2)]).toEqual(['www.a.test.', 'old.a.test.'])
    texts.put('a.test', text(2, 'www A 192.0.2.3'))
    expect([await names(1), await names(2), await names(3)]).toEqual(['NXDOMAIN', 'NXDOMAIN', 'www.a.test.'])
    texts.delete('a.test')
    expect(await names(3)).toBe('NXDOMAIN')
  })

  test('also at its apex', async () => {
    const texts = local.texts(0)
    texts.put('a.test', text(1, '@ A 192.0.2.1'))
    expect(await names(1)).toBe('a.test.')
    texts.put('a.test', text(2, '@ A 192.0.2.2'))
    expect([await names(1), await names(2)]).toEqual(['NXDOMAIN', 'a.test.'])
  })
})

test('addresses of the apex come from whatever source has them', async () => {
  const part = local.part(1, 'a.test.')
  local.texts(0).put('a.test', zone(1, '@ MX 10 mail.elsewhere.'))
  part.set({ 'a.test.': ['A 192.0.2.1'] })
  expect(await names(1)).toBe('a.test.')
  part.set({ 'a.test.': [] })
  expect(await names(1)).toBe('NXDOMAIN')
})

test('a name has the addresses of the source that counts', async () => {
  const part = local.part(0, 'a.test.')
  const texts = local.texts(1)
  texts.put('a.test', zone(1, 'www A 192.0.2.1'))
  part.set({ 'www.a.test.': ['A 192.0.2.2'] })
  expect([await names(1), await names(2)]).toEqual(['NXDOMAIN', 'www.a.test.'])
  part.set({ 'www.a.test.': [] })
  expect([await names(1), await names(2)]).toEqual(['www.a.test.', 'NXDOMAIN'])
})

test('a name server that has its addresses in its zone, and as glue above it, keeps them when one of the two goes', async () => {
  const texts = local.texts(0)
  texts.put('a.test', zone(1, 'sub NS ns.sub', 'ns.sub A 192.0.2.1', 'ns.sub A 192.0.2.2'))
  texts.put('sub.a.test', zone(1, 'ns A 192.0.2.1'))
  expect([await names(1), await names(2)]).toEqual(['ns.sub.a.test.', 'ns.sub.a.test.'])
  texts.put('a.test', zone(2))
  expect([await names(1), await names(2)]).toEqual(['ns.sub.a.test.', 'NXDOMAIN'])
  texts.put('a.test', zone(3, 'sub NS ns.sub', 'ns.sub A 192.0.2.1'))
  texts.delete('sub.a.test')
  expect(await names(1)).toBe('ns.sub.a.test.')
  texts.delete('a.test')
  expect(await names(1)).toBe('NXDOMAIN')
})

test('each change has a serial of its own, however quickly they follow', async () => {
  const texts = local.texts(0)
  const serials: number[] = []
  for (let i = 1; i <= 5; i++) {
    texts.put('a.test', zone(i, `www A 192.0.2.${i}`))
    await names(i)
    serials.push(local.serial(REVERSE))
  }
  expect(serials).toEqual([...new Set(serials)].toSorted((a, b) => a - b))
})

test('of two replacements of a zone the one that was asked for last counts, whichever runs first', async () => {
  const listener = listenerOf('a.test.')
  const owner = parseName('www.a.test.')
  const gone = listener.replaced([])
  const there = listener.replaced([{ owner, records: [{ type: TYPE.A, ttl: 60, rdata: Uint8Array.of(192, 0, 2, 1) }] }])
  finish(there)
  finish(gone)
  expect(await names(1)).toBe('www.a.test.')
})
