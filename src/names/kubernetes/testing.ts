// For tests of sources: objects go the way they go in service; and random ones, of so few names that they meet.

import fc from 'fast-check'
import { type KubeObject, objectKey } from '../../kube/resource.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointSource } from './endpoint-source.ts'
import { DEFAULT_SETTINGS, type SourceSettings } from './source-settings.ts'

/** An object as the API has it. */
export type TestObject = KubeObject & { readonly apiVersion: string; readonly kind: string }

/** Tells the source of an object, cut down to what it keeps; undefined: that it is gone. Returns the roots. */
export function apply(source: EndpointSource, kind: string, key: string, object: KubeObject | undefined) {
  const followed = source.follows.find(({ resource }) => resource.kind === kind)
  if (followed === undefined) return []
  return source.apply({ resource: followed.resource, key, object: object && followed.keep(object) })
}

/** The same for objects that are there. Returns the roots, each once. */
export function applyAll(source: EndpointSource, objects: readonly TestObject[]): string[] {
  return [...new Set(objects.flatMap((object) => apply(source, object.kind, objectKey(object.metadata), object)))]
}

/** `web.example.org A 192.0.2.1 192.0.2.2`, with ` ttl=60` and the like where there is one. */
export function endpointText(endpoint: Endpoint): string {
  const { dnsName, recordType, targets, recordTTL, setIdentifier, providerSpecific } = endpoint
  return [
    ...[dnsName, recordType, ...targets],
    ...(recordTTL === undefined ? [] : [`ttl=${recordTTL}`]),
    ...(setIdentifier === undefined ? [] : [`set=${setIdentifier}`]),
    ...providerSpecific.map(({ name, value }) => `${name}=${value}`),
  ].join(' ')
}

const some = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
/** One time in six it is there. */
const rarely = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
/** Five times in six. */
const mostly = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: 1, arbitrary: fc.constant(undefined) }, { weight: 5, arbitrary: value })
/** A record without those that are undefined. */
const fields = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> =>
  fc
    .record(model)
    .map((record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)))
/** As many as may be, where fast-check would prefer few. */
const several = <Value>(value: fc.Arbitrary<Value>, maxLength: number) => fc.array(value, { maxLength, size: 'max' })

const ANNOTATIONS = fc
  .tuple(
    some('external-dns.kubernetes.io/', 'external-dns.alpha.kubernetes.io/'),
    fields({
      hostname: mostly(some('web.org', 'web.org, api.org.')),
      'internal-hostname': rarely(some('in.org', 'web.org')),
      target: rarely(some('192.0.2.9', 'lb.org', '2001:db8::9, lb.org.', '')),
      ttl: rarely(some('60', '1m', 'abc', '0')),
      access: rarely(some('public', 'private')),
      'endpoints-type': rarely(some('HostIP', 'NodeExternalIP')),
      'ingress-hostname-source': rarely(some('annotation-only', 'defined-hosts-only')),
      controller: rarely(some('dns-controller', 'other')),
      'set-identifier': rarely(some('blue')),
      'coredns-group': rarely(some('g')),
      alias: rarely(some('true', 'false')),
    }),
    fields({ 'kubernetes.io/ingress.class': rarely(some('nginx', 'other')) }),
  )
  .map(([prefix, ours, theirs]) => {
    const prefixed = Object.entries(ours).map(([name, value]): [string, unknown] => [prefix + name, value])
    return { ...theirs, ...Object.fromEntries(prefixed) }
  })

const TYPES: Readonly<Record<string, string>> = {
  Ingress: 'networking.k8s.io/v1',
  EndpointSlice: 'discovery.k8s.io/v1',
}

const objectOf = (
  kind: string,
  names: readonly string[],
  parts: fc.Arbitrary<object>,
  metadata: fc.Arbitrary<object> = fc.constant({}),
): fc.Arbitrary<TestObject> =>
  fc.record({ name: some(...names), namespace: some('a', 'b'), parts, metadata }).map((random) => ({
    ...{ apiVersion: TYPES[kind] ?? 'v1', kind },
    metadata: {
      ...{ name: random.name, ...(kind !== 'Node' && { namespace: random.namespace }) },
      ...random.metadata,
    },
    ...random.parts,
  }))

const LABELS = some<Record<string, string>>({ app: 'x' }, { app: 'x', tier: 'y' }, { app: 'z' })
const SELECTOR = some<Record<string, string>>({ app: 'x' }, { app: 'x', tier: 'y' }, { app: 'z' }, {})
const STATUS = several(some<object>({ ip: '192.0.2.1' }, { ip: '2001:db8::1' }, { hostname: 'lb.org' }), 3).map(
  (ingress) => ({ loadBalancer: { ingress } }),
)
const HOST = some('web.org', 'rule.org', '*.org')

const INGRESS = objectOf(
  'Ingress',
  ['i1', 'i2', 'i3'],
  fc.record({
    spec: fields({
      ingressClassName: rarely(some('nginx', 'other')),
      rules: mostly(several(fields({ host: mostly(HOST) }), 2)),
      tls: rarely(several(fields({ hosts: mostly(several(HOST, 2)) }), 2)),
    }),
    status: STATUS,
  }),
  fields({ annotations: mostly(ANNOTATIONS), labels: mostly(LABELS) }),
)

