import { describe, expect, test } from 'vitest'
import { block, load, refusal } from '../testing.ts'

describe('cache', () => {
  test('has the defaults of CoreDNS, for the zones of the block', () => {
    expect(load('a.example {\n cache\n}').config.blocks[0].cache).toEqual({
      zones: ['a.example.'],
      successCapacity: 9984,
      successMaxTtlSeconds: 3600,
      successMinTtlSeconds: 5,
      denialCapacity: 9984,
      denialMaxTtlSeconds: 1800,
      denialMinTtlSeconds: 5,
      prefetchAmount: 0,
      prefetchDurationMs: 60_000,
      prefetchPercentage: 10,
      servfailTtlSeconds: 5,
      serveStaleMs: 0,
      serveStaleVerify: false,
      keepTtl: false,
      disableSuccess: [],
      disableDenial: [],
    })
  })

  test('takes a TTL, zones, or both', () => {
    expect(block('cache 30').cache).toMatchObject({ zones: ['.'], successMaxTtlSeconds: 30, denialMaxTtlSeconds: 30 })
    expect(block('cache 30 b.example').cache).toMatchObject({ zones: ['b.example.'], successMaxTtlSeconds: 30 })
    expect(block('cache b.example').cache).toMatchObject({ zones: ['b.example.'], successMaxTtlSeconds: 3600 })
  })

  test('takes every option', () => {
    const text = `cache {
      success 5000 100 10
      denial 2500 50 0
      prefetch 3 2m 20%
      servfail 1500ms
      serve_stale 2h verify
      disable success a.example
      disable denial
      keepttl
    }`
    expect(block(text).cache).toMatchObject({
      successCapacity: 5000,
      successMaxTtlSeconds: 100,
      successMinTtlSeconds: 10,
      denialCapacity: 2500,
      denialMaxTtlSeconds: 50,
      denialMinTtlSeconds: 0,
      prefetchAmount: 3,
      prefetchDurationMs: 120_000,
      prefetchPercentage: 20,
      servfailTtlSeconds: 1.5,
      serveStaleMs: 7_200_000,
      serveStaleVerify: true,
      disableSuccess: ['a.example.'],
      disableDenial: ['.'],
      keepTtl: true,
    })
    expect(block('cache {\n serve_stale\n}').cache).toMatchObject({ serveStaleMs: 3_600_000, serveStaleVerify: false })
  })

  test('says which refinements have no effect', () => {
    const { notices } = load('. {\ncache {\n serve_stale 1h immediate 30s\n serve_stale_policy prefer_positive\n}\n}')
    expect(notices.map(({ at }) => at)).toEqual(['Corefile:3:27', 'Corefile:4:2'])
  })

  test.each([
    ['cache 0', '2:7: "0" is not a number from 1 to'],
    ['cache -1', '2:7: "-1" is not a number from 1 to'],
    ['cache {\n success\n}', '3:2: "success" has 0 arguments; expected success CAPACITY [TTL] [MINTTL]'],
    ['cache {\n prefetch 1 1m 95%\n}', '3:16: "95" is not a number from 10 to 90'],
    ['cache {\n prefetch 1 1m 50\n}', '3:16: "50" has no "%"; expected 10% to 90%'],
    ['cache {\n servfail 6m\n}', '3:11: "6m" is longer than RFC 2308 allows; expected at most 5m'],
    ['cache {\n serve_stale 1h later\n}', '3:17: unknown refresh mode "later"; expected immediate or verify'],
    ['cache {\n disable all\n}', '3:10: "all" cannot be disabled; expected success or denial'],
    ['cache {\n sucess 1\n}', '3:2: unknown option "sucess" of cache; did you mean "success"?'],
  ])('%j is refused', (directive, message) => {
    expect(refusal(`. {\n${directive}\n}`)).toContain(`Cannot load Corefile:${message}`)
  })
})
