import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { TYPE } from '../dns/types.ts'
import {
  allocateStats,
  COUNTED_RCODES,
  COUNTED_TYPES,
  DURATION_BOUNDS,
  FAMILY,
  PROTO,
  StatsReader,
  StatsWriter,
} from './stats.ts'

const A = COUNTED_TYPES.indexOf('A')
const OTHER = COUNTED_TYPES.length

describe('query counters', () => {
  test('count each query once in its zone, by protocol, family, type and rcode', () => {
    const region = allocateStats(4)
    const stats = new StatsWriter(region)
    stats.count(2, PROTO.udp, FAMILY.ipv4, TYPE.A, 0, false, 40, 56)
    stats.count(2, PROTO.udp, FAMILY.ipv4, TYPE.A, 3, true, 40, 90)
    stats.count(3, PROTO.tcp, FAMILY.ipv6, TYPE.CAA, 4095, false, 40, 90)
    const [second, third, ...rest] = new StatsReader([region]).zones()
    expect(rest).toEqual([])
    expect([second.slot, third.slot]).toEqual([2, 3])
    expect(second.requests(PROTO.udp, FAMILY.ipv4, A)).toBe(2)
    expect(second.requests(PROTO.udp, FAMILY.ipv6, A)).toBe(0)
    expect([second.responses(0), second.responses(3), second.dnssecOk]).toEqual([1, 1, 1])
    expect(third.requests(PROTO.tcp, FAMILY.ipv6, OTHER)).toBe(1)
    expect(third.responses(COUNTED_RCODES)).toBe(1)
  })

  test('every combination lands in a counter of its own', () => {
    const region = allocateStats(1)
    const stats = new StatsWriter(region)
    const types = [...COUNTED_TYPES.map((name) => TYPE[name]), TYPE.HINFO]
    let times = 0
    for (const proto of [PROTO.udp, PROTO.tcp]) {
      for (const family of [FAMILY.ipv4, FAMILY.ipv6]) {
        for (const type of types) {
          times++
          for (let i = 0; i < times; i++) stats.count(0, proto, family, type, times % 25, false, 1, 1)
        }
      }
    }
    const [zone] = new StatsReader([region]).zones()
    let expected = 0
    for (const proto of [PROTO.udp, PROTO.tcp]) {
      for (const family of [FAMILY.ipv4, FAMILY.ipv6]) {
        for (const bucket of types.keys()) expect(zone.requests(proto, family, bucket)).toBe(++expected)
      }
    }
    expect(zone.dnssecOk).toBe(0)
  })

  test('a slot beyond the region is counted in slot 0', () => {
    const region = allocateStats(2)
    new StatsWriter(region).count(2, PROTO.udp, FAMILY.ipv4, TYPE.A, 0, false, 40, 56)
    expect(new StatsReader([region]).zones().map((zone) => zone.slot)).toEqual([0])
  })

  test('sizes and durations fall into the bucket whose bound they do not exceed', () => {
    const region = allocateStats(1)
    const stats = new StatsWriter(region)
    for (const bytes of [100, 101, 65_535]) {
      stats.count(0, PROTO.tcp, FAMILY.ipv4, TYPE.A, 0, false, 12, bytes)
    }
    stats.observeDuration(0.000002, 60)
    stats.observeDuration(0.0005, 1)
    stats.observeDuration(60, 1)
    const reader = new StatsReader([region])
    const sizes = reader.responseBytes(PROTO.tcp)
    expect([...sizes.buckets]).toEqual([0, 1, 1, ...new Array<number>(11).fill(0), 1])
    expect(sizes.sum).toBe(100 + 101 + 65_535)
    expect([...reader.requestBytes(PROTO.udp).buckets]).toEqual(new Array(15).fill(0))
    const durations = reader.durationSeconds()
    expect([durations.buckets[0], durations.buckets[1], durations.buckets[DURATION_BOUNDS.length]]).toEqual([60, 1, 1])
    expect(durations.sum).toBeCloseTo(60.00062, 9)
  })

  test('regions written by other threads are summed, whatever their sizes', async () => {
    const regions = [allocateStats(1), allocateStats(10_001)]
    const source = `
      const { workerData } = require('node:worker_threads')
      import(workerData.module).then(({ StatsWriter }) => {
        const stats = new StatsWriter(workerData.region)
        for (let i = 0; i < 1000; i++) stats.count(10_000, 0, 1, 1, 0, true, 40, 56)
      })`
    const module = new URL('./stats.ts', import.meta.url).href
    await Promise.all(
      regions.map((region) => {
        const worker = new Worker(source, { eval: true, workerData: { region, module } })
        return new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject))
      }),
    )
    const zones = new StatsReader(regions).zones()
    expect(zones.map((zone) => [zone.slot, zone.dnssecOk])).toEqual([
      [0, 1000],
      [10_000, 1000],
    ])
  })
})