const SERVICE = objectOf(
  'Service',
  ['s1', 's2'],
  fc.record({
    spec: fc
      .tuple(
        some<object>(
          ...[
            { type: 'ClusterIP', clusterIP: 'None' },
            { type: 'ClusterIP', clusterIP: 'None' },
          ],
          ...[
            { type: 'NodePort', clusterIP: '10.0.0.2' },
            { type: 'LoadBalancer', clusterIP: '10.0.0.3' },
          ],
          ...[
            { type: 'ClusterIP', clusterIP: '10.0.0.1' },
            { type: 'ExternalName', externalName: 'far.org' },
          ],
          ...[
            { type: 'NodePort', externalTrafficPolicy: 'Local' },
            { type: 'NodePort', externalTrafficPolicy: 'Local' },
          ],
        ),
        fields({
          externalIPs: rarely(some(['198.51.100.1', '2001:db8::5'])),
          selector: mostly(SELECTOR),
          ports: mostly(
            some([{ port: 80, nodePort: 30080, protocol: 'TCP' }], [{ port: 53, nodePort: 30053, protocol: 'UDP' }]),
          ),
          publishNotReadyAddresses: rarely(fc.boolean()),
        }),
      )
      .map(([type, rest]) => ({ ...rest, ...type })),
    status: STATUS,
  }),
  fields({ annotations: mostly(ANNOTATIONS), labels: mostly(LABELS) }),
)

const POD = objectOf(
  'Pod',
  ['p1', 'p2', 'p3'],
  fc.record({
    spec: fields({ hostname: rarely(some('one', 'two')), nodeName: mostly(some('n1', 'n2', 'n3')) }),
    status: fields({
      phase: some('Running', 'Running', 'Running', 'Pending'),
      hostIP: mostly(some('192.0.2.101', '192.0.2.102')),
      podIP: some('10.1.0.1', '10.1.0.2'),
      conditions: mostly(some([{ type: 'Ready', status: 'True' }], [{ type: 'Ready', status: 'False' }])),
    }),
  }),
  fields({
    annotations: rarely(ANNOTATIONS),
    labels: mostly(LABELS),
    deletionTimestamp: rarely(some('2026-11-16T06:00:00Z')),
  }),
)

const SLICE = objectOf(
  'EndpointSlice',
  ['x1', 'x2', 'x3'],
  fc.record({
    addressType: some('IPv4', 'IPv4', 'IPv4', 'IPv6', 'FQDN'),
    endpoints: several(
      fields({
        addresses: some(['10.1.0.1'], ['10.1.0.2'], ['2001:db8:1::1']),
        conditions: mostly(some<object>({}, { ready: true }, { ready: true }, { ready: false })),
        targetRef: mostly(
          some(...['p1', 'p2', 'p3', 'p4'].map((name) => ({ kind: name === 'p4' ? 'Node' : 'Pod', name }))),
        ),
      }),
      3,
    ),
  }),
  some('s1', 's2', 's3').map((name) => ({ labels: { 'kubernetes.io/service-name': name } })),
)

const NODE = objectOf(
  'Node',
  ['n1', 'n2', 'n3'],
  fc.record({
    spec: fields({ unschedulable: rarely(fc.boolean()) }),
    status: fields({
      addresses: several(
        some(
          ...[
            { type: 'ExternalIP', address: '203.0.113.1' },
            { type: 'ExternalIP', address: '203.0.113.2' },
          ],
          ...[
            { type: 'InternalIP', address: '10.9.0.1' },
            { type: 'InternalIP', address: '2001:db8:9::1' },
          ],
          { type: 'Hostname', address: 'n1' },
        ),
        3,
      ),
    }),
  }),
  fields({ annotations: rarely(ANNOTATIONS), labels: mostly(LABELS) }),
)

export const randomObject: fc.Arbitrary<TestObject> = fc.oneof(INGRESS, SERVICE, SERVICE, POD, POD, SLICE, NODE)

export const randomSettings: fc.Arbitrary<SourceSettings> = fields({
  namespace: rarely(some('a')),
  annotationFilter: rarely(some('kubernetes.io/ingress.class', '!kubernetes.io/ingress.class')),
  labelFilter: rarely(some('app=x')),
  fqdnTemplates: rarely(some(['{{.Name}}.tpl.org', '{{.Name}}.two.org'])),
  fqdnTargetTemplates: rarely(some(['{{.Name}}.pair.org:192.0.2.77'])),
  combineFqdnAnnotation: rarely(fc.boolean()),
  ignoreHostnameAnnotation: rarely(fc.boolean()),
  ignoreIngressTlsSpec: rarely(fc.boolean()),
  ignoreIngressRulesSpec: rarely(fc.boolean()),
  serviceTypeFilter: rarely(some<readonly string[]>(['NodePort'], ['ClusterIP'], ['LoadBalancer', 'ExternalName'])),
  publishInternalServices: rarely(fc.boolean()),
  publishHostIp: rarely(fc.boolean()),
  alwaysPublishNotReadyAddresses: rarely(fc.boolean()),
  exposeInternalIpv6: rarely(fc.boolean()),
  excludeUnschedulable: mostly(fc.boolean()),
}).map((random) => ({ ...DEFAULT_SETTINGS, ...random }))
