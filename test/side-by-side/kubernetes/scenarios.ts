// What the two programs get to see, each scenario in a namespace of its own: objects, the flags, and the objects a
// while later.

import {
  dnsEndpoint,
  endpointSlice,
  gateway,
  httpRoute,
  ingress,
  node,
  pod,
  service,
  type TestObject,
} from './objects.ts'

/**
 * restless: every round of ExternalDNS changes keys, whoever wrote them. forgetful: of a name with several addresses that
 * goes, it leaves some. greedy: it removes an address with the text beside it. chance: which of several objects a mark
 * names is not decided by anything. blind: it does not know its own records again.
 */
export type Pain = 'restless' | 'forgetful' | 'greedy' | 'chance' | 'blind'

export interface Scenario {
  readonly title: string
  readonly flags: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly before: readonly TestObject[]
  readonly after: readonly TestObject[]
  /** As many keys there are, before. */
  readonly keys: number
  /** What ExternalDNS does wrong with it. */
  readonly pain?: Pain
}

const NEW = 'external-dns.kubernetes.io'
const OLD = 'external-dns.alpha.kubernetes.io'
const SYNC = ['--policy=sync', '--txt-owner-id=side']
const INGRESS = ['--source=ingress', ...SYNC]
const CRD = ['--source=crd', ...SYNC]
const SERVICE = ['--source=service', ...SYNC]
const WITH_PTR = ['--create-ptr', ...['A', 'AAAA', 'PTR'].map((type) => `--managed-record-types=${type}`)]
const NODE_PORT = { type: 'NodePort', ports: [{ name: 'web', port: 80, nodePort: 30_080 }] }
const LOAD_BALANCER = { type: 'LoadBalancer' }
export const AES_KEY = 'MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI='

/** There for every scenario. */
export const NODES: readonly TestObject[] = [
  node('node-a', '203.0.113.1', '10.9.0.1'),
  node('node-b', '203.0.113.2', '10.9.0.2', { [`${NEW}/ttl`]: '60' }),
]

const several = ingress('web', { hosts: ['a.example.org', 'b.example.org', 'deep.sub.example.org'] })
const wild = ingress('wild', { hosts: ['*.apps.example.org', 'fixed.apps.example.org'] })
const two = ingress('two', { hosts: ['two.example.org'], at: ['192.0.2.21', '192.0.2.22'] })

