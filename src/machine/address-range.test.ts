import { expect, test } from 'vitest'
import { addressesIn, isInRange, parseAddressRange } from './address-range.ts'

test('a range is its first and its last address', () => {
  const range = parseAddressRange('192.168.255.254-192.169.0.1')
  expect(range && [...addressesIn(range)]).toEqual(['192.168.255.254', '192.168.255.255', '192.169.0.0', '192.169.0.1'])
  expect(range && isInRange('192.169.0.0', range)).toBe(true)
  expect(range && isInRange('192.169.0.2', range)).toBe(false)
  expect(parseAddressRange('255.255.255.255 - 255.255.255.255')).toEqual({
    first: '255.255.255.255',
    last: '255.255.255.255',
  })
})

test.each(['10.0.0.1', '10.0.0.2-10.0.0.1', '10.0.0.1-2', '10.0.0.1-10.0.0.2-10.0.0.3', 'fd00::1-fd00::2', '-', ''])(
  '%j is none',
  (text) => {
    expect(parseAddressRange(text)).toBeUndefined()
  },
)
