// Kubernetes objects of the scenarios, as short as can be, and putting them into a cluster with their status.

import type { KubeCluster } from '../../support/kube-cluster.ts'

export interface TestObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec?: object
  /** Set as a controller would. */
  readonly status?: object
  readonly [key: string]: unknown
}

const PLURALS: Readonly<Record<string, string>> = {
  ...{ Ingress: 'ingresses', Service: 'services', Pod: 'pods', Node: 'nodes', EndpointSlice: 'endpointslices' },
  ...{ Gateway: 'gateways', HTTPRoute: 'httproutes', TLSRoute: 'tlsroutes', DNSEndpoint: 'dnsendpoints' },
  VirtualMachineInstance: 'virtualmachineinstances',
}

/** Objects without a namespace that belong into one get this one. */
export async function applyObjects(
  cluster: KubeCluster,
  objects: readonly TestObject[],
  namespace: string,
): Promise<void> {
  for (const { status, ...object } of objects) {
    const path = pathOf(object, namespace)
    const query = '?fieldManager=side-by-side&force=true'
    await cluster.request('PATCH', path + query, object, 'application/apply-patch+yaml')
    if (status !== undefined) await cluster.request('PATCH', `${path}/status`, { status })
  }
}

export async function removeObjects(
  cluster: KubeCluster,
  objects: readonly TestObject[],
  namespace: string,
): Promise<void> {
  for (const object of objects) await cluster.request('DELETE', `${pathOf(object, namespace)}?gracePeriodSeconds=0`)
}

export async function createNamespace(cluster: KubeCluster, name: string): Promise<void> {
  await cluster.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
}

function pathOf({ apiVersion, kind, metadata }: TestObject, namespace: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const place = kind === 'Node' ? root : `${root}/namespaces/${metadata.namespace ?? namespace}`
  return `${place}/${PLURALS[kind]}/${metadata.name}`
}

type Annotations = Readonly<Record<string, string>>

interface IngressOptions {
  readonly hosts?: readonly string[]
  readonly tls?: readonly string[]
  /** Addresses and names that its controller has given it. */
  readonly at?: readonly string[]
  readonly annotations?: Annotations
  readonly labels?: Annotations
  readonly class?: string
}

export function ingress(name: string, options: IngressOptions): TestObject {
  const { hosts = [], tls = [], at = ['192.0.2.1'], annotations = {}, labels = {} } = options
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name, annotations, labels },
    spec: {
      ...(options.class !== undefined && { ingressClassName: options.class }),
      ...(hosts.length === 0 && { defaultBackend: { service: { name, port: { number: 80 } } } }),
      rules: hosts.map((host) => ({ host })),
      ...(tls.length > 0 && { tls: [{ hosts: tls }] }),
    },
    status: { loadBalancer: { ingress: at.map(loadBalancer) } },
  }
}

export function service(name: string, spec: object, annotations: Annotations, at?: readonly string[]): TestObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, annotations },
    spec: { ports: [{ name: 'web', port: 80, protocol: 'TCP' }], ...spec },
    ...(at !== undefined && { status: { loadBalancer: { ingress: at.map(loadBalancer) } } }),
  }
}

export function pod(name: string, ip: string, spec: object = {}): TestObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'db' } },
    spec: { containers: [{ name: 'main', image: 'none' }], nodeName: 'node-a', ...spec },
    status: {
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      hostIP: '10.9.0.1',
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  }
}

export function endpointSlice(service: string, pods: readonly (readonly [name: string, ip: string])[]): TestObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${service}-slice`, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    ports: [{ name: 'web', port: 80, protocol: 'TCP' }],
    endpoints: pods.map(([name, ip]) => ({
      addresses: [ip],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', name },
    })),
  }
}

export function node(name: string, external: string, internal: string, annotations: Annotations = {}): TestObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, annotations },
    status: {
      addresses: [
        { type: 'ExternalIP', address: external },
        { type: 'InternalIP', address: internal },
      ],
    },
  }
}

interface DnsEndpointRecord {
  readonly dnsName: string
  readonly recordType: string
  readonly targets: readonly string[]
  readonly recordTTL?: number
  readonly providerSpecific?: readonly { readonly name: string; readonly value: string }[]
}

export function dnsEndpoint(name: string, ...endpoints: readonly DnsEndpointRecord[]): TestObject {
  return {
    apiVersion: 'externaldns.k8s.io/v1alpha1',
    kind: 'DNSEndpoint',
    metadata: { name },
    spec: { endpoints },
  }
}

export function gateway(name: string, at: readonly string[], annotations: Annotations = {}): TestObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name, annotations },
    spec: {
      gatewayClassName: 'test',
      listeners: [
        { name: 'web', port: 80, protocol: 'HTTP' },
        { name: 'shop', port: 81, protocol: 'HTTP', hostname: '*.shop.example.org' },
      ],
    },
    status: {
      addresses: at.map((value) => ({ type: value.includes('example') ? 'Hostname' : 'IPAddress', value })),
    },
  }
}

export function httpRoute(
  name: string,
  to: string,
  hostnames: readonly string[],
  annotations: Annotations = {},
): TestObject {
  const parent = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: to }
  const accepted = { type: 'Accepted', status: 'True', reason: 'Accepted', message: '' }
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name, annotations },
    spec: { parentRefs: [parent], hostnames },
    status: {
      parents: [
        {
          parentRef: parent,
          controllerName: 'example.org/test',
          conditions: [{ ...accepted, lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 }],
        },
      ],
    },
  }
}

function loadBalancer(at: string): object {
  return /^[\d.]+$|:/u.test(at) ? { ip: at } : { hostname: at }
}