export const SCENARIOS: readonly Scenario[] = [
  {
    title: 'ingresses with several hosts, of which one goes and one comes',
    flags: INGRESS,
    before: [several, ingress('other', { hosts: ['other.example.org'], at: ['192.0.2.9'] })],
    after: [
      ingress('web', { hosts: ['a.example.org', 'c.example.org', 'deep.sub.example.org'] }),
      ingress('other', { hosts: ['other.example.org'], at: ['192.0.2.9'] }),
    ],
    keys: 8,
  },
  {
    title: 'hosts of TLS, beside those of rules',
    flags: INGRESS,
    before: [ingress('web', { hosts: ['web.example.org'], tls: ['web.example.org', 'secure.example.org'] })],
    after: [ingress('web', { hosts: ['web.example.org'], tls: ['safe.example.org'] })],
    keys: 4,
  },
  {
    title: 'hosts of TLS switched off',
    flags: [...INGRESS, '--ignore-ingress-tls-spec'],
    before: [ingress('web', { hosts: ['web.example.org'], tls: ['secure.example.org'] })],
    after: [ingress('web', { hosts: ['www.example.org'], tls: ['secure.example.org'] })],
    keys: 2,
  },
  {
    title: 'wildcards',
    flags: INGRESS,
    before: [wild],
    after: [ingress('wild', { hosts: ['*.apps.example.org', '*.example.org'], at: ['192.0.2.7'] })],
    keys: 4,
  },
  {
    title: 'wildcards with a replacement in the TXT name',
    flags: [...INGRESS, '--txt-prefix=own-', '--txt-wildcard-replacement=any'],
    before: [wild],
    after: [ingress('wild', { hosts: ['*.apps.example.org'], at: ['192.0.2.7'] })],
    keys: 4,
  },
  {
    title: 'a target that is a name, and becomes another',
    flags: INGRESS,
    before: [ingress('web', { hosts: ['web.example.org'], at: ['lb.example.net'] })],
    after: [ingress('web', { hosts: ['web.example.org'], at: ['lb2.example.net'] })],
    keys: 2,
  },
  {
    title: 'annotations: hostname, target, ttl',
    flags: INGRESS,
    before: [
      ingress('names', { annotations: { [`${NEW}/hostname`]: 'n1.example.org,n2.example.org', [`${NEW}/ttl`]: '1m' } }),
      ingress('at', { annotations: { [`${NEW}/hostname`]: 'o1.example.org', [`${NEW}/target`]: '198.51.100.1' } }),
      ingress('ttl', { hosts: ['t.example.org'], annotations: { [`${NEW}/ttl`]: '77' } }),
    ],
    after: [
      ingress('names', { annotations: { [`${NEW}/hostname`]: 'n1.example.org', [`${NEW}/ttl`]: '2m' } }),
      ingress('at', { annotations: { [`${NEW}/hostname`]: 'o1.example.org', [`${NEW}/target`]: '198.51.100.2' } }),
      ingress('ttl', { hosts: ['t.example.org'], annotations: { [`${NEW}/ttl`]: '78' } }),
    ],
    keys: 8,
  },
  {
    title: 'annotations under both prefixes',
    flags: [...INGRESS, '--enable-legacy-annotation-prefix'],
    before: [
      ingress('new', { annotations: { [`${NEW}/hostname`]: 'n1.example.org' } }),
      ingress('old', { annotations: { [`${OLD}/hostname`]: 'o1.example.org', [`${OLD}/ttl`]: '9' } }),
      ingress('both', {
        hosts: ['b.example.org'],
        annotations: { [`${NEW}/ttl`]: '10', [`${OLD}/ttl`]: '20', [`${OLD}/target`]: '198.51.100.3' },
      }),
    ],
    after: [
      ingress('new', { annotations: { [`${NEW}/hostname`]: 'n1.example.org', [`${OLD}/hostname`]: 'n2.example.org' } }),
      ingress('old', { annotations: { [`${OLD}/hostname`]: 'o2.example.org' } }),
    ],
    keys: 6,
  },
  {
    title: 'annotations under the older prefix, which is not asked for',
    flags: [...INGRESS, '--no-enable-legacy-annotation-prefix'],
    before: [ingress('old', { hosts: ['o.example.org'], annotations: { [`${OLD}/ttl`]: '9' } })],
    after: [ingress('old', { annotations: { [`${OLD}/hostname`]: 'o2.example.org' } })],
    keys: 2,
  },
  {
    title: 'annotations under the older prefix alone',
    flags: [...INGRESS, `--annotation-prefix=${OLD}/`],
    before: [
      ingress('old', { annotations: { [`${OLD}/hostname`]: 'o1.example.org', [`${OLD}/target`]: 'x.example.net' } }),
      ingress('new', { annotations: { [`${NEW}/hostname`]: 'n1.example.org' } }),
    ],
    after: [ingress('old', { annotations: { [`${OLD}/hostname`]: 'o2.example.org', [`${OLD}/ttl`]: '5' } })],
    keys: 2,
  },
  {
    title: 'several addresses, with registry noop',
    pain: 'forgetful',
    flags: ['--source=ingress', '--policy=sync', '--registry=noop'],
    before: [two],
    after: [ingress('two', { hosts: ['two.example.org'], at: ['192.0.2.22', '192.0.2.23'] })],
    keys: 2,
  },
  {
    title: 'one address, with registry noop',
    flags: ['--source=ingress', '--policy=sync', '--registry=noop'],
    before: [several],
    after: [ingress('web', { hosts: ['a.example.org', 'b.example.org'], at: ['192.0.2.2'] })],
    keys: 3,
  },
  {
    title: 'several addresses, with registry txt',
    pain: 'forgetful',
    flags: INGRESS,
    before: [two],
    after: [ingress('two', { hosts: ['two.example.org'], at: ['192.0.2.22', '192.0.2.23'] })],
    keys: 3,
  },
  {
    title: 'IPv4 and IPv6 of one name',
    flags: INGRESS,
    pain: 'restless',
    before: [ingress('dual', { hosts: ['dual.example.org'], at: ['192.0.2.5', '2001:db8::5'] })],
    after: [ingress('dual', { hosts: ['dual.example.org'], at: ['192.0.2.6', '2001:db8::6'] })],
    keys: 4,
  },
  {
    title: 'IPv6 alone',
    flags: INGRESS,
    before: [ingress('six', { hosts: ['six.example.org'], at: ['2001:db8::5'] })],
    after: [ingress('six', { hosts: ['six.example.org'], at: ['2001:db8:0::6'] })],
    keys: 2,
  },
  {
    title: 'TXT names with a prefix that has the type in it',
    flags: [...INGRESS, '--txt-prefix=own-%{record_type}-'],
    before: [several],
    after: [ingress('web', { hosts: ['a.example.org'] })],
    keys: 6,
  },
  {
    title: 'TXT names with a prefix that is a label',
    flags: [...INGRESS, '--txt-prefix=_owner.'],
    before: [several],
    after: [ingress('web', { hosts: ['a.example.org'], at: ['lb.example.net'] })],
    keys: 6,
  },
  {
    title: 'TXT names with a suffix',
    flags: [...INGRESS, '--txt-suffix=-%{record_type}-own'],
    before: [several],
    after: [ingress('web', { hosts: ['a.example.org'], at: ['192.0.2.3'] })],
    keys: 6,
  },
  {
    title: 'TXT records encrypted',
    flags: [...INGRESS, '--txt-encrypt-enabled'],
    env: { EXTERNAL_DNS_TXT_ENCRYPT_AES_KEY: AES_KEY },
    before: [several],
    after: [ingress('web', { hosts: ['a.example.org', 'b.example.org'], at: ['192.0.2.3'] })],
    keys: 6,
  },
  {
    title: 'strictly owned, with registry txt',
    flags: [...INGRESS, '--coredns-strictly-owned'],
    before: [several],
    after: [ingress('web', { hosts: ['a.example.org', 'b.example.org'], at: ['192.0.2.3'] })],
    keys: 6,
  },
  {
    title: 'strictly owned, with registry noop',
    flags: ['--source=ingress', ...SYNC, '--registry=noop', '--coredns-strictly-owned'],
    before: [several],
    after: [ingress('web', { hosts: ['a.example.org', 'b.example.org'], at: ['192.0.2.3'] })],
    keys: 3,
  },
  {
    title: 'groups',
    flags: INGRESS,
    before: [
      ingress('one', { hosts: ['one.example.org'], annotations: { [`${NEW}/coredns-group`]: 'g1' } }),
      ingress('two', { hosts: ['a.one.example.org'], annotations: { [`${NEW}/coredns-group`]: 'g2' } }),
    ],
    after: [
      ingress('one', { hosts: ['one.example.org'], annotations: { [`${NEW}/coredns-group`]: 'g3' } }),
      ingress('two', { hosts: ['a.one.example.org'], annotations: { [`${NEW}/coredns-group`]: 'g2' } }),
    ],
    keys: 4,
  },
  {
    title: 'names from a template, in place of those there are',
    flags: [...INGRESS, '--fqdn-template={{.Name}}.{{.Namespace}}.example.org,{{.Name}}.example.net'],
    before: [ingress('plain', {}), ingress('web', { hosts: ['web.example.org'] })],
    after: [ingress('plain', { at: ['192.0.2.8'] }), ingress('web', { hosts: ['web.example.org'] })],
    keys: 6,
  },
  {
    title: 'names from a template, beside those there are',
    flags: [...INGRESS, '--fqdn-template={{.Name}}.example.net', '--combine-fqdn-annotation'],
    before: [ingress('web', { hosts: ['web.example.org'] })],
    after: [ingress('web', { hosts: ['www.example.org'] })],
    keys: 4,
  },
  {
    title: 'domains in and out',
    flags: [...INGRESS, '--domain-filter=example.org', '--exclude-domains=no.example.org'],
    before: [ingress('web', { hosts: ['web.example.org', 'web.no.example.org', 'web.example.net'] })],
    after: [ingress('web', { hosts: ['web2.example.org', 'web2.no.example.org'] })],
    keys: 2,
  },
  {
    title: 'classes, labels and annotations as filters',
    flags: [...INGRESS, '--ingress-class=public', '--label-filter=team=a', '--annotation-filter=public in (yes)'],
    before: [
      ingress('in', {
        hosts: ['in.example.org'],
        class: 'public',
        labels: { team: 'a' },
        annotations: { public: 'yes' },
      }),
      ingress('out1', { hosts: ['out1.example.org'], class: 'private', labels: { team: 'a' } }),
      ingress('out2', { hosts: ['out2.example.org'], class: 'public', labels: { team: 'b' } }),
      ingress('out3', { hosts: ['out3.example.org'], class: 'public', labels: { team: 'a' } }),
    ],
    after: [
      ingress('in', {
        hosts: ['in.example.org'],
        class: 'public',
        labels: { team: 'b' },
        annotations: { public: 'yes' },
      }),
    ],
    keys: 2,
  },
  {
    title: 'PTR records',
    flags: [...INGRESS, ...WITH_PTR],
    before: [
      ingress('four', { hosts: ['four.example.org'], at: ['192.0.2.71'] }),
      ingress('six', { hosts: ['six.example.org'], at: ['2001:db8::7'], annotations: { [`${NEW}/ttl`]: '30' } }),
      ingress('wild', { hosts: ['*.example.org'], at: ['192.0.2.72'] }),
    ],
    after: [
      ingress('four', { hosts: ['four.example.org'], at: ['192.0.2.73'] }),
      ingress('six', { hosts: ['six.example.org'], at: ['2001:db8::7'], annotations: { [`${NEW}/ttl`]: '30' } }),
    ],
    keys: 10,
  },
  {
    title: 'PTR records, strictly owned and without TXT',
    flags: ['--source=ingress', ...SYNC, '--registry=noop', '--coredns-strictly-owned', ...WITH_PTR],
    before: [ingress('four', { hosts: ['four.example.org'], at: ['192.0.2.71'] })],
    after: [ingress('four', { hosts: ['other.example.org'], at: ['192.0.2.71'] })],
    keys: 2,
  },
  {
    title: 'load balancers, by address and by name',
    flags: SERVICE,
    before: [
      service('ip', LOAD_BALANCER, { [`${NEW}/hostname`]: 'ip.example.org' }, ['192.0.2.31']),
      service('name', LOAD_BALANCER, { [`${NEW}/hostname`]: 'name.example.org' }, ['lb.example.net']),
    ],
    after: [
      service('ip', LOAD_BALANCER, { [`${NEW}/hostname`]: 'ip.example.org', [`${NEW}/ttl`]: '30' }, ['192.0.2.32']),
    ],
    keys: 4,
  },
  {
    title: 'internal names of a service',
    flags: [...SERVICE, '--publish-internal-services'],
    before: [
      service('in', { type: 'ClusterIP', clusterIP: '10.96.44.1' }, { [`${NEW}/hostname`]: 'in.example.org' }),
      service('lb', { ...LOAD_BALANCER, clusterIP: '10.96.44.2' }, { [`${NEW}/internal-hostname`]: 'lb.example.org' }, [
        '192.0.2.3',
      ]),
    ],
    after: [service('in', { type: 'ClusterIP', clusterIP: '10.96.44.1' }, { [`${NEW}/hostname`]: 'in2.example.org' })],
    keys: 4,
  },
  {
    title: 'a headless service and its pods',
    flags: SERVICE,
    before: [
      service('db', { clusterIP: 'None', selector: { app: 'db' } }, { [`${NEW}/hostname`]: 'db.example.org' }),
      pod('db-0', '10.1.0.10', { hostname: 'db-0', subdomain: 'db' }),
      endpointSlice('db', [['db-0', '10.1.0.10']]),
    ],
    after: [
      service('db', { clusterIP: 'None', selector: { app: 'db' } }, { [`${NEW}/hostname`]: 'pg.example.org' }),
      pod('db-0', '10.1.0.10', { hostname: 'db-0', subdomain: 'db' }),
      endpointSlice('db', [['db-0', '10.1.0.10']]),
    ],
    keys: 4,
  },
  {
    title: 'a headless service with several pods',
    flags: ['--source=service', '--policy=sync', '--registry=noop'],
    before: [
      service('db', { clusterIP: 'None', selector: { app: 'db' } }, { [`${NEW}/hostname`]: 'db.example.org' }),
      pod('db-0', '10.1.0.10', { hostname: 'db-0', subdomain: 'db' }),
      pod('db-1', '10.1.0.11', { hostname: 'db-1', subdomain: 'db' }),
      endpointSlice('db', [
        ['db-0', '10.1.0.10'],
        ['db-1', '10.1.0.11'],
      ]),
    ],
    after: [
      service('db', { clusterIP: 'None', selector: { app: 'db' } }, { [`${NEW}/hostname`]: 'db.example.org' }),
      pod('db-1', '10.1.0.11', { hostname: 'db-1', subdomain: 'db' }),
      endpointSlice('db', [['db-1', '10.1.0.11']]),
    ],
    keys: 4,
  },
  {
    title: 'a service on ports of the nodes',
    flags: SERVICE,
    before: [service('np', NODE_PORT, { [`${NEW}/hostname`]: 'np.example.org' })],
    after: [service('np', NODE_PORT, { [`${NEW}/hostname`]: 'np2.example.org' })],
    keys: 3,
    pain: 'forgetful',
  },
  {
    title: 'nodes',
    flags: ['--source=node', ...SYNC, '--fqdn-template={{.Name}}.nodes.example.org'],
    before: [],
    after: [],
    keys: 4,
  },
  {
    title: 'a DNSEndpoint of A, AAAA and CNAME',
    flags: CRD,
    before: [
      dnsEndpoint(
        'records',
        { dnsName: 'a.example.org', recordType: 'A', targets: ['192.0.2.41'], recordTTL: 180 },
        { dnsName: 'six.example.org', recordType: 'AAAA', targets: ['2001:db8::41'] },
        { dnsName: 'alias.example.org', recordType: 'CNAME', targets: ['a.example.org'] },
        {
          dnsName: 'group.example.org',
          recordType: 'A',
          targets: ['192.0.2.42'],
          providerSpecific: [{ name: 'coredns/group', value: 'g' }],
        },
      ),
    ],
    after: [
      dnsEndpoint(
        'records',
        { dnsName: 'a.example.org', recordType: 'A', targets: ['192.0.2.41'], recordTTL: 60 },
        { dnsName: 'alias.example.org', recordType: 'CNAME', targets: ['b.example.org'] },
      ),
    ],
    keys: 8,
  },
  {
    title: 'a DNSEndpoint of TXT, with registry noop',
    flags: [
      '--source=crd',
      '--policy=sync',
      '--registry=noop',
      '--managed-record-types=TXT',
      '--managed-record-types=A',
    ],
    before: [
      dnsEndpoint(
        'records',
        { dnsName: 'text.example.org', recordType: 'TXT', targets: ['hello world'] },
        { dnsName: 'a.example.org', recordType: 'A', targets: ['192.0.2.41'] },
      ),
    ],
    after: [dnsEndpoint('records', { dnsName: 'text.example.org', recordType: 'TXT', targets: ['good bye'] })],
    keys: 2,
  },
  {
    title: 'a DNSEndpoint of TXT, with registry txt',
    flags: [...CRD, '--managed-record-types=TXT', '--managed-record-types=A'],
    before: [
      dnsEndpoint(
        'records',
        { dnsName: 'text.example.org', recordType: 'TXT', targets: ['v=spf1 -all'] },
        { dnsName: 'a.example.org', recordType: 'A', targets: ['192.0.2.41'] },
      ),
    ],
    after: [dnsEndpoint('records', { dnsName: 'a.example.org', recordType: 'A', targets: ['192.0.2.41'] })],
    keys: 4,
  },
  {
    title: 'TXT beside A at one name',
    pain: 'greedy',
    flags: [
      '--source=crd',
      '--policy=sync',
      '--registry=noop',
      '--managed-record-types=TXT',
      '--managed-record-types=A',
    ],
    before: [
      dnsEndpoint(
        'records',
        { dnsName: 'both.example.org', recordType: 'A', targets: ['192.0.2.41'] },
        { dnsName: 'both.example.org', recordType: 'TXT', targets: ['hello'] },
      ),
    ],
    after: [dnsEndpoint('records', { dnsName: 'both.example.org', recordType: 'A', targets: ['192.0.2.41'] })],
    keys: 1,
  },
  {
    title: 'routes of a gateway',
    flags: ['--source=gateway-httproute', ...SYNC],
    before: [
      gateway('edge', ['192.0.2.51']),
      httpRoute('web', 'edge', ['web.example.org', 'a.shop.example.org']),
      httpRoute('more', 'edge', [], { [`${NEW}/hostname`]: 'more.example.org', [`${NEW}/ttl`]: '30' }),
    ],
    after: [gateway('edge', ['192.0.2.52']), httpRoute('web', 'edge', ['web.example.org'])],
    keys: 8,
  },
  {
    title: 'a gateway whose target is an annotation',
    flags: ['--source=gateway-httproute', ...SYNC],
    before: [
      gateway('edge', ['192.0.2.51'], { [`${NEW}/target`]: 'lb.example.net' }),
      httpRoute('web', 'edge', ['web.example.org']),
    ],
    after: [
      gateway('edge', ['192.0.2.51'], { [`${NEW}/target`]: '198.51.100.9' }),
      httpRoute('web', 'edge', ['web.example.org']),
    ],
    keys: 2,
  },
  {
    title: 'default targets and a least TTL',
    flags: [...INGRESS, '--default-targets=198.51.100.7', '--force-default-targets', '--min-ttl=90s'],
    before: [several],
    after: [ingress('web', { hosts: ['a.example.org'], annotations: { [`${NEW}/ttl`]: '30' } })],
    keys: 6,
  },
  {
    title: 'two ingresses that want one name',
    flags: INGRESS,
    pain: 'chance',
    before: [
      ingress('first', { hosts: ['shared.example.org'], at: ['192.0.2.61'] }),
      ingress('second', { hosts: ['shared.example.org', 'own.example.org'], at: ['192.0.2.62'] }),
    ],
    after: [ingress('second', { hosts: ['shared.example.org', 'own.example.org'], at: ['192.0.2.62'] })],
    keys: 5,
  },
  {
    title: 'updates but no deletions (upsert-only)',
    flags: ['--source=ingress', '--txt-owner-id=side', '--policy=upsert-only'],
    before: [several],
    after: [ingress('web', { hosts: ['a.example.org'], at: ['192.0.2.2'] })],
    keys: 6,
  },
  {
    title: 'nothing but new names (create-only)',
    flags: ['--source=ingress', '--txt-owner-id=side', '--policy=create-only'],
    before: [several],
    after: [ingress('web', { hosts: ['a.example.org', 'new.example.org'], at: ['192.0.2.2'] })],
    keys: 6,
  },
  {
    title: 'names in capital letters and with final dots',
    pain: 'blind',
    flags: INGRESS,
    before: [
      ingress('caps', { annotations: { [`${NEW}/hostname`]: 'Caps.Example.ORG' } }),
      ingress('dots', {
        annotations: { [`${NEW}/hostname`]: 'dots.example.org.', [`${NEW}/target`]: 'LB.example.net.' },
      }),
    ],
    after: [
      ingress('caps', { annotations: { [`${NEW}/hostname`]: 'Caps.Example.ORG' }, at: ['192.0.2.2'] }),
      ingress('dots', {
        annotations: { [`${NEW}/hostname`]: 'dots.example.org', [`${NEW}/target`]: 'LB2.example.net.' },
      }),
    ],
    keys: 4,
  },
  {
    title: 'several sources at once',
    flags: ['--source=ingress', '--source=service', '--source=crd', ...SYNC],
    before: [
      ingress('web', { hosts: ['web.example.org'] }),
      service('ip', LOAD_BALANCER, { [`${NEW}/hostname`]: 'ip.example.org' }, ['192.0.2.31']),
      dnsEndpoint('records', { dnsName: 'a.example.org', recordType: 'A', targets: ['192.0.2.41'] }),
    ],
    after: [
      ingress('web', { hosts: ['web.example.org'], at: ['192.0.2.2'] }),
      dnsEndpoint('records', { dnsName: 'a.example.org', recordType: 'A', targets: ['192.0.2.42'] }),
    ],
    keys: 6,
  },
  {
    title: 'domains by regular expressions',
    flags: [...INGRESS, '--regex-domain-filter=^[a-m].*[.]org$', '--regex-domain-exclusion=^b'],
    before: [ingress('web', { hosts: ['a.example.org', 'b.example.org', 'x.example.org', 'c.example.net'] })],
    after: [ingress('web', { hosts: ['c.example.org', 'b.example.org'] })],
    keys: 2,
  },
  {
    title: 'networks that targets may be in',
    flags: [...INGRESS, '--target-net-filter=192.0.2.0/24', '--exclude-target-net=192.0.2.128/25'],
    before: [
      ingress('web', { hosts: ['web.example.org'], at: ['192.0.2.1', '192.0.2.200', '198.51.100.1'] }),
      ingress('out', { hosts: ['out.example.org'], at: ['198.51.100.1'] }),
      ingress('name', { hosts: ['name.example.org'], at: ['lb.example.net'] }),
    ],
    after: [ingress('out', { hosts: ['out.example.org'], at: ['192.0.2.5'] })],
    keys: 2,
  },
  {
    title: 'default targets for what has none',
    flags: [...CRD, '--default-targets=198.51.100.7', '--default-targets=198.51.100.8'],
    before: [
      dnsEndpoint(
        'records',
        { dnsName: 'none.example.org', recordType: 'A', targets: [] },
        { dnsName: 'some.example.org', recordType: 'A', targets: ['192.0.2.41'] },
      ),
    ],
    after: [dnsEndpoint('records', { dnsName: 'some.example.org', recordType: 'A', targets: ['192.0.2.41'] })],
    keys: 5,
    pain: 'forgetful',
  },
  {
    title: 'services that stand for a name elsewhere',
    flags: SERVICE,
    before: [
      service(
        'elsewhere',
        { type: 'ExternalName', externalName: 'db.example.net' },
        { [`${NEW}/hostname`]: 'x.example.org' },
      ),
    ],
    after: [
      service(
        'elsewhere',
        { type: 'ExternalName', externalName: 'db2.example.net' },
        { [`${NEW}/hostname`]: 'x.example.org' },
      ),
    ],
    keys: 2,
  },
  {
    title: 'a headless service by the addresses of its nodes',
    flags: [...SERVICE, '--publish-host-ip'],
    before: [
      service('db', { clusterIP: 'None', selector: { app: 'db' } }, { [`${NEW}/hostname`]: 'db.example.org' }),
      pod('db-0', '10.1.0.10', { hostNetwork: true, hostname: 'db-0', subdomain: 'db' }),
      endpointSlice('db', [['db-0', '10.1.0.10']]),
    ],
    after: [
      service('db', { clusterIP: 'None', selector: { app: 'db' } }, { [`${NEW}/hostname`]: 'pg.example.org' }),
      pod('db-0', '10.1.0.10', { hostNetwork: true, hostname: 'db-0', subdomain: 'db' }),
      endpointSlice('db', [['db-0', '10.1.0.10']]),
    ],
    keys: 4,
  },
  {
    title: 'an owner whose names are taken over',
    flags: [...INGRESS, '--migrate-from-txt-owner=side'],
    before: [several],
    after: [ingress('web', { hosts: ['a.example.org'] })],
    keys: 6,
  },
  {
    title: 'a name that turns from an alias into an address',
    flags: INGRESS,
    before: [ingress('web', { hosts: ['web.example.org'], at: ['lb.example.net'] })],
    after: [ingress('web', { hosts: ['web.example.org'], at: ['192.0.2.1'] })],
    keys: 2,
  },
  {
    title: 'an object that is not for us',
    flags: INGRESS,
    before: [
      ingress('web', { hosts: ['web.example.org'] }),
      ingress('other', { hosts: ['other.example.org'], annotations: { [`${NEW}/controller`]: 'somebody' } }),
    ],
    after: [ingress('web', { hosts: ['web.example.org'], annotations: { [`${NEW}/controller`]: 'somebody' } })],
    keys: 2,
  },
  {
    title: 'hosts of rules or annotations alone',
    flags: INGRESS,
    before: [
      ingress('rules', {
        hosts: ['r.example.org'],
        annotations: { [`${NEW}/hostname`]: 'x.example.org', [`${NEW}/ingress-hostname-source`]: 'defined-hosts-only' },
      }),
      ingress('annotation', {
        hosts: ['y.example.org'],
        annotations: { [`${NEW}/hostname`]: 'a.example.org', [`${NEW}/ingress-hostname-source`]: 'annotation-only' },
      }),
    ],
    after: [ingress('rules', { hosts: ['r.example.org'], annotations: { [`${NEW}/hostname`]: 'x.example.org' } })],
    keys: 4,
  },
  {
    title: 'bad TTLs and names that are none',
    flags: INGRESS,
    before: [
      ingress('ttl', { hosts: ['ttl.example.org'], annotations: { [`${NEW}/ttl`]: 'soon' } }),
      ingress('name', { annotations: { [`${NEW}/hostname`]: 'good.example.org, spaced.example.org' } }),
    ],
    after: [ingress('ttl', { hosts: ['ttl.example.org'], annotations: { [`${NEW}/ttl`]: '-1' } })],
    keys: 6,
  },
]
