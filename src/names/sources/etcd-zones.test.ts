import { describe, expect, test } from 'vitest'
import { LocalCatalog } from '../../../test/support/local-catalog.ts'
import { TYPE } from '../../dns/types.ts'
import { EtcdZones } from './etcd-zones.ts'

function zone(...records: readonly string[]): string {
  return [
    '$TTL 300',
    '@ SOA ns.elsewhere. hostmaster.elsewhere. 1 3600 600 86400 60',
    '@ NS ns.elsewhere.',
    ...records,
    '',
  ].join('\n')
}

describe('keys that spell the same zone', () => {
  test('are told in one line; the first in byte order counts, and the next one when it goes', () => {
    const local = new LocalCatalog()
    const texts = local.texts(0)
    expect(texts.put('example.test', zone('www A 192.0.2.1'))).toBe(true)
    expect(texts.put('example.test.', zone('www A 192.0.2.2'))).toBe(true)
    expect(local.ask('www.example.test.')).toBe('192.0.2.1')
    expect(local.problems).toEqual([
      'Cannot use key "/zones/example.test.": "/zones/example.test" is the same zone example.test.; remove one of them',
    ])
    texts.put('example.test.', zone('www A 192.0.2.3'))
    expect(local.problems).toHaveLength(1)
    texts.delete('example.test')
    expect(local.ask('www.example.test.')).toBe('192.0.2.3')
    texts.delete('example.test.')
    expect(local.ask('www.example.test.')).toBe('REFUSED')
    expect(local.problems).toHaveLength(1)
  })

  test('may come in any order, and in any letter case', () => {
    const local = new LocalCatalog()
    const texts = local.texts(0)
    texts.put('example.test', zone('www A 192.0.2.1'))
    texts.put('Example.TEST', zone('www A 192.0.2.2'))
    expect(local.ask('www.example.test.')).toBe('192.0.2.2')
    expect(local.problems).toEqual([
      'Cannot use key "/zones/example.test": "/zones/Example.TEST" is the same zone example.test.; remove one of them',
    ])
    texts.put('example.test', zone('www A 192.0.2.3'))
    expect(local.ask('www.example.test.')).toBe('192.0.2.2')
    texts.delete('example.test')
    expect(local.ask('www.example.test.')).toBe('192.0.2.2')
  })

  test('are remembered as deleted also when the text that takes over is refused', () => {
    const local = new LocalCatalog()
    const texts = local.texts(0)
    texts.put('example.test', zone('www A 192.0.2.1'))
    texts.put('example.test.', 'nonsense')
    expect(texts.delete('example.test')).toBe(true)
    expect(local.ask('www.example.test.')).toBe('192.0.2.1')
    expect(local.reports.at(-1)).toMatchObject({ kind: 'refused', file: '/zones/example.test.' })
  })
})

describe('keys that are no domain names', () => {
  test.each([
    ['', ''],
    ['exa mple.test', 'exa mple.test'],
    ['a..test', 'a..test'],
    ['@', '@'],
    [`${'x'.repeat(64)}.test`, `${'x'.repeat(64)}.test`],
    ['two\nlines', 'two\\nlines'],
  ])('%j harm nobody else, and are told once', (name, shown) => {
    const local = new LocalCatalog()
    const texts = local.texts(0)
    expect(texts.put(name, zone())).toBe(false)
    expect(texts.put(name, zone('www A 192.0.2.1'))).toBe(false)
    expect(texts.put('example.test', zone('www A 192.0.2.1'))).toBe(true)
    expect(texts.delete(name)).toBe(true)
    expect(local.problems).toEqual([
      `Cannot use key "/zones/${shown}": "${shown}" is not a domain name; expected one such as /zones/example.org`,
    ])
    expect(local.ask('www.example.test.')).toBe('192.0.2.1')
    expect(local.ask('.', TYPE.SOA)).toBe('REFUSED')
  })

  test('stand among the problems as long as they are there', () => {
    const zones = new EtcdZones({
      prefix: '/',
      maxRecords: 1000,
      onZone: () => true,
      onGone: () => undefined,
      onProblem: () => undefined,
    })
    const change = (key: Uint8Array, text: string | undefined): unknown => {
      const value = text === undefined ? undefined : Buffer.from(text)
      return zones.apply({ key, value, modRevision: 1n, lease: 0n })
    }
    const notText = Uint8Array.of(0x2f, 0xff, 0xfe)
    expect(change(notText, zone())).toBe(false)
    change(Buffer.from('/a.test'), zone())
    change(Buffer.from('/A.test'), zone())
    expect(zones.problems()).toHaveLength(2)
    change(notText, undefined)
    change(Buffer.from('/A.test'), undefined)
    expect(zones.problems()).toEqual([])
  })
})

test('the root, names with escapes and names of single letters are zones', () => {
  const local = new LocalCatalog()
  const texts = local.texts(0)
  texts.put('.', zone('www.test A 192.0.2.1'))
  texts.put('a\\.b.test', zone('www A 192.0.2.2'))
  texts.put('0/25.2.0.192.in-addr.arpa', zone('1 PTR www.test.'))
  expect(local.ask('www.test.')).toBe('192.0.2.1')
  expect(local.ask('www.a\\.b.test.')).toBe('192.0.2.2')
  expect(local.ask('1.0/25.2.0.192.in-addr.arpa.', TYPE.PTR)).toBe('www.test.')
  expect(local.problems).toEqual([])
})
