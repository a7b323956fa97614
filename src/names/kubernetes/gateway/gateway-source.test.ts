import { describe, expect, test } from 'vitest'
import { apply, applyAll, endpointText } from '../testing.ts'
import { gateway, makeGatewaySource, namesOf, namespace, route } from './testing.ts'

const PREFIX = 'external-dns.kubernetes.io/'
const hosts = (...hostnames: string[]) => ({ hostnames })

describe('names and listeners', () => {
  test.each<[string, (string | undefined)[], string[] | undefined, string[]]>([
    ['the name of a route', [undefined], ['a.org'], ['a.org A 1.2.3.4']],
    ['a name in both', ['a.org'], ['a.org'], ['a.org A 1.2.3.4']],
    ['letters of any size', ['A.org'], ['a.ORG'], ['a.org A 1.2.3.4']],
    ['names that differ', ['a.org'], ['b.org'], []],
    ['a wildcard in the Gateway', ['*.org'], ['a.org', 'b.c.org', 'org'], ['a.org A 1.2.3.4', 'b.c.org A 1.2.3.4']],
    ['a wildcard in the route', ['a.org'], ['*.org'], ['a.org A 1.2.3.4']],
    ['wildcards in both', ['*.org'], ['*.example.org'], ['*.example.org A 1.2.3.4']],
    ['a route without names', ['a.org'], undefined, ['a.org A 1.2.3.4']],
    ['no names at all', [undefined], undefined, []],
    ['several listeners', ['a.org', 'b.org', 'c.org'], ['a.org', 'b.org'], ['a.org A 1.2.3.4', 'b.org A 1.2.3.4']],
    ['a listener with a bad name', ['a_b.org'], ['a_b.org'], []],
  ])('%s', (_, listeners, hostnames, expected) => {
    const objects = [
      gateway({
        listeners: listeners.map((hostname, index) => ({ name: `l${index}`, ...(hostname && { hostname }) })),
      }),
      route(hostnames && { hostnames }),
    ]
    expect(namesOf(objects)).toEqual(expected)
  })

  test('a section, a port and a protocol are those that the route asks for', () => {
    const listeners = [
      { name: 'foo', hostname: 'foo.org', port: 80 },
      { name: 'bar', hostname: 'bar.org', port: 8080 },
      { name: 'qux', hostname: 'qux.org', port: 8080, protocol: 'HTTPS' },
      { name: 'tls', hostname: 'tls.org', port: 443, protocol: 'TLS' },
      { name: 'udp', hostname: 'udp.org', port: 53, protocol: 'UDP' },
    ]
    const asked = (parent: object) => namesOf([gateway({ listeners }), route({ parents: [{ name: 'gw', ...parent }] })])
    expect(asked({ sectionName: 'bar' })).toEqual(['bar.org A 1.2.3.4'])
    expect(asked({ sectionName: 'none' })).toEqual([])
    expect(asked({ port: 8080 })).toEqual(['bar.org A 1.2.3.4', 'qux.org A 1.2.3.4'])
    expect(asked({ port: 8080, sectionName: 'foo' })).toEqual([])
    expect(asked({})).toEqual(['bar.org A 1.2.3.4', 'foo.org A 1.2.3.4', 'qux.org A 1.2.3.4'])
    const names = (kind: 'grpc' | 'tls' | 'tcp' | 'udp', object: string) =>
      namesOf([gateway({ listeners }), route({ kind: object })], {}, kind).map((text) => text.split('.')[0])
    expect(names('grpc', 'GRPCRoute')).toEqual(['bar', 'foo', 'qux'])
    expect(names('tls', 'TLSRoute')).toEqual(['tls'])
    expect(names('tcp', 'TCPRoute')).toEqual(['tls'])
    expect(names('udp', 'UDPRoute')).toEqual(['udp'])
  })
})

