import { expect, test } from 'vitest'
import { parseEndpoints } from './endpoint.ts'

test('endpoints may be written with and without scheme and port', () => {
  const urls = (endpoints: string[], tls?: object) =>
    parseEndpoints({ endpoints, ...(tls && { tls }) }).map(({ url }) => url)
  expect(urls(['http://a:1', 'https://b:2/', 'c:3', 'd', '10.0.0.1:4'])).toEqual([
    'http://a:1',
    'https://b:2',
    'http://c:3',
    'http://d:2379',
    'http://10.0.0.1:4',
  ])
  expect(urls(['c:3', 'http://plain:1', 'https://e:443'], {})).toEqual([
    'https://c:3',
    'http://plain:1',
    'https://e:443',
  ])
})

test('an IPv6 address is connected to without its brackets', () => {
  expect(parseEndpoints({ endpoints: ['https://[2001:db8::1]:2379'] })[0]).toEqual({
    url: 'https://[2001:db8::1]:2379',
    host: '2001:db8::1',
    port: 2379,
    secure: true,
  })
})

test.each(['', 'ftp://a:1', 'http://', 'http://a:b', 'http://a:1/path', 'a:70000', 'http://a b'])(
  'the endpoint "%s" is refused',
  (endpoint) => {
    expect(() => parseEndpoints({ endpoints: [endpoint] })).toThrow(`Cannot use etcd endpoint "${endpoint}"`)
  },
)

test('a password that was written into an endpoint is not shown', () => {
  expect(() => parseEndpoints({ endpoints: ['http://root:secret@a:1'] })).toThrow('"http://***@a:1"')
  expect(() => parseEndpoints({ endpoints: ['http://root:se/c@ret@a:1'] })).toThrow('"http://***@a:1"')
})

test('at least one endpoint is wanted', () => {
  expect(() => parseEndpoints({ endpoints: [] })).toThrow('no endpoint is given')
})
