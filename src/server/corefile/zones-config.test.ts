import { expect, test } from 'vitest'
import { HoldfastError } from '../../lib/errors.ts'
import { originReader } from '../../names/sources/zone-directory-origin.ts'
import { zonesConfig } from './zones-config.ts'

test('every directory is served on every address, one block per port', () => {
  const listen = ['127.0.0.1:5300', '[::1]:5300', '192.0.2.1', ':5301']
  const { blocks } = zonesConfig({ directories: ['/a', 'b'], listen, nsid: 'ns1' })
  expect(blocks.map(({ zones, port, bind }) => ({ zones, port, bind }))).toEqual([
    { zones: ['.'], port: 5300, bind: ['127.0.0.1', '::1'] },
    { zones: ['.'], port: 53, bind: ['192.0.2.1'] },
    { zones: ['.'], port: 5301, bind: [] },
  ])
  expect(blocks[0].autos.map(({ directory }) => directory)).toEqual(['/a', 'b'])
  expect(blocks[0]).toMatchObject({ nsid: 'ns1', loadbalance: true, errors: true, log: [], reloadMs: 0 })
  expect([blocks[0].health, blocks[0].ready, blocks[0].prometheus]).toEqual([undefined, undefined, undefined])
})

test('without an address it is port 53 of all', () => {
  expect(zonesConfig({ directories: ['/a'], listen: [] }).blocks).toMatchObject([{ port: 53, bind: [] }])
  expect(zonesConfig({ directories: ['/a'], listen: [':53', '192.0.2.1:53'] }).blocks).toMatchObject([
    { port: 53, bind: [] },
  ])
})

test.each(['', 'localhost:53', '127.0.0.1:99999', '[127.0.0.1]:53', '::1:x', '[::1'])('%j is no address', (text) => {
  expect(() => zonesConfig({ directories: [], listen: [text] })).toThrow(HoldfastError)
})

const originOf = originReader(zonesConfig({ directories: ['.'], listen: [] }).blocks[0].autos[0])

test.each([
  ['db.example.org', 'example.org'],
  ['example.org.zone', 'example.org'],
  ['example.org', 'example.org'],
  ['db.example.zone', 'example.zone'],
  ['2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa'],
])('the file %s is the zone %s', (file, origin) => {
  expect(originOf(file)).toEqual({ origin: `${origin}.` })
})

test.each([
  '.example.org',
  '.db.example.org.swp',
  'db.example.org~',
  'a.bak',
  'a.zone.jnl',
  'a.swp',
  'a.tmp',
  '#a#',
  '..data',
])('the file %s is no zone', (file) => {
  expect(originOf(file)).toBeUndefined()
})
