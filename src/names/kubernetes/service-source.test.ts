import { describe, expect, it } from 'vitest'
import { resourceName } from '../../kube/resource.ts'
import { serviceSource } from './service-source.ts'
import { DEFAULT_SETTINGS, type SourceSettings } from './source-settings.ts'
import { nameTemplates } from './template/name-templates.ts'
import { apply, applyAll, endpointText, type TestObject } from './testing.ts'

const PREFIX = 'external-dns.kubernetes.io/'
const make = (settings: Partial<SourceSettings> = {}) => {
  const all = { ...DEFAULT_SETTINGS, ...settings }
  return serviceSource(all, nameTemplates(all))
}
type Source = ReturnType<typeof make>

const annotations = (given: Record<string, string>) => ({
  annotations: Object.fromEntries(Object.entries(given).map(([name, value]) => [PREFIX + name, value])),
})
const service = (name: string, spec: object, annotated: Record<string, string> = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Service' },
  metadata: { name, namespace: 'default', ...annotations({ hostname: `${name}.org`, ...annotated }) },
  spec,
})
const HEADLESS = { type: 'ClusterIP', clusterIP: 'None', selector: { app: 'db' } }
const NODE_PORT = { type: 'NodePort', selector: { app: 'db' }, ports: [{ port: 80, nodePort: 30080 }] }
const LOCAL = { ...NODE_PORT, externalTrafficPolicy: 'Local' }

const pod = (name: string, parts: { spec?: object; status?: object; metadata?: object } = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name, namespace: 'default', labels: { app: 'db' }, ...parts.metadata },
  ...{ spec: { nodeName: 'n1', ...parts.spec } },
  status: { phase: 'Running', hostIP: '192.0.2.10', conditions: [{ type: 'Ready', status: 'True' }], ...parts.status },
})
const slice = (name: string, of: string, pods: Record<string, string>, parts: object = {}) => ({
  ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
  metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': of } },
  ...{ addressType: 'IPv4' },
  endpoints: Object.entries(pods).map(([podName, address]) => ({
    ...{ addresses: [address], conditions: { ready: true }, targetRef: { kind: 'Pod', name: podName } },
    ...parts,
  })),
})
const node = (name: string, addresses: Record<string, string>, spec: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec },
  ...{ status: { addresses: Object.entries(addresses).map(([address, type]) => ({ address, type })) } },
})

const texts = (source: Source, name: string) => source.endpoints(`service/default/${name}`).endpoints.map(endpointText)
const problems = (source: Source, name: string) => source.endpoints(`service/default/${name}`).problems

