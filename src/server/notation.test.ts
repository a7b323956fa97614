import { describe, expect, test } from 'vitest'
import { parseDomain, parseDuration, parseEndpoint, parseHttpAddress, parseUpstream, parseZones } from './notation.ts'

test.each([
  ['0', 0],
  ['1.5s', 1500],
  ['1h30m', 5_400_000],
  ['500ms', 500],
  ['250us', 0.25],
  ['.5s', 500],
  ['', undefined],
  ['30', undefined],
  ['-1s', undefined],
  ['1d', undefined],
  ['1s ', undefined],
])('the duration %j is %s ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test.each([
  ['http://localhost:2379', 'http://localhost:2379'],
  ['HTTPS://Etcd-1.Example:2379/', 'https://etcd-1.example:2379'],
  ['10.0.0.1:2379', '10.0.0.1:2379'],
  ['[2001:db8::1]:2379', '[2001:db8::1]:2379'],
  ['localhost', undefined],
  ['http://localhost:0', undefined],
  ['http://localhost:65536', undefined],
  ['http://localhost:2379/v3', undefined],
  ['http://user:word@localhost:2379', undefined],
  ['ftp://localhost:2379', undefined],
  ['[10.0.0.1]:2379', undefined],
  ['2001:db8::1:2379', undefined],
  ['unix:/run/etcd', undefined],
])('the endpoint %s is %s', (text, endpoint) => {
  expect(parseEndpoint(text)).toBe(endpoint)
})

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
    expect([parseZones('10.0.0.0/33'), parseZones('a/b'), parseZones('::1')]).toEqual([undefined, undefined, undefined])
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
