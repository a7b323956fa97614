import { expect, test } from 'vitest'
import { canonicalAddress, contains, formatSubnet, isInRange, isReserved, isSameAddress } from './subnet.ts'

test.each([
  ['192.168.121.1', 24, '192.168.121.254', true],
  ['192.168.121.1', 24, '192.168.122.4', false],
  ['10.0.0.1', 8, '10.255.1.2', true],
  ['0.0.0.0', 0, '203.0.113.7', true],
  ['192.168.121.1', 24, 'fd00::1', false],
  ['fd00:1::1', 64, 'fd00:1::ffff:1', true],
  ['fd00:1::1', 64, 'fd00:1:0:1::1', false],
  ['::ffff:10.0.0.1', 120, '::ffff:10.0.0.9', true],
])('%s/%d and %s: %s', (address, prefixLength, other, expected) => {
  expect(contains({ address, prefixLength }, other)).toBe(expected)
})

test.each([
  ['192.168.121.0', 24, true],
  ['192.168.121.255', 24, true],
  ['192.168.121.4', 24, false],
  ['192.168.121.0', 31, false],
  ['192.168.121.0', 32, false],
  ['fd00::', 64, true],
  ['fd00::ffff:ffff:ffff:ffff', 64, false],
])('whether %s/%d stands for the whole network: %s', (address, prefixLength, expected) => {
  expect(isReserved({ address, prefixLength })).toBe(expected)
})

test('networks are written by their first address', () => {
  expect(formatSubnet({ address: '192.168.121.77', prefixLength: 26 })).toBe('192.168.121.64/26')
  expect(formatSubnet({ address: 'fd00:0:0:1::abcd', prefixLength: 64 })).toBe('fd00:0:0:1::/64')
})

test('a range has its ends', () => {
  expect(isInRange('10.0.0.100', '10.0.0.100', '10.0.0.200')).toBe(true)
  expect(isInRange('10.0.0.200', '10.0.0.100', '10.0.0.200')).toBe(true)
  expect(isInRange('10.0.0.99', '10.0.0.100', '10.0.0.200')).toBe(false)
  expect(isInRange('fd00::1', '10.0.0.100', '10.0.0.200')).toBe(false)
})

test('one address in two spellings is one', () => {
  expect(isSameAddress('fd00::0:1', 'FD00:0::1')).toBe(true)
  expect(canonicalAddress('FD00:0::1')).toBe('fd00::1')
  expect(canonicalAddress('10.0.0.1')).toBe('10.0.0.1')
})
