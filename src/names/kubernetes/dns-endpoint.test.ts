import { expect, test } from 'vitest'
import { dnsEndpointSource } from './dns-endpoint.ts'
import { DEFAULT_SETTINGS, type SourceSettings } from './source-settings.ts'
import { apply, endpointText } from './testing.ts'

const make = (settings: Partial<SourceSettings> = {}) => dnsEndpointSource({ ...DEFAULT_SETTINGS, ...settings })

function read(endpoints: readonly unknown[], metadata = {}, source = make()) {
  apply(source, 'DNSEndpoint', 'default/x', {
    ...{ metadata: { name: 'x', namespace: 'default', ...metadata }, spec: { endpoints } },
  })
  const { endpoints: found, problems } = source.endpoints('crd/default/x')
  return { found, texts: found.map(endpointText), problems }
}

test('endpoints are as they are written, with the object they come from', () => {
  const { found, problems } = read([
    {
      ...{ dnsName: 'Web.example.org.', recordType: 'A', targets: ['2.3.4.5', '1.2.3.4', '1.2.3.4'], recordTTL: 180 },
      ...{ setIdentifier: 'blue', labels: { team: 'x' }, providerSpecific: [{ name: 'coredns/group', value: 'g' }] },
    },
    { dnsName: 'plain.example.org', recordType: 'AAAA' },
  ])
  expect(problems).toEqual([])
  expect(found).toEqual([
    {
      ...{ dnsName: 'Web.example.org', recordType: 'A', targets: ['1.2.3.4', '2.3.4.5'], recordTTL: 180 },
      ...{ setIdentifier: 'blue', labels: { team: 'x', resource: 'crd/default/x' } },
      providerSpecific: [{ name: 'coredns/group', value: 'g' }],
    },
    {
      ...{ dnsName: 'plain.example.org', recordType: 'AAAA', targets: [], providerSpecific: [] },
      labels: { resource: 'crd/default/x' },
    },
  ])
})

test.each([
  ['A', '1.2.3.4'],
  ['AAAA', '2001:db8::1'],
  ['CNAME', 'a.example.org.'],
  ['CNAME', 'a.example.org'],
  ['CNAME', '1.0/25.2.0.192.in-addr.arpa'],
  ['DNAME', 'a.example.org.'],
  ['TXT', 'any text. Even this.'],
  ['MX', '10 mail.example.org.'],
  ['MX', '10 mail.example.org'],
  ['SRV', '0 0 443 svc.example.org.'],
  ['NS', 'ns.example.org'],
  ['NAPTR', '100 10 "U" "E2U+sip" "!^.*$!sip:a@example.org!" .'],
])('%s may have the target %s', (recordType, target) => {
  const { texts, problems } = read([{ dnsName: 'w.org', recordType, targets: [target] }])
  expect(texts).toEqual([`w.org ${recordType} ${target}`])
  expect(problems).toEqual([])
})

test.each([
  ['A', '1.2.3.4.', 'A wants an IPv4 address'],
  ['A', '2001:db8::1', 'A wants an IPv4 address'],
  ['AAAA', '1.2.3.4', 'AAAA wants an IPv6 address'],
  ['MX', 'mail.example.org', 'MX wants a preference and a name such as 10 mail.example.org'],
  ['MX', '70000 mail.example.org', 'MX wants'],
  ['SRV', '0 0 443 svc.example.org', 'SRV wants priority, weight, port and a name with a final dot'],
  ['SRV', 'svc.example.org.', 'SRV wants'],
  ['NS', 'ns.example.org.', 'NS wants no final dot'],
  ['CNAME', '', 'expected a name without spaces'],
  ['CNAME', 'a.org\nb.org. A 1.2.3.4', 'expected a name without spaces'],
  ['CNAME', 'x'.repeat(64), 'expected labels of at most 63 bytes'],
  ['TXT', 'heritage=external-dns,external-dns/owner=me', 'it would be taken for a mark of ownership'],
  ['NAPTR', '100 10 "U" "E2U+sip" x', 'NAPTR wants a final dot'],
])('%s may not have the target %s', (recordType, target, reason) => {
  const { texts, problems } = read([
    { dnsName: 'w.org', recordType, targets: [target] },
    { dnsName: 'good.org', recordType: 'A', targets: ['1.2.3.4'] },
  ])
  expect(texts).toEqual(['good.org A 1.2.3.4'])
  expect(problems).toEqual([
    expect.stringContaining(`Cannot use target ${JSON.stringify(target)} of dnsendpoint default/x: ${reason}`),
  ])
  expect(problems[0]).toMatch(/; endpoint w\.org is left out$/u)
})

