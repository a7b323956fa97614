import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { SkydnsConfig } from '../../config.ts'
import { block, load, refusal } from '../testing.ts'

function etcd(options: string, args = ''): SkydnsConfig {
  return block(`etcd ${args} {\n${options}\n}`).skydns[0]
}

const notices = (options: string) => load(`. {\netcd {\n${options}\n}\n}`).notices.map(({ message }) => message)
const refused = (options: string) => refusal(`. {\netcd {\n${options}\n}\n}`)

test('without options it is what CoreDNS has: /skydns of the local etcd, for the zones of the block', () => {
  expect(load('skydns.local 10.0.0.0/24 {\n etcd\n}').config.blocks[0].skydns).toEqual([
    {
      zones: ['skydns.local.', '0.0.10.in-addr.arpa.'],
      path: '/skydns',
      etcd: { endpoints: ['http://localhost:2379'] },
      mode: 'compatible',
      fallthrough: [],
      minLeaseTtlSeconds: 30,
      maxLeaseTtlSeconds: 86_400,
    },
  ])
})

test('zones, path, endpoints, fallthrough and mode are taken', () => {
  const config = etcd(
    'path /other\nendpoint http://localhost:2379 HTTPS://Etcd.example:3379/ [::1]:4379\nfallthrough in-addr.arpa\nmode exact',
    'Cluster.local 10.0.0.0/8',
  )
  expect(config).toMatchObject({
    zones: ['cluster.local.', '10.in-addr.arpa.'],
    path: '/other',
    etcd: { endpoints: ['http://localhost:2379', 'https://etcd.example:3379', '[::1]:4379'] },
    fallthrough: ['in-addr.arpa.'],
    mode: 'exact',
  })
  expect(etcd('fallthrough').fallthrough).toEqual(['.'])
})

test.each([
  ['skydns', '/skydns'],
  ['/skydns', '/skydns'],
  ['/skydns/', '/skydns'],
  ['a//b', '/a/b'],
  ['/', ''],
])('the path %s is %j', (text, path) => {
  expect(etcd(`path ${text}`).path).toBe(path)
})

describe('tls', () => {
  test.each([
    ['tls', {}],
    ['tls ca.pem', { caFile: 'ca.pem' }],
    ['tls cert.pem key.pem', { certFile: 'cert.pem', keyFile: 'key.pem' }],
    ['tls cert.pem /key.pem ca.pem', { certFile: 'cert.pem', keyFile: '/key.pem', caFile: 'ca.pem' }],
  ])('%s', (line, tls) => {
    expect(etcd(line).etcd.tls).toEqual(tls)
  })

  test('has its files below root', () => {
    const { skydns } = block('root /etc\netcd {\n tls cert.pem /key.pem ca.pem\n}')
    expect(skydns[0].etcd.tls).toEqual({ certFile: '/etc/cert.pem', keyFile: '/key.pem', caFile: '/etc/ca.pem' })
  })

  test('takes at most three files', () => {
    expect(refused('tls a b c d')).toBe(
      'Cannot load Corefile:3:11: "tls" has 4 arguments; expected tls [CERT KEY] [CACERT]',
    )
  })
})

describe('credentials', () => {
  test('are kept from printing', () => {
    const { skydns } = block('etcd {\n credentials dns hunter2\n}')
    const { username, password } = skydns[0].etcd
    expect([username, password?.reveal()]).toEqual(['dns', 'hunter2'])
    expect(inspect(skydns, { depth: 9 }) + JSON.stringify(skydns)).not.toContain('hunter2')
  })

  test('with an unset variable are none, as in CoreDNS', () => {
    const line = 'credentials {$ETCD_USER} {$ETCD_PASSWORD}'
    expect(etcd(line).etcd).toEqual({ endpoints: ['http://localhost:2379'] })
    expect(notices(line)).toEqual(['"credentials" of etcd is half empty and has no effect, as in CoreDNS'])
  })

  test.each(['credentials', 'credentials dns', 'credentials dns a b'])('"%s" is refused', (line) => {
    expect(refused(line)).toMatch(/"credentials" has \d arguments?; expected credentials USERNAME PASSWORD$/u)
  })

  test('in an endpoint are refused without being repeated', () => {
    const message = refused('endpoint https://dns:hunter2@10.0.0.1:2379')
    expect(message).toBe(
      'Cannot load Corefile:3:10: the endpoint has a user in it; expected a line "credentials USERNAME PASSWORD"',
    )
  })
})

describe('lease TTLs', () => {
  test.each([
    ['30', 30],
    ['30s', 30],
    ['5m', 300],
    ['90s', 90],
    ['1h', 3600],
    ['2h', 7200],
    ['2h30m', 9000],
    ['1h30m45s', 5445],
    ['0', 0],
    ['0s', 0],
    ['""', 0],
    ['1500ms', 1],
    ['4294967295', 4_294_967_295],
  ])('%s is %d seconds', (text, seconds) => {
    expect(etcd(`min-lease-ttl ${text}`).minLeaseTtlSeconds).toBe(seconds)
    expect(etcd(`max-lease-ttl ${text}`).maxLeaseTtlSeconds).toBe(seconds)
  })

  test.each(['-30s', 'invalid', '1y', '4294967296', '30 s'])('%s is refused', (text) => {
    expect(() => etcd(`min-lease-ttl "${text}"`)).toThrow('Cannot load Corefile:3:15:')
  })
})

test('what CoreDNS accepts without effect is accepted with a notice', () => {
  expect(notices('stubzones\nupstream 192.0.2.1\ndebug')).toEqual([
    '"stubzones" of etcd has no effect, as in CoreDNS',
    '"upstream" has no effect, as in CoreDNS',
    '"debug" of etcd has no effect, as in CoreDNS',
  ])
})

test('it may stand several times', () => {
  const { skydns } = block('etcd a.test {\n endpoint a:1\n}\netcd b.test {\n endpoint b:1\n}')
  expect(skydns.map(({ zones, etcd: { endpoints } }) => [...zones, ...endpoints])).toEqual([
    ['a.test.', 'a:1'],
    ['b.test.', 'b:1'],
  ])
})

test.each([
  ['endpoints localhost:300', '3:1: unknown option "endpoints" of etcd; did you mean "endpoint"?'],
  ['endpoint', '3:1: "endpoint" has 0 arguments; expected endpoint ENDPOINT...'],
  [
    'endpoint ftp://localhost:2379',
    '3:10: "ftp://localhost:2379" is not an endpoint; expected one such as http://10.0.0.1:2379',
  ],
  ['endpoint localhost', '3:10: "localhost" is not an endpoint'],
  ['endpoint localhost:99999', '3:10: "localhost:99999" is not an endpoint'],
  ['path', '3:1: "path" has 0 arguments; expected path PATH'],
  ['mode strict', '3:6: unknown mode "strict"; expected compatible or exact'],
  ['stubzones a', '3:11: "stubzones" has 1 argument; expected stubzones'],
])('"%s" is refused with its place', (line, message) => {
  expect(refused(line)).toContain(`Cannot load Corefile:${message}`)
})
