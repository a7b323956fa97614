import { beforeEach, describe, expect, test } from 'vitest'
import { address, answer, decoded, denial, question } from '../../../test/support/fault-server.ts'
import { cacheConfig } from '../../../test/support/resolver-block.ts'
import { parseName } from '../../dns/name.ts'
import { RCODE } from '../../dns/types.ts'
import type { CacheConfig } from '../config.ts'
import { Cache, type Hit } from './cache.ts'
import { type Reply, readReply } from './reply.ts'
import { createUpstreamStats, type UpstreamStats } from './stats.ts'

let nowMs = 0
let stats: UpstreamStats
beforeEach(() => {
  nowMs = 1000
  stats = createUpstreamStats()
})

function cacheWith(config: Partial<CacheConfig> = {}): Cache {
  return new Cache(cacheConfig(config), ['.'], stats.cache, () => nowMs)
}

function after(seconds: number): void {
  nowMs += seconds * 1000
}

const NAME = parseName('www.example.')
const query = decoded(question('www.example.'))
const data = (ttlSeconds: number, ip = '192.0.2.1'): Reply => read(address(query, ip, ttlSeconds))
const nxdomain = (soaTtl: number, minimum: number): Reply => read(denial(query, RCODE.NXDOMAIN, soaTtl, minimum))
const servfail = (): Reply => read(answer(query, { rcode: RCODE.SERVFAIL }))

function read(message: Uint8Array): Reply {
  const reply = readReply(message)
  if (reply === undefined) throw new Error('malformed')
  return reply
}

function rcodeOf(hit: Hit | undefined): number | undefined {
  return hit?.reply.rcode
}

test('a kept answer ages second by second and then is gone', () => {
  const cache = cacheWith()
  expect(cache.store('k', NAME, data(60))).toBe(60)
  expect(cache.lookup('k')?.ttlSeconds).toBe(60)
  after(59.9)
  expect(cache.lookup('k')?.ttlSeconds).toBe(1)
  after(0.1)
  expect(cache.lookup('k')).toBeUndefined()
  expect(stats.cache).toMatchObject({ requests: 3, misses: 1, success: { entries: 1, hits: 2 } })
})

test('a denial is kept for the lower of SOA TTL and SOA minimum', () => {
  const cache = cacheWith()
  expect(cache.store('k', NAME, nxdomain(600, 30))).toBe(30)
  after(29)
  expect(rcodeOf(cache.lookup('k'))).toBe(RCODE.NXDOMAIN)
  after(1)
  expect(cache.lookup('k')).toBeUndefined()
  expect(stats.cache.denial).toMatchObject({ entries: 1, hits: 1 })
})

test('TTLs are held between the lowest and the highest allowed', () => {
  const cache = cacheWith({ successMaxTtlSeconds: 30, successMinTtlSeconds: 10, denialMaxTtlSeconds: 7 })
  expect(cache.store('k', NAME, data(3600))).toBe(30)
  expect(cache.store('k', NAME, data(0))).toBe(10)
  expect(cache.store('k', NAME, nxdomain(600, 600))).toBe(7)
  expect(cache.store('k', NAME, nxdomain(1, 1))).toBe(5)
})

test('keepttl shows the full TTL until the end', () => {
  const cache = cacheWith({ keepTtl: true })
  cache.store('k', NAME, data(60))
  after(59)
  expect(cache.lookup('k')?.ttlSeconds).toBe(60)
})

test('a denial replaces data and data replaces a denial', () => {
  const cache = cacheWith()
  cache.store('k', NAME, data(60))
  cache.store('k', NAME, nxdomain(60, 60))
  expect(rcodeOf(cache.lookup('k'))).toBe(RCODE.NXDOMAIN)
  cache.store('k', NAME, data(60))
  expect(rcodeOf(cache.lookup('k'))).toBe(RCODE.NOERROR)
  expect(stats.cache).toMatchObject({ success: { entries: 1 }, denial: { entries: 0 } })
})

test('what must not be kept is not, and counts as dropped where it should have been data', () => {
  const cache = cacheWith()
  for (const parts of [{ rcode: RCODE.NXDOMAIN }, { tc: true }, { rcode: RCODE.REFUSED }]) {
    expect(cache.store('k', NAME, read(answer(query, parts)))).toBeUndefined()
  }
  expect(cache.lookup('k')).toBeUndefined()
  expect(stats.cache.drops).toBe(1)
})

