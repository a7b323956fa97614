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
const fields = <Fields extends object>(model: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> }) =>
  fc.record(model, { requiredKeys: [] })

const ANNOTATIONS = fc
  .tuple(
    some('external-dns.kubernetes.io/', 'external-dns.alpha.kubernetes.io/'),
    fields({
      hostname: some('web.org', 'web.org, api.org.'),
      'internal-hostname': some('in.org', 'web.org'),
      target: some('192.0.2.9', 'lb.org', '2001:db8::9, lb.org.', ''),
      ttl: some('60', '1m', 'abc', '0'),
      access: some('public', 'private'),
      'endpoints-type': some('HostIP', 'NodeExternalIP'),
      'ingress-hostname-source': some('annotation-only', 'defined-hosts-only'),
      controller: some('dns-controller', 'dns-controller', 'dns-controller', 'other'),
      'set-identifier': some('blue'),
      'coredns-group': some('g'),
      alias: some('true', 'false'),
    }),
    fields({ 'kubernetes.io/ingress.class': some('nginx', 'other') }),
  )
  .map(([prefix, ours, theirs]) => {
    const prefixed = Object.entries(ours).map(([name, value]) => [prefix + name, value])
    return { ...theirs, ...(Object.fromEntries(prefixed) as Record<string, string>) }
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

const LABELS = some<Record<string, string>>({}, { app: 'x' }, { app: 'x', tier: 'y' }, { app: 'z' })
const STATUS = fc
  .array(some<object>({ ip: '192.0.2.1' }, { ip: '2001:db8::1' }, { hostname: 'lb.org' }), { maxLength: 3 })
  .map((ingress) => ({ loadBalancer: { ingress } }))
const HOST = some('web.org', 'rule.org', '*.org')

const INGRESS = objectOf(
  'Ingress',
  ['i1', 'i2', 'i3'],
  fc.record({
    spec: fields({
      ingressClassName: some('nginx', 'other'),
      rules: fc.array(fields({ host: HOST }), { maxLength: 2 }),
      tls: fc.array(fields({ hosts: fc.array(HOST, { maxLength: 2 }) }), { maxLength: 2 }),
    }),
    status: STATUS,
  }),
  fields({ annotations: ANNOTATIONS, labels: LABELS }),
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
            { type: 'ClusterIP', clusterIP: '10.0.0.1' },
          ],
          ...[
            { type: 'NodePort', clusterIP: '10.0.0.2' },
            { type: 'LoadBalancer', clusterIP: '10.0.0.3' },
          ],
          { type: 'ExternalName', externalName: 'far.org' },
          { type: 'NodePort', clusterIP: '10.0.0.4', externalTrafficPolicy: 'Local' },
        ),
        fields({
          externalIPs: some(['198.51.100.1', '2001:db8::5']),
          selector: LABELS,
          ports: some([
            { port: 80, nodePort: 30080, protocol: 'TCP' },
            { port: 53, nodePort: 30053, protocol: 'UDP' },
          ]),
          publishNotReadyAddresses: fc.boolean(),
        }),
      )
      .map(([type, rest]) => ({ ...rest, ...type })),
    status: STATUS,
  }),
  fields({ annotations: ANNOTATIONS, labels: LABELS }),
)

const POD = objectOf(
  'Pod',
  ['p1', 'p2', 'p3'],
  fc.record({
    spec: fields({ hostname: some('one', 'two'), nodeName: some('n1', 'n2', 'n3') }),
    status: fields({
      phase: some('Running', 'Running', 'Pending'),
      hostIP: some('192.0.2.101', '192.0.2.102'),
      podIP: some('10.1.0.1', '10.1.0.2'),
      conditions: some([{ type: 'Ready', status: 'True' }], [{ type: 'Ready', status: 'False' }]),
    }),
  }),
  fields({ annotations: ANNOTATIONS, labels: LABELS, deletionTimestamp: some('2026-11-16T06:00:00Z') }),
)

const SLICE = objectOf(
  'EndpointSlice',
  ['x1', 'x2', 'x3'],
  fc.record({
    addressType: some('IPv4', 'IPv4', 'IPv6', 'FQDN'),
    endpoints: fc.array(
      fields({
        addresses: some(['10.1.0.1'], ['10.1.0.2'], ['2001:db8:1::1']),
        conditions: some<object>({}, { ready: true }, { ready: false }),
        targetRef: some({ kind: 'Pod', name: 'p1' }, { kind: 'Pod', name: 'p2' }, { kind: 'Node', name: 'p3' }),
      }),
      { maxLength: 3 },
    ),
  }),
  some('s1', 's2', 's3').map((name) => ({ labels: { 'kubernetes.io/service-name': name } })),
)

const NODE = objectOf(
  'Node',
  ['n1', 'n2', 'n3'],
  fc.record({
    spec: fields({ unschedulable: fc.boolean() }),
    status: fields({
      addresses: fc.array(
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
        { minLength: 1, maxLength: 3 },
      ),
    }),
  }),
  fields({ annotations: ANNOTATIONS, labels: LABELS }),
)

export const randomObject: fc.Arbitrary<TestObject> = fc.oneof(...[INGRESS, SERVICE, SERVICE, POD, SLICE, NODE])

/** Templates are for whoever tests them: `{ fqdnTemplates: some([], […]) }`. */
export const randomSettings: fc.Arbitrary<SourceSettings> = fields({
  namespace: some('a'),
  annotationFilter: some('kubernetes.io/ingress.class', '!kubernetes.io/ingress.class'),
  labelFilter: some('app=x'),
  fqdnTemplates: some<readonly string[]>([], ['{{.Name}}.tpl.org', '{{.Name}}.{{.Namespace}}.org']),
  fqdnTargetTemplates: some<readonly string[]>([], ['{{.Name}}.pair.org:192.0.2.77']),
  combineFqdnAnnotation: fc.boolean(),
  ignoreHostnameAnnotation: fc.boolean(),
  ignoreIngressTlsSpec: fc.boolean(),
  ignoreIngressRulesSpec: fc.boolean(),
  serviceTypeFilter: some<readonly string[]>([], ['NodePort'], ['ClusterIP'], ['LoadBalancer', 'ExternalName']),
  publishInternalServices: fc.boolean(),
  publishHostIp: fc.boolean(),
  alwaysPublishNotReadyAddresses: fc.boolean(),
  exposeInternalIpv6: fc.boolean(),
  excludeUnschedulable: fc.boolean(),
}).map((random) => ({ ...DEFAULT_SETTINGS, ...random }))