describe('a headless service', () => {
  const db = service('db', HEADLESS)

  it('has its ready pods behind its name, and each with a host name below it', () => {
    const source = make()
    applyAll(source, [
      db,
      slice('db-1', 'db', { 'db-0': '10.1.0.1', 'db-1': '10.1.0.2' }),
      slice('db-2', 'db', { 'db-2': '10.1.0.3' }, { conditions: { ready: false } }),
      slice('other', 'cache', { 'db-0': '10.1.0.9' }),
      ...[pod('db-0', { spec: { hostname: 'db-0' } }), pod('db-1'), pod('db-2')],
    ])
    expect(texts(source, 'db')).toEqual(['db.org A 10.1.0.1 10.1.0.2', 'db-0.db.org A 10.1.0.1'])
  })

  it('has pods that are not ready where the service or a setting says so', () => {
    const objects = [slice('db-1', 'db', { 'db-0': '10.1.0.1' }, { conditions: { ready: false } }), pod('db-0')]
    for (const [settings, spec] of [
      [{}, { publishNotReadyAddresses: true }],
      [{ alwaysPublishNotReadyAddresses: true }, {}],
    ] as const) {
      const source = make(settings)
      applyAll(source, [service('db', { ...HEADLESS, ...spec }), ...objects])
      expect(texts(source, 'db')).toEqual(['db.org A 10.1.0.1'])
    }
  })

  it('leaves out pods that it does not select, endpoints that are no pods, and slices of names', () => {
    const source = make()
    applyAll(source, [
      db,
      slice('db-1', 'db', { stranger: '10.1.0.1', 'db-0': '10.1.0.2' }),
      slice('db-2', 'db', { 'db-0': '10.1.0.3' }, { targetRef: { kind: 'Node', name: 'db-0' } }),
      { ...slice('db-3', 'db', { 'db-0': 'db.example.org' }), addressType: 'FQDN' },
      ...[pod('stranger', { metadata: { labels: { app: 'web' } } }), pod('db-0')],
    ])
    expect(texts(source, 'db')).toEqual(['db.org A 10.1.0.2'])
  })

  it('leads to hosts, nodes, or annotated targets where that is asked for', () => {
    const objects = [
      slice('db-1', 'db', { 'db-0': '10.1.0.1', 'db-1': '10.1.0.2' }),
      pod('db-0'),
      pod('db-1', { metadata: annotations({ target: '198.51.100.7' }) }),
      node('n1', { '203.0.113.1': 'ExternalIP', '10.9.0.1': 'InternalIP', '2001:db8::1': 'InternalIP' }),
    ]
    const published = (settings: Partial<SourceSettings>, annotated: Record<string, string>) => {
      const source = make(settings)
      applyAll(source, [service('db', HEADLESS, annotated), ...objects])
      return texts(source, 'db')
    }
    expect(published({}, { 'endpoints-type': 'HostIP' })).toEqual(['db.org A 192.0.2.10 198.51.100.7'])
    expect(published({ publishHostIp: true }, {})).toEqual(['db.org A 192.0.2.10 198.51.100.7'])
    expect(published({}, { 'endpoints-type': 'NodeExternalIP' })).toEqual(['db.org A 198.51.100.7 203.0.113.1'])
    expect(published({ exposeInternalIpv6: true }, { 'endpoints-type': 'NodeExternalIP' })).toEqual([
      'db.org A 198.51.100.7 203.0.113.1',
      'db.org AAAA 2001:db8::1',
    ])
  })

  it('tells of an endpoints-type that is none, or that needs nodes which are not followed', () => {
    const source = make({ serviceTypeFilter: ['ClusterIP'] })
    applyAll(source, [
      service('db', HEADLESS, { 'endpoints-type': 'NodeExternalIP' }),
      service('other', HEADLESS, { 'endpoints-type': 'PodIP' }),
    ])
    expect(problems(source, 'db')).toEqual([
      'Cannot use endpoints-type "NodeExternalIP" of service default/db: nodes are not followed, because the service type filter leaves NodePort out; it has no addresses',
    ])
    expect(problems(source, 'other')).toEqual([
      'Cannot use endpoints-type "PodIP" of service default/other: expected HostIP or NodeExternalIP; the addresses of its pods are used',
    ])
  })
})

describe('a NodePort service', () => {
  const nodes = [
    node('n1', { '203.0.113.1': 'ExternalIP', '10.9.0.1': 'InternalIP' }),
    node('n2', { '10.9.0.2': 'InternalIP', '2001:db8::2': 'InternalIP' }),
    node('n3', { '203.0.113.3': 'ExternalIP' }, { unschedulable: true }),
  ]
  const published = (object: TestObject, more: readonly TestObject[] = [], settings: Partial<SourceSettings> = {}) => {
    const source = make(settings)
    applyAll(source, [object, ...nodes, ...more])
    return texts(source, 'np')
  }
  const PORT = '_np._tcp.np.org SRV 0 50 30080 np.org.'

  it('leads to the external addresses of all nodes that take work, and tells its port', () => {
    expect(published(service('np', NODE_PORT))).toEqual([PORT, 'np.org A 203.0.113.1'])
    expect(published(service('np', NODE_PORT), [], { excludeUnschedulable: false })).toEqual([
      ...[PORT, 'np.org A 203.0.113.1 203.0.113.3'],
    ])
    expect(published(service('np', NODE_PORT), [], { exposeInternalIpv6: true })).toEqual([
      ...[PORT, 'np.org A 203.0.113.1', 'np.org AAAA 2001:db8::2'],
    ])
  })

  it('leads to internal addresses where that is asked for, or there are no others', () => {
    const internal = [PORT, 'np.org A 10.9.0.1 10.9.0.2', 'np.org AAAA 2001:db8::2']
    expect(published(service('np', NODE_PORT, { access: 'private' }))).toEqual(internal)
    expect(published(service('np', NODE_PORT), [node('n1', { '10.9.0.1': 'InternalIP' })])).toEqual(internal)
    expect(published(service('np', NODE_PORT, { access: 'public' }), [node('n1', {})])).toEqual([PORT])
  })

  it('leads to the nodes with the best pods only, when traffic stays local', () => {
    const on = (nodeName: string, parts: object = {}) => pod(`on-${nodeName}`, { spec: { nodeName }, ...parts })
    const unready = { status: { conditions: [{ type: 'Ready', status: 'False' }] } }
    const ending = { metadata: { deletionTimestamp: '2026-11-16T06:00:00Z' } }
    const local = (...pods: TestObject[]) => published(service('np', LOCAL), pods).slice(1)
    expect(local(on('n1'), on('n2', unready))).toEqual(['np.org A 203.0.113.1'])
    expect(local(on('n1', ending), on('n2'))).toEqual(['np.org A 10.9.0.2', 'np.org AAAA 2001:db8::2'])
    expect(local(on('n1', ending), on('n2', unready))).toEqual(['np.org A 203.0.113.1'])
    expect(local(on('n1', unready))).toEqual(['np.org A 203.0.113.1'])
    expect(local(on('n1', { status: { phase: 'Pending' } }))).toEqual([])
    expect(local(on('n1', { metadata: { labels: { app: 'web' } } }))).toEqual([])
    expect(local(on('n9'))).toEqual([])
    expect(local()).toEqual([])
  })

  it('has no port record with annotated targets, and one with its TTL otherwise', () => {
    expect(published(service('np', NODE_PORT, { target: 'lb.org', ttl: '30' }))).toEqual(['np.org CNAME lb.org ttl=30'])
    const udp = { ...NODE_PORT, ports: [{ nodePort: 30053, protocol: 'UDP' }, { port: 80 }] }
    expect(published(service('np', udp, { ttl: '30', 'set-identifier': 'b' }))[0]).toBe(
      '_np._udp.np.org SRV 0 50 30053 np.org. ttl=30 set=b',
    )
  })

  it('tells of an access that is none, and of a name too long for a port record', () => {
    const long = 's'.repeat(63)
    const source = make()
    applyAll(source, [service(long, NODE_PORT, { hostname: 'np.org', access: 'all' }), ...nodes])
    expect(texts(source, long)).toEqual(['np.org A 203.0.113.1'])
    expect(problems(source, long)).toEqual([
      `Cannot use host name "_${long}._tcp.np.org" of service default/${long}: expected labels of at most 63 bytes; it is left out`,
      `Cannot use access "all" of service default/${long}: expected public or private; public addresses are used if there are any`,
    ])
  })
})