test('failures are kept for the time set, or not at all', () => {
  const cache = cacheWith()
  cache.store('k', NAME, servfail())
  after(4)
  expect(rcodeOf(cache.lookup('k'))).toBe(RCODE.SERVFAIL)
  after(1)
  expect(cache.lookup('k')).toBeUndefined()
  const none = cacheWith({ servfailTtlSeconds: 0 })
  none.store('k', NAME, servfail())
  expect(none.lookup('k')).toBeUndefined()
})

test('a disabled kind is not kept below the names given', () => {
  const cache = cacheWith({ disableSuccess: ['example.'], disableDenial: ['org.'] })
  cache.store('k', NAME, data(60))
  expect(cache.lookup('k')).toBeUndefined()
  cache.store('k', NAME, nxdomain(60, 60))
  expect(rcodeOf(cache.lookup('k'))).toBe(RCODE.NXDOMAIN)
})

test('it covers its zones, or those of the block', () => {
  const own = new Cache(cacheConfig({ zones: ['Corp.example.'] }), ['.'], stats.cache)
  expect([own.covers(parseName('a.corp.example.')), own.covers(NAME)]).toEqual([true, false])
  const blocks = new Cache(cacheConfig(), ['example.'], stats.cache)
  expect([blocks.covers(NAME), blocks.covers(parseName('org.'))]).toEqual([true, false])
})

describe('prefetch', () => {
  const config = { prefetchAmount: 3, prefetchDurationMs: 20_000, prefetchPercentage: 10 }

  test('is wanted for popular entries in the last part of their time', () => {
    const cache = cacheWith(config)
    cache.store('k', NAME, data(100))
    after(80)
    expect([cache.lookup('k')?.prefetch, cache.lookup('k')?.prefetch, cache.lookup('k')?.prefetch]).not.toContain(true)
    after(10)
    expect(cache.lookup('k')).toMatchObject({ ttlSeconds: 10, prefetch: true })
  })

  test('is not wanted after a pause in the hits', () => {
    const cache = cacheWith(config)
    cache.store('k', NAME, data(100))
    for (let i = 0; i < 10; i++) cache.lookup('k')
    after(91)
    expect(cache.lookup('k')?.prefetch).toBe(false)
  })

  test('keeps the popularity of what it replaces', () => {
    const cache = cacheWith(config)
    cache.store('k', NAME, data(10))
    for (let i = 0; i < 3; i++) cache.lookup('k')
    cache.store('k', NAME, data(10))
    after(9)
    expect(cache.lookup('k')?.prefetch).toBe(true)
  })
})

describe('serve_stale', () => {
  test('offers an expired answer with TTL 0 for as long as set', () => {
    const cache = cacheWith({ serveStaleMs: 3600_000 })
    cache.store('k', NAME, data(10))
    after(10)
    expect(cache.lookup('k')).toMatchObject({ stale: true, ttlSeconds: 0, prefetch: false })
    after(3599)
    expect(cache.lookup('k')?.stale).toBe(true)
    after(1)
    expect(cache.lookup('k')).toBeUndefined()
  })

  test('is not ended by a failure', () => {
    const cache = cacheWith({ serveStaleMs: 3600_000 })
    cache.store('k', NAME, data(10))
    after(11)
    cache.store('k', NAME, servfail())
    expect(cache.lookup('k')).toMatchObject({ stale: true, reply: { rcode: RCODE.NOERROR } })
  })
})

describe('when full', () => {
  test('the oldest goes first, but one that was used is spared once', () => {
    const cache = cacheWith({ successCapacity: 3 })
    for (const key of ['a', 'b', 'c']) cache.store(key, NAME, data(60))
    cache.lookup('a')
    cache.store('d', NAME, data(60))
    expect(['a', 'b', 'c', 'd'].filter((key) => cache.lookup(key) !== undefined)).toEqual(['a', 'c', 'd'])
    expect(stats.cache.success).toMatchObject({ entries: 3, evictions: 1 })
  })

  test('large answers displace more than one', () => {
    const cache = cacheWith({ successCapacity: 30 })
    for (let i = 0; i < 30; i++) cache.store(`small${i}`, NAME, data(60))
    const large = { ...data(60), wire: new Uint8Array(60_000) }
    cache.store('large', NAME, large)
    cache.store('larger', NAME, large)
    expect(stats.cache.success.entries).toBeLessThan(3)
  })

  test('nothing is kept without capacity', () => {
    const cache = cacheWith({ successCapacity: 0 })
    cache.store('k', NAME, data(60))
    expect(cache.lookup('k')).toBeUndefined()
  })
})