describe('which Gateways count', () => {
  test('one that the route asks for, that is there, and that has accepted it', () => {
    const foo = { name: 'foo' }
    const objects = [gateway({ name: 'foo' }), gateway({ name: 'bar', addresses: ['2.3.4.5'] })]
    const names = (parts: object) => namesOf([...objects, route({ ...hosts('a.org'), ...parts })])
    expect(names({ parents: [foo] })).toEqual(['a.org A 1.2.3.4'])
    expect(names({ parents: [foo, { name: 'bar' }] })).toEqual(['a.org A 1.2.3.4 2.3.4.5'])
    expect(names({ parents: [foo], status: 'False' })).toEqual([])
    expect(names({ parents: [foo], accepted: [] })).toEqual([])
    expect(names({ parents: [], accepted: [foo] })).toEqual([])
    expect(names({ parents: [{ name: 'bar' }], accepted: [foo] })).toEqual([])
    expect(names({ parents: [{ name: 'none' }] })).toEqual([])
    expect(names({ parents: [{ name: 'foo', namespace: 'other' }] })).toEqual([])
    expect(
      names({ parents: [{ name: 'foo', namespace: 'default', group: 'gateway.networking.k8s.io', kind: 'Gateway' }] }),
    ).toEqual(['a.org A 1.2.3.4'])
    expect(names({ parents: [{ name: 'foo', kind: 'ListenerSet' }] })).toEqual([])
    expect(names({ parents: [{ name: 'foo', group: '', kind: 'Service' }] })).toEqual([])
  })

  test('by name, namespace and labels of the settings', () => {
    const everyone = [{ allowedRoutes: { namespaces: { from: 'All' } } }]
    const objects = [
      gateway({ name: 'foo', namespace: 'ns1', listeners: everyone }),
      gateway({ name: 'bar', namespace: 'ns1', listeners: everyone, addresses: ['2.3.4.5'] }),
      route({
        ...hosts('a.org'),
        parents: [
          { name: 'foo', namespace: 'ns1' },
          { name: 'bar', namespace: 'ns1' },
        ],
      }),
    ]
    expect(namesOf(objects, { gatewayName: 'foo' })).toEqual(['a.org A 1.2.3.4'])
    expect(namesOf(objects, { gatewayName: 'none' })).toEqual([])
    const { follows } = makeGatewaySource({
      gatewayNamespace: 'ns1',
      gatewayLabelFilter: 'a=b',
      namespace: 'x',
      labelFilter: 'c',
    })
    const asked = follows.map(({ resource, namespace: of, labelSelector, fieldSelector }) => ({
      ...{ plural: resource.plural, version: resource.version, namespace: of, labelSelector, fieldSelector },
    }))
    expect(asked).toEqual([
      { plural: 'httproutes', version: 'v1', namespace: 'x', labelSelector: 'c' },
      { plural: 'gateways', version: 'v1', namespace: 'ns1', labelSelector: 'a=b' },
      { plural: 'namespaces', version: 'v1', fieldSelector: 'metadata.name=x' },
    ])
    expect(() => makeGatewaySource({ gatewayLabelFilter: 'a b' })).toThrow('Cannot read selector "a b"')
  })

  test('not those for another controller', () => {
    const annotations = { [`${PREFIX}controller`]: 'other' }
    expect(namesOf([gateway({ annotations }), route(hosts('a.org'))])).toEqual([])
    expect(namesOf([gateway(), route({ ...hosts('a.org'), annotations })])).toEqual([])
  })
})

