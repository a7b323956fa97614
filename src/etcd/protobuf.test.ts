import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KEY_VALUE, OPERATION, RANGE_ANSWER } from './messages.ts'
import { choice, decode, encode, inner, innerList, list, message, one } from './protobuf.ts'

const INNER = message({ number: one(1, 'int64') })
const ALL = message({
  bytes: one(1, 'bytes'),
  text: one(2, 'string'),
  flag: one(3, 'bool'),
  signed: one(4, 'int64'),
  unsigned: one(5, 'uint64'),
  small: one(6, 'int32'),
  inner: inner(7, INNER),
  choice: choice(8, INNER),
  texts: list(9, 'string'),
  inners: innerList(200, INNER),
})

describe('messages', () => {
  test('are the same after encoding and decoding', () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    const innerValue = fc.record({ number: int64 })
    const value = fc.record({
      bytes: fc.uint8Array(),
      text: fc.string({ unit: 'grapheme' }),
      flag: fc.boolean(),
      signed: int64,
      unsigned: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      small: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      inner: innerValue,
      choice: fc.option(innerValue, { nil: undefined }),
      texts: fc.array(fc.string()),
      inners: fc.array(innerValue),
    })
    fc.assert(
      fc.property(value, (given) => {
        const read = decode(ALL, encode(ALL, given))
        expect({ ...read, bytes: new Uint8Array(read.bytes) }).toEqual(given)
      }),
    )
  })

  test('read as all absent when there is nothing', () => {
    expect(decode(ALL, new Uint8Array(0))).toEqual({
      bytes: new Uint8Array(0),
      text: '',
      flag: false,
      signed: 0n,
      unsigned: 0n,
      small: 0,
      inner: { number: 0n },
      choice: undefined,
      texts: [],
      inners: [],
    })
  })

  test('may have fields that are not in the table', () => {
    const wide = message({ a: one(1, 'int64'), b: one(2, 'bytes'), c: one(3, 'int64') })
    const bytes = encode(wide, { a: 1n, b: Buffer.from('skipped'), c: 3n })
    const fixed = Buffer.of(0x21, 1, 2, 3, 4, 5, 6, 7, 8, 0x2d, 1, 2, 3, 4)
    expect(decode(message({ c: one(3, 'int64') }), Buffer.concat([fixed, bytes]))).toEqual({ c: 3n })
  })

  test('of random bytes are read or refused, and nothing else happens', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          expect(decode(RANGE_ANSWER, bytes)).toHaveProperty('kvs')
        } catch (error) {
          expect(String(error)).toContain('malformed')
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('that end too early are refused', () => {
    const bytes = encode(KEY_VALUE, { key: Buffer.from('key'), modRevision: 300n, value: Buffer.from('value') })
    const cuts = Array.from({ length: bytes.length }, (_, end) => bytes.subarray(0, end))
    const read = cuts.filter((cut) => {
      try {
        return decode(KEY_VALUE, cut) !== undefined
      } catch {
        return false
      }
    })
    // Between two fields a message may end: nothing, the key, key and revision.
    expect(read.map((cut) => cut.length)).toEqual([0, 5, 8])
  })
})

test('bytes are views of the message, not copies', () => {
  const bytes = encode(KEY_VALUE, { key: Buffer.from('key'), value: Buffer.from('value') })
  expect(decode(KEY_VALUE, bytes).value.buffer).toBe(bytes.buffer)
})

test('what was chosen is told by its presence', () => {
  const read = decode(OPERATION, encode(OPERATION, { delete: { key: Buffer.from('k') } }))
  expect([read.range, read.put, read.delete?.key.length]).toEqual([undefined, undefined, 1])
})