describe('other services', () => {
  const published = (spec: object, annotated: Record<string, string> = {}, settings: Partial<SourceSettings> = {}) => {
    const source = make(settings)
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'lb.org' }] } }
    const object = { ...service('web', spec, annotated), status }
    applyAll(source, [object])
    return texts(source, 'web')
  }

  it('of type LoadBalancer lead to the load balancer or their external addresses, internal names into the cluster', () => {
    const spec = { type: 'LoadBalancer', clusterIP: '10.0.0.1' }
    expect(published(spec, { 'internal-hostname': 'in.org' })).toEqual([
      ...['web.org A 192.0.2.1', 'web.org CNAME lb.org', 'in.org A 10.0.0.1'],
    ])
    expect(published({ ...spec, externalIPs: ['198.51.100.1'] })).toEqual(['web.org A 198.51.100.1'])
  })

  it('of type ClusterIP have internal names only, unless they are published', () => {
    const spec = { type: 'ClusterIP', clusterIP: '10.0.0.1' }
    expect(published(spec, { 'internal-hostname': 'in.org' })).toEqual(['in.org A 10.0.0.1'])
    expect(published(spec, {}, { publishInternalServices: true })).toEqual(['web.org A 10.0.0.1'])
  })

  it('of type ExternalName are aliases', () => {
    expect(published({ type: 'ExternalName', externalName: 'far.org' })).toEqual(['web.org CNAME far.org'])
    expect(published({ type: 'ExternalName' })).toEqual([])
  })

  it('have names of templates, and pairs of templates before them', () => {
    const spec = { type: 'LoadBalancer' }
    const fqdnTemplates = ['{{.Name}}.tpl.org']
    const fqdnTargetTemplates = ['{{.Name}}.pair.org:192.0.2.9']
    const none = { hostname: '' }
    expect(published(spec, none, { fqdnTemplates })).toEqual(['web.tpl.org A 192.0.2.1', 'web.tpl.org CNAME lb.org'])
    expect(published(spec, none, { fqdnTemplates, fqdnTargetTemplates })).toEqual(['web.pair.org A 192.0.2.9'])
    expect(published(spec, {}, { fqdnTemplates, fqdnTargetTemplates, combineFqdnAnnotation: true })).toEqual([
      ...['web.org A 192.0.2.1', 'web.org CNAME lb.org', 'web.pair.org A 192.0.2.9'],
      ...['web.tpl.org A 192.0.2.1', 'web.tpl.org CNAME lb.org'],
    ])
  })
})

