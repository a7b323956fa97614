import { describe, expect, test } from 'vitest'
import { parseDomain, parseHttpAddress, parseUpstream, parseZones } from './notation.ts'

describe('names', () => {
  test('become absolute and lower case', () => {
    expect([parseDomain('Example.ORG'), parseDomain('a.'), parseDomain('.'), parseDomain('a..b')]).toEqual([
      'example.org.',
      'a.',
      '.',
      undefined,
    ])
  })

  test('of networks are their reverse zones', () => {
    expect(parseZones('10.0.0.0/8')).toEqual(['10.in-addr.arpa.'])
    expect(parseZones('10.0.0.0/23')).toEqual(['0.0.10.in-addr.arpa.', '1.0.10.in-addr.arpa.'])
    expect([parseZones('10.0.0.0/33'), parseZones('::1')]).toEqual([undefined, undefined])
    expect(parseZones('0/25.2.0.192.in-addr.arpa')).toEqual(['0/25.2.0.192.in-addr.arpa.'])
  })
})

test('addresses of HTTP servers have a port and perhaps a host', () => {
  expect([parseHttpAddress(':8080'), parseHttpAddress('[::1]:1'), parseHttpAddress('8080')]).toEqual([
    { host: '', port: 8080 },
    { host: '::1', port: 1 },
    undefined,
  ])
})

test('addresses of servers to ask are IP addresses', () => {
  expect([parseUpstream('192.0.2.1'), parseUpstream('[::1]:54'), parseUpstream('ns1.example')]).toEqual([
    { host: '192.0.2.1', port: 53 },
    { host: '::1', port: 54 },
    undefined,
  ])
})
