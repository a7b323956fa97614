// Objects of the Gateway API, as far as names come from them. A route names its parents; a Gateway says in the route's
// status whether it took the route.

import type { KubeObject, Resource } from '../../../kube/resource.ts'
import type { SelectorObject } from '../../../kube/selector.ts'
import { keptMetadata, pick } from '../kept-object.ts'

export const GATEWAY_GROUP = 'gateway.networking.k8s.io'

export interface Route extends KubeObject {
  readonly spec?: {
    readonly parentRefs?: readonly ParentReference[]
    /** Routes of TCP and UDP have none. */
    readonly hostnames?: readonly string[]
  }
  readonly status?: { readonly parents?: readonly RouteParent[] }
}

/** What a parent says of a route. */
export interface RouteParent {
  readonly parentRef: ParentReference
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
}

export interface ParentReference {
  /** Gateways unless given. */
  readonly group?: string
  readonly kind?: string
  /** The route's own unless given. */
  readonly namespace?: string
  readonly name: string
  /** The name of a listener. */
  readonly sectionName?: string
  readonly port?: number
}

export interface Gateway extends KubeObject {
  readonly spec?: { readonly listeners?: readonly Listener[] }
  readonly status?: { readonly addresses?: readonly { readonly value?: string }[] }
}

export interface Listener {
  readonly name: string
  /** Everything unless given. */
  readonly hostname?: string
  readonly port: number
  readonly protocol: string
  readonly allowedRoutes?: {
    readonly namespaces?: { readonly from?: string; readonly selector?: SelectorObject }
    readonly kinds?: readonly { readonly group?: string; readonly kind: string }[]
  }
}

export const GATEWAYS: Resource = { ...ofGroup('gateways', 'Gateway') }
export const NAMESPACES: Resource = {
  ...{ group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false },
}

export type RouteKind = 'http' | 'grpc' | 'tls' | 'tcp' | 'udp'

/** With the protocol that listeners must have; those of TLS and of TCP came to v1 later. */
export const ROUTES: Readonly<Record<RouteKind, { readonly resource: Resource; readonly protocol: string }>> = {
  http: { resource: ofGroup('httproutes', 'HTTPRoute'), protocol: 'HTTP' },
  grpc: { resource: ofGroup('grpcroutes', 'GRPCRoute'), protocol: 'HTTPS' },
  tls: { resource: ofGroup('tlsroutes', 'TLSRoute', ['v1alpha3', 'v1alpha2']), protocol: 'TLS' },
  tcp: { resource: ofGroup('tcproutes', 'TCPRoute', ['v1alpha2']), protocol: 'TCP' },
  udp: { resource: ofGroup('udproutes', 'UDPRoute', ['v1alpha2']), protocol: 'UDP' },
}

function ofGroup(plural: string, kind: string, olderVersions?: readonly string[]): Resource {
  return {
    ...{ group: GATEWAY_GROUP, version: 'v1', plural, kind, namespaced: true },
    ...(olderVersions !== undefined && { olderVersions }),
  }
}

export function keptRoute({ spec, status }: Route): Omit<Route, 'metadata'> {
  const parents = (status?.parents ?? []).map(({ parentRef, conditions = [] }) => ({
    parentRef,
    conditions: conditions.filter(({ type }) => type === 'Accepted').map((each) => pick(each, ['type', 'status'])),
  }))
  return { spec: pick(spec, ['parentRefs', 'hostnames']), status: { parents } } as Omit<Route, 'metadata'>
}

export function keptGateway(object: KubeObject, prefixes: readonly string[]): KubeObject {
  const { metadata, spec, status } = object as Gateway
  const listeners = (spec?.listeners ?? []).map((listener) =>
    pick(listener, ['name', 'hostname', 'port', 'protocol', 'allowedRoutes']),
  )
  const kept = {
    metadata: keptMetadata(metadata, (key) => prefixes.some((prefix) => key.startsWith(prefix))),
    spec: { listeners },
    status: pick(status, ['addresses']),
  }
  return kept
}

export function keptNamespace({ metadata }: KubeObject): KubeObject {
  return { metadata: { name: metadata.name, ...pick(metadata, ['labels']) } }
}
