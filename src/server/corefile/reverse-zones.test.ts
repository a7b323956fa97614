import { expect, test } from 'vitest'
import { reverseZones } from './reverse-zones.ts'

test.each([
  ['10.0.0.0/8', ['10.in-addr.arpa.']],
  ['10.9.8.7/24', ['8.9.10.in-addr.arpa.']],
  ['192.0.2.1/32', ['1.2.0.192.in-addr.arpa.']],
  ['0.0.0.0/0', ['in-addr.arpa.']],
  ['10.0.0.0/7', ['10.in-addr.arpa.', '11.in-addr.arpa.']],
  ['192.0.2.6/31', ['6.2.0.192.in-addr.arpa.', '7.2.0.192.in-addr.arpa.']],
  ['2001:db8::/32', ['8.b.d.0.1.0.0.2.ip6.arpa.']],
  ['2001:db8::/31', ['8.b.d.0.1.0.0.2.ip6.arpa.', '9.b.d.0.1.0.0.2.ip6.arpa.']],
  ['fd00::/8', ['d.f.ip6.arpa.']],
  ['::1:0:0/96', [`1.${'0.'.repeat(23)}ip6.arpa.`]],
  ['::ffff:1.2.3.4/108', ['0.1.0.f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa.']],
])('%s', (network, zones) => {
  expect(reverseZones(network)).toEqual(zones)
})

test('a prefix between labels gives every zone of the next boundary', () => {
  const zones = reverseZones('10.0.0.128/25')
  expect(zones).toHaveLength(128)
  expect([zones?.[0], zones?.at(-1)]).toEqual(['128.0.0.10.in-addr.arpa.', '255.0.0.10.in-addr.arpa.'])
})

test.each(['10.0.0.0', '10.0.0.0/33', '10.0.0/24', '010.0.0.0/8', '2001:db8::/129', '::g/4', 'example.org/24', '/24'])(
  '%s is no network',
  (text) => {
    expect(reverseZones(text)).toBeUndefined()
  },
)