describe('routes that a listener allows', () => {
  const names = (allowedRoutes: object | undefined, of = 'other', kind = 'HTTPRoute') =>
    namesOf([
      ...[namespace('default', { team: 'a' }), namespace('other', { team: 'b' })],
      gateway({ listeners: [allowedRoutes ? { allowedRoutes } : {}] }),
      route({ ...hosts('a.org'), namespace: of, parents: [{ name: 'gw', namespace: 'default' }], kind }),
    ])
  const some = (selector: object) => ({ namespaces: { from: 'Selector', selector } })
  const YES = ['a.org A 1.2.3.4']

  test.each<[object | undefined, string, string[]]>([
    [undefined, 'default', YES],
    [undefined, 'other', []],
    [{ namespaces: {} }, 'other', []],
    [{ namespaces: { from: 'Same' } }, 'default', YES],
    [{ namespaces: { from: 'Same' } }, 'other', []],
    [{ namespaces: { from: 'All' } }, 'other', YES],
    [{ namespaces: { from: 'None' } }, 'default', []],
    [{ namespaces: { from: 'Strange' } }, 'default', []],
    [some({ matchLabels: { team: 'b' } }), 'other', YES],
    [some({ matchLabels: { team: 'b' } }), 'default', []],
    [some({}), 'other', YES],
    [some({}), 'unknown', []],
    [{ namespaces: { from: 'Selector' } }, 'other', []],
    [some({ matchExpressions: [{ key: 'team', operator: 'Strange' }] }), 'other', []],
    [some({ matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] }), 'other', YES],
  ])('%j: from namespace %s', (allowedRoutes, of, expected) => {
    expect(names(allowedRoutes, of)).toEqual(expected)
  })

  test.each<[object[], string[]]>([
    [[], YES],
    [[{ kind: 'HTTPRoute' }], YES],
    [[{ kind: 'GRPCRoute' }, { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' }], YES],
    [[{ kind: 'GRPCRoute' }], []],
    [[{ group: 'other.io', kind: 'HTTPRoute' }], []],
  ])('of kinds %j', (kinds, expected) => {
    expect(names({ kinds }, 'default')).toEqual(expected)
  })
})

describe('where names come from', () => {
  const listed = [{ hostname: '*.org' }, { name: 'second', hostname: 'listener.org' }]
  const names = (parts: { annotations?: Record<string, string>; hostnames?: string[] }, settings = {}) =>
    namesOf([gateway({ listeners: listed }), route(parts)], settings).map((text) => text.split(' ')[0])
  const annotated = (names_: Record<string, string>) => ({
    annotations: Object.fromEntries(Object.entries(names_).map(([name, value]) => [PREFIX + name, value])),
  })
  const fqdnTemplates = ['{{.Name}}.tpl.org']

  test('annotated names stand beside those of the route, or of the listeners where it has none', () => {
    expect(names({ ...annotated({ hostname: 'b.org, c.org' }), ...hosts('a.org') })).toEqual([
      'a.org',
      'b.org',
      'c.org',
    ])
    expect(names(annotated({ hostname: 'b.org' }))).toEqual(['*.org', 'b.org', 'listener.org'])
    expect(
      names({ ...annotated({ hostname: 'b.org' }), ...hosts('a.org') }, { ignoreHostnameAnnotation: true }),
    ).toEqual(['a.org'])
  })

  test('templates count where there are no other names, or are combined with them', () => {
    expect(names(hosts('a.org'), { fqdnTemplates })).toEqual(['a.org'])
    expect(names(annotated({ hostname: '' }), { fqdnTemplates })).toEqual(['*.org', 'listener.org', 'web.tpl.org'])
    expect(names(annotated({ hostname: 'b.org' }), { fqdnTemplates })).toEqual(['*.org', 'b.org', 'listener.org'])
    expect(names(hosts('a.org'), { fqdnTemplates, combineFqdnAnnotation: true })).toEqual(['a.org', 'web.tpl.org'])
    expect(
      names(hosts('a.org'), {
        fqdnTemplates: ['{{range .Spec.hostnames}}x.{{.}}{{end}}'],
        combineFqdnAnnotation: true,
      }),
    ).toEqual(['a.org', 'x.a.org'])
  })

  test('an annotation chooses', () => {
    const both = (source: string) => ({
      ...annotated({ hostname: 'b.org', 'gateway-hostname-source': source }),
      ...hosts('a.org'),
    })
    expect(names(both('annotation-only'))).toEqual(['b.org'])
    expect(names(both('Annotation-Only'), { ignoreHostnameAnnotation: true })).toEqual([])
    expect(names(both('defined-hosts-only'))).toEqual(['a.org'])
    expect(names(both('defined-hosts-only'), { fqdnTemplates, combineFqdnAnnotation: true })).toEqual([
      'a.org',
      'web.tpl.org',
    ])
    expect(names(annotated({ 'gateway-hostname-source': 'defined-hosts-only' }))).toEqual([])
    expect(names(both('both'))).toEqual(['a.org', 'b.org'])
  })
})

describe('endpoints', () => {
  test('lead to the addresses of the Gateway, or to its annotated targets', () => {
    const addresses = ['2.3.4.5', '1.2.3.4', '2001:db8::1', 'lb.example.org', '1.2.3.4']
    expect(namesOf([gateway({ addresses }), route(hosts('a.org'))])).toEqual([
      'a.org A 1.2.3.4 2.3.4.5',
      'a.org AAAA 2001:db8::1',
      'a.org CNAME lb.example.org',
    ])
    const annotations = { [`${PREFIX}target`]: '4.3.2.1' }
    expect(namesOf([gateway({ annotations }), route(hosts('a.org'))])).toEqual(['a.org A 4.3.2.1'])
    expect(namesOf([gateway(), route({ ...hosts('a.org'), annotations })])).toEqual(['a.org A 1.2.3.4'])
    expect(namesOf([gateway({ addresses: [] }), route(hosts('a.org'))])).toEqual([])
  })

  test('have what the annotations of the route say', () => {
    const source = makeGatewaySource()
    const annotations = { [`${PREFIX}ttl`]: '15s', [`${PREFIX}set-identifier`]: 'blue', [`${PREFIX}alias`]: 'true' }
    const roots = applyAll(source, [gateway(), route({ ...hosts('a.org'), annotations })])
    expect(roots).toEqual(['httproute/default/web'])
    const { endpoints, problems } = source.endpoints(roots[0])
    expect(endpoints.map(endpointText)).toEqual(['a.org A 1.2.3.4 ttl=15 set=blue alias=true'])
    expect(endpoints[0].labels).toEqual({ resource: 'httproute/default/web' })
    expect(problems).toEqual([])
  })

  test('go on without what is wrong, and say so', () => {
    const annotations = {
      [`${PREFIX}hostname`]: 'under_score.org,b..org',
      [`${PREFIX}ttl`]: 'abc',
      [`${PREFIX}gateway-hostname-source`]: 'nobody',
    }
    const source = makeGatewaySource({ fqdnTemplates: ['{{.Nope}}'], combineFqdnAnnotation: true })
    applyAll(source, [gateway({ addresses: ['1.2.3.4', 'a b'] }), route({ ...hosts('a.org'), annotations })])
    const { endpoints, problems } = source.endpoints('httproute/default/web')
    expect(endpoints.map(endpointText)).toEqual(['a.org A 1.2.3.4'])
    expect(problems.map((sentence) => sentence.split(':')[0])).toEqual([
      'Cannot use gateway-hostname-source "nobody" of httproute default/web',
      'Cannot use host name "b..org" of httproute default/web',
      'Cannot use host name "under_score.org" of httproute default/web',
      'Cannot apply template "{{.Nope}}" to HTTPRoute default/web',
      'Cannot use ttl "abc" of httproute default/web',
      'Cannot use target "a b" of httproute default/web',
    ])
  })
})

describe('changes', () => {
  test('touch the routes that depend on what changed, and no others', () => {
    const source = makeGatewaySource()
    applyAll(source, [
      ...[gateway({ name: 'one' }), gateway({ name: 'two' })],
      route({ name: 'a', ...hosts('a.org'), parents: [{ name: 'one' }] }),
      route({ name: 'b', ...hosts('b.org'), parents: [{ name: 'two' }] }),
      route({ name: 'c', namespace: 'other', ...hosts('c.org'), parents: [{ name: 'one', namespace: 'default' }] }),
    ])
    const touched = (kind: string, key: string, object?: Parameters<typeof apply>[3]) =>
      apply(source, kind, key, object)
    expect(touched('Gateway', 'default/one', gateway({ name: 'one' }))).toEqual([
      'httproute/default/a',
      'httproute/other/c',
    ])
    expect(touched('Gateway', 'default/new', gateway({ name: 'new' }))).toEqual([])
    expect(touched('Namespace', 'other', namespace('other'))).toEqual(['httproute/other/c'])
    const moved = route({ name: 'a', ...hosts('a.org'), parents: [{ name: 'two' }] })
    expect(touched('HTTPRoute', 'default/a', moved)).toEqual(['httproute/default/a'])
    expect(touched('Gateway', 'default/one')).toEqual(['httproute/other/c'])
    expect(touched('Gateway', 'default/two')).toEqual(['httproute/default/b', 'httproute/default/a'])
    expect(source.endpoints('httproute/default/a').endpoints).toEqual([])
    expect(touched('HTTPRoute', 'default/a')).toEqual(['httproute/default/a'])
    expect(touched('Gateway', 'default/two', gateway({ name: 'two' }))).toEqual(['httproute/default/b'])
    expect(source.endpoints('httproute/default/b').endpoints.map(endpointText)).toEqual(['b.org A 1.2.3.4'])
  })

  test('routes of TCP, UDP and TLS are asked for in older versions, too', () => {
    const versions = (['http', 'grpc', 'tls', 'tcp', 'udp'] as const).map((kind) => {
      const source = makeGatewaySource({}, kind)
      return [source.name, source.follows[0].resource.version, ...(source.follows[0].resource.olderVersions ?? [])]
    })
    expect(versions).toEqual([
      ['gateway-httproute', 'v1'],
      ['gateway-grpcroute', 'v1'],
      ['gateway-tlsroute', 'v1', 'v1alpha3', 'v1alpha2'],
      ['gateway-tcproute', 'v1', 'v1alpha2'],
      ['gateway-udproute', 'v1', 'v1alpha2'],
    ])
  })
})