test.each([
  [{ dnsName: 'w.org', targets: ['1.2.3.4'] }, 'it has no recordType'],
  [{ dnsName: 'a..org', recordType: 'A', targets: ['1.2.3.4'] }, 'Cannot use host name "a..org"'],
  [{ recordType: 'A', targets: ['1.2.3.4'] }, 'Cannot use host name ""'],
  [null, 'Cannot use host name ""'],
  [{ dnsName: 'w.org', recordType: 'A', targets: ['1.2.3.4'], recordTTL: 2 ** 31 }, 'at most 2147483647 seconds'],
  [{ dnsName: 'w.org', recordType: 'PTR', targets: ['a.org'] }, 'PTR wants a name below in-addr.arpa'],
  [{ dnsName: '1.in-addr.arpa', recordType: 'PTR' }, 'PTR wants a target'],
  [{ dnsName: '1.in-addr.arpa', recordType: 'PTR', targets: ['1.2.3.4'] }, 'PTR wants a name without a final dot'],
  [
    { dnsName: 'w.org', recordType: 'TXT', targets: ['x'], providerSpecific: [{ name: 'alias', value: 'true' }] },
    'TXT has no alias',
  ],
])('%j is left out', (endpoint, reason) => {
  const { texts, problems } = read([endpoint])
  expect(texts).toEqual([])
  expect(problems).toEqual([expect.stringContaining(reason)])
})

test('an alias may lead an address record to a name', () => {
  const providerSpecific = [{ name: 'alias', value: 'true' }]
  const { texts } = read([{ dnsName: 'w.org', recordType: 'A', targets: ['lb.org'], providerSpecific }])
  expect(texts).toEqual(['w.org A lb.org alias=true'])
})

test('objects are selected by namespace and labels at the server, by annotations here', () => {
  const source = make({ namespace: 'ns', labelFilter: 'a=b', annotationFilter: 'class in (x)' })
  expect(source.follows[0]).toMatchObject({
    resource: {
      group: 'externaldns.k8s.io',
      version: 'v1alpha1',
      plural: 'dnsendpoints',
      kind: 'DNSEndpoint',
      namespaced: true,
    },
    ...{ namespace: 'ns', labelSelector: 'a=b' },
  })
  const endpoint = { dnsName: 'w.org', recordType: 'A', targets: ['1.2.3.4'] }
  expect(read([endpoint], { annotations: { class: 'x' } }, source).texts).toEqual(['w.org A 1.2.3.4'])
  expect(read([endpoint], { annotations: { class: 'y' } }, source).texts).toEqual([])
  expect(() => make({ crdApiVersion: 'v1' })).toThrow('Cannot use API version "v1": expected a group and a version')
})

test('a deleted object has no endpoints', () => {
  const source = make()
  expect(read([{ dnsName: 'w.org', recordType: 'A', targets: ['1.2.3.4'] }], {}, source).texts).toEqual([
    'w.org A 1.2.3.4',
  ])
  expect(apply(source, 'DNSEndpoint', 'default/x', undefined)).toEqual(['crd/default/x'])
  expect(source.endpoints('crd/default/x')).toEqual({ endpoints: [], problems: [] })
})
