import { expect, test } from 'vitest'
import { formatRecord } from '../../dns/zonefile/format.ts'
import { APEX_DEFAULTS, apexRecords, apexText, kubevirtZone, parseNameServerAddresses } from './zone-apex.ts'

test('the zone is vm, or below the domain', () => {
  expect(['', 'example.com', 'Example.com.'].map(kubevirtZone)).toEqual(['vm', 'vm.example.com', 'vm.Example.com'])
})

test.each(['.', 'a..b', 'a b', 'x'.repeat(64), Array.from({ length: 126 }, () => 'a').join('.')])(
  'a domain cannot be %j',
  (domain) => {
    expect(() => kubevirtZone(domain)).toThrow(`Cannot publish names below "${domain}": DOMAIN is no domain name`)
  },
)

test('name servers are addresses with commas between', () => {
  expect(parseNameServerAddresses('')).toEqual([])
  expect(parseNameServerAddresses('192.0.2.53, 2001:DB8::53')).toEqual(['192.0.2.53', '2001:db8::53'])
  for (const text of ['ns.example.', '192.0.2.53,', '192.0.2'])
    expect(() => parseNameServerAddresses(text)).toThrow('NAME_SERVER_IP is no address')
})

const APEX = {
  ...{ zone: 'vm.example', nameServerAddresses: ['192.0.2.53', '192.0.2.54', '2001:db8::53'] },
  ...{ ttlSeconds: 60, refreshSeconds: 1, retrySeconds: 2, expireSeconds: 3, minimumSeconds: 4 },
}

test('text and records say the same', () => {
  expect(apexText(APEX, 7).split('\n')).toEqual([
    '$ORIGIN vm.example. ',
    '$TTL 60 ',
    '@ IN SOA ns.vm.example. email.vm.example. (7 1 2 3 4)',
    '@ IN NS ns.vm.example.',
    'ns IN A 192.0.2.53',
    'ns IN A 192.0.2.54',
    'ns IN AAAA 2001:db8::53',
    '',
  ])
  const records = apexRecords(APEX, 7).map(({ owner, records: own }) =>
    own.map(({ ttl, type, rdata }) => formatRecord(owner, ttl, type, rdata)),
  )
  expect(records).toEqual([
    ['vm.example. 60 IN SOA ns.vm.example. email.vm.example. 7 1 2 3 4', 'vm.example. 60 IN NS ns.vm.example.'],
    [
      'ns.vm.example. 60 IN A 192.0.2.53',
      'ns.vm.example. 60 IN A 192.0.2.54',
      'ns.vm.example. 60 IN AAAA 2001:db8::53',
    ],
  ])
})

test('without addresses there is no name server', () => {
  expect(apexRecords({ ...APEX_DEFAULTS, zone: 'vm' }, 1).map(({ records }) => records.length)).toEqual([1])
})
