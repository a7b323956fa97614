import { expect, test } from 'vitest'
import { prefixEnd, prefixRange, showKey } from './keys.ts'

test('the end of a prefix is the first key behind all that have it', () => {
  expect(Buffer.from(prefixEnd(Buffer.from('/a/'))).toString()).toBe('/a0')
  expect([...prefixEnd(Uint8Array.of(1, 0xff, 0xff))]).toEqual([2])
})

test('a prefix that has no end is followed by the end of all keys', () => {
  expect([...prefixEnd(new Uint8Array(0))]).toEqual([0])
  expect([...prefixEnd(Uint8Array.of(0xff))]).toEqual([0])
  expect(prefixRange(new Uint8Array(0))).toEqual({ key: Uint8Array.of(0), rangeEnd: Uint8Array.of(0) })
})

test('the prefix itself stays as it is', () => {
  const prefix = Buffer.from('/a/')
  prefixEnd(prefix)
  expect(prefix.toString()).toBe('/a/')
})

test('keys are shown as text on one line', () => {
  expect(showKey(Buffer.from('/zones/exämple.org'))).toBe('"/zones/exämple.org"')
  expect(showKey(Buffer.from('a"\n\0'))).toBe('"a\\u0022\\u000a\\u0000"')
  expect(showKey(Buffer.alloc(500, 'x'))).toHaveLength(83)
})
