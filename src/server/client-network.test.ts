import { expect, test } from 'vitest'
import { clientNetwork, hashClient } from './client-network.ts'
import { addressBytes } from './udp/sockaddr.ts'

test('a client is an IPv4 address or a /64 of IPv6', () => {
  expect(clientNetwork('192.0.2.1')).not.toBe(clientNetwork('192.0.2.2'))
  expect(clientNetwork('2001:db8:0:1::1')).toBe(clientNetwork('2001:db8:0:1:ffff::2'))
  expect(clientNetwork('2001:db8:0:1::1')).not.toBe(clientNetwork('2001:db8:0:2::1'))
  expect(clientNetwork('::ffff:192.0.2.1')).toBe(clientNetwork('192.0.2.1'))
})

test('the hash of a client is that of its network, and depends on the seed', () => {
  const hash = (address: string, seed = 7) => hashClient(addressBytes(address), addressBytes(address).length, seed)
  expect(hash('2001:db8:0:1::1')).toBe(hash('2001:db8:0:1:ffff::2'))
  expect(hash('2001:db8:0:1::1')).not.toBe(hash('2001:db8:0:2::1'))
  expect(hash('192.0.2.1')).not.toBe(hash('192.0.2.1', 8))
  const buckets = new Set(Array.from({ length: 256 }, (_, i) => hash(`192.0.2.${i}`) & 4095))
  expect(buckets.size).toBeGreaterThan(230)
})
