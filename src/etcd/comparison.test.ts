import { expect, test } from 'vitest'
import { Comparison } from './comparison.ts'
import type { KeyValue } from './kv.ts'

const KNOWN = new Map([
  ['/same', 5n],
  ['/changed', 6n],
  ['/gone', 7n],
])

test('a listing is reported as what is different: new, changed and missing keys', () => {
  const comparison = new Comparison(KNOWN, true)
  comparison.take([kv('/same', 5n), kv('/changed', 9n)])
  comparison.take([kv('/new', 8n)])
  expect(told(comparison)).toEqual(['/changed at 9', '/new at 8', '/gone deleted at 10'])
  expect([...comparison.now]).toEqual([
    ['/same', 5n],
    ['/changed', 9n],
    ['/new', 8n],
  ])
})

test('in another history every key is reported, and missing ones as deleted', () => {
  const comparison = new Comparison(KNOWN, false)
  comparison.take([kv('/same', 5n)])
  expect(told(comparison)).toEqual(['/same at 5', '/changed deleted at 10', '/gone deleted at 10'])
})

test('keys that are no text stay what they are', () => {
  const key = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const before = new Comparison(new Map(), true)
  before.take([{ ...kv('', 1n), key }])
  const after = new Comparison(before.now, true)
  expect(after.finish(2n).map((change) => new Uint8Array(change.key))).toEqual([key])
})

function told(comparison: Comparison): string[] {
  return comparison.finish(10n).map(({ key, value, revision }) => {
    return `${Buffer.from(key).toString()}${value === undefined ? ' deleted' : ''} at ${revision}`
  })
}

function kv(key: string, modRevision: bigint): KeyValue {
  return { key: Buffer.from(key), value: new Uint8Array(0), createRevision: 1n, modRevision, version: 1n, lease: 0n }
}