describe('what a service source follows', () => {
  const followed = (settings: Partial<SourceSettings>) =>
    make(settings).follows.map(({ resource, namespace = '*', labelSelector = '' }) =>
      [resourceName(resource), namespace, labelSelector].join(' ').trim(),
    )

  it('is as little as the types of services allow', () => {
    const slices = 'endpointslices.discovery.k8s.io * kubernetes.io/service-name'
    expect(followed({})).toEqual(['services *', slices, 'pods *', 'nodes *'])
    expect(followed({ serviceTypeFilter: ['NodePort'] })).toEqual(['services *', 'pods *', 'nodes *'])
    expect(followed({ serviceTypeFilter: ['ClusterIP'] })).toEqual(['services *', slices, 'pods *'])
    expect(followed({ serviceTypeFilter: ['LoadBalancer', 'ExternalName'] })).toEqual(['services *'])
    expect(followed({ serviceTypeFilter: ['LoadBalancer', ''] })).toEqual(followed({}))
  })

  it('is within the namespace; labels select services only', () => {
    expect(followed({ namespace: 'apps', labelFilter: 'app=web' })).toEqual([
      'services apps app=web',
      'endpointslices.discovery.k8s.io apps kubernetes.io/service-name',
      ...['pods apps', 'nodes *'],
    ])
  })

  it('is refused for a type there is not', () => {
    expect(() => make({ serviceTypeFilter: ['Loadbalancer'] })).toThrow(
      'Cannot use service type "Loadbalancer": there is no such type; expected ClusterIP, ExternalName, LoadBalancer or NodePort',
    )
  })
})

describe('a change behind services', () => {
  const world = () => {
    const source = make()
    applyAll(source, [
      ...[service('db', HEADLESS), service('cache', { ...HEADLESS, selector: { app: 'cache' } })],
      ...[service('np', NODE_PORT), service('local', LOCAL), service('lb', { type: 'LoadBalancer' })],
      service('local-web', { ...LOCAL, selector: { app: 'web' } }),
      ...[slice('db-1', 'db', { 'db-0': '10.1.0.1' }), slice('lb-1', 'lb', { 'db-0': '10.1.0.1' })],
      ...[pod('db-0'), pod('db-9'), node('n1', { '203.0.113.1': 'ExternalIP' }), node('n2', {})],
    ])
    return source
  }
  const roots = (...names: string[]) => names.map((name) => `service/default/${name}`)

  it('of a slice concerns its headless service', () => {
    const source = world()
    const changed = slice('db-1', 'db', { 'db-0': '10.1.0.2' })
    expect(apply(source, 'EndpointSlice', 'default/db-1', changed)).toEqual(roots('db'))
    expect(texts(source, 'db')).toEqual(['db.org A 10.1.0.2'])
    expect(apply(source, 'EndpointSlice', 'default/lb-1', undefined)).toEqual([])
    expect(apply(source, 'EndpointSlice', 'default/db-1', slice('db-1', 'cache', {}))).toEqual(roots('db', 'cache'))
    expect(apply(source, 'EndpointSlice', 'default/db-1', undefined)).toEqual(roots('cache'))
  })

  it('of a pod concerns services that lead to it, and those that select it before or afterwards', () => {
    const source = world()
    const moved = pod('db-0', { spec: { nodeName: 'n2' } })
    expect(apply(source, 'Pod', 'default/db-0', moved)).toEqual(roots('db', 'local'))
    const relabelled = pod('db-9', { metadata: { labels: { app: 'web' } } })
    expect(apply(source, 'Pod', 'default/db-9', relabelled)).toEqual(roots('local', 'local-web'))
    expect(
      apply(source, 'Pod', 'other/db-0', { ...moved, metadata: { ...moved.metadata, namespace: 'other' } }),
    ).toEqual([])
    expect(apply(source, 'Pod', 'default/db-0', undefined)).toEqual(roots('db', 'local'))
  })

  it('of a node concerns services on every node, and those with pods on it', () => {
    const source = world()
    expect(apply(source, 'Node', 'n2', node('n2', { '203.0.113.2': 'ExternalIP' }))).toEqual(roots('np'))
    expect(texts(source, 'np').at(-1)).toBe('np.org A 203.0.113.1 203.0.113.2')
    expect(apply(source, 'Node', 'n1', undefined)).toEqual(roots('np', 'db', 'local'))
    expect(texts(source, 'np').at(-1)).toBe('np.org A 203.0.113.2')
  })

  it('that nobody reads concerns nobody', () => {
    const source = world()
    const beat = pod('db-0', {
      status: { startTime: 'now', conditions: [{ type: 'Ready', status: 'True', probe: 1 }] },
    })
    expect(apply(source, 'Pod', 'default/db-0', beat)).toEqual([])
    const heartbeat = node('n1', { '203.0.113.1': 'ExternalIP', n1: 'Hostname' })
    expect(apply(source, 'Node', 'n1', heartbeat)).toEqual([])
  })
})
