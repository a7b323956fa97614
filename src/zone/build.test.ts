import { describe, expect, test } from 'vitest'
import { parseName } from '../dns/name.ts'
import { LimitExceeded } from '../dns/zonefile/limits.ts'
import { ZoneBuilder } from './build.ts'

const ORIGIN = parseName('example.')

function add(builder: ZoneBuilder, owner: string, rdataLength: number): void {
  const name = parseName(owner)
  builder.record(name, name.length, 16, 1, 60, new Uint8Array(rdataLength), rdataLength, 1)
}

describe('a builder with a limit', () => {
  test('refuses rdata beyond it, and keeps what it has', () => {
    const builder = new ZoneBuilder(ORIGIN, 1000)
    add(builder, 'a.example.', 900)
    expect(() => add(builder, 'a.example.', 200)).toThrow(LimitExceeded)
    expect(() => builder.addRdata(new Uint8Array(200), 200)).toThrow(LimitExceeded)
    expect([builder.recordCount, builder.rdata(0).length]).toEqual([1, 900])
  })

  test('counts names, each of them once', () => {
    const builder = new ZoneBuilder(ORIGIN, 200)
    const long = `${'a'.repeat(60)}.example.`
    for (let i = 0; i < 100; i++) add(builder, long, 0)
    add(builder, `b${long}`, 0)
    expect(() => add(builder, `c${long}`, 0)).toThrow('at most 200 bytes of names and rdata')
    expect(builder.nameCount).toBe(3)
  })

  test('has room again for what was forgotten', () => {
    const builder = new ZoneBuilder(ORIGIN, 1000)
    const mark = builder.mark()
    for (let i = 0; i < 5; i++) {
      builder.addRdata(new Uint8Array(900), 900)
      builder.rewind(mark)
    }
    expect(builder.dataBytes).toBe(ORIGIN.length)
  })
})
