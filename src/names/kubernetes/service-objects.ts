// Services, and what stands behind them: slices of endpoints and pods. Only the fields that names come from.

import type { KubeObject, ObjectMeta, Resource } from '../../kube/resource.ts'
import { keptMetadata, pick } from './kept-object.ts'
import { keptLoadBalancer, type LoadBalancerStatus } from './load-balancer.ts'

export type ServiceType = 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName'

export interface Service extends KubeObject, LoadBalancerStatus {
  readonly spec?: {
    readonly type?: ServiceType
    readonly clusterIP?: string
    readonly externalIPs?: readonly string[]
    readonly externalName?: string
    readonly selector?: Readonly<Record<string, string>>
    readonly ports?: readonly { readonly nodePort?: number; readonly protocol?: string }[]
    readonly publishNotReadyAddresses?: boolean
    readonly externalTrafficPolicy?: string
  }
}

export interface EndpointSlice extends KubeObject {
  readonly addressType?: string
  readonly endpoints?: readonly SliceEndpoint[] | null
}

export interface SliceEndpoint {
  readonly addresses?: readonly string[]
  readonly conditions?: { readonly ready?: boolean }
  readonly targetRef?: { readonly kind?: string; readonly apiVersion?: string; readonly name?: string }
}

export interface Pod extends KubeObject {
  readonly metadata: ObjectMeta & { readonly deletionTimestamp?: string }
  readonly spec?: { readonly hostname?: string; readonly nodeName?: string }
  readonly status?: {
    readonly phase?: string
    readonly hostIP?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

export const SERVICES: Resource = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true }
export const PODS: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }
export const ENDPOINT_SLICES: Resource = {
  ...{ group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', kind: 'EndpointSlice', namespaced: true },
}
/** The label of a slice that names its service. */
export const SERVICE_NAME = 'kubernetes.io/service-name'

export function isHeadless({ spec }: Service): boolean {
  return spec?.type === 'ClusterIP' && spec.clusterIP === 'None'
}

/** A node port that only nodes with pods of the service serve. */
export function isLocalNodePort({ spec }: Service): boolean {
  return spec?.type === 'NodePort' && spec.externalTrafficPolicy === 'Local'
}

/** A service without a selector selects every pod of its namespace. */
export function selectsPod({ spec }: Service, { metadata }: Pod): boolean {
  return Object.entries(spec?.selector ?? {}).every(([key, value]) => metadata.labels?.[key] === value)
}

/** Undefined for what is no pod. */
export function podKeyOf({ metadata }: EndpointSlice, { targetRef }: SliceEndpoint): string | undefined {
  if (targetRef?.kind !== 'Pod' || (targetRef.apiVersion ?? '') !== '') return undefined
  return `${metadata.namespace}/${targetRef.name}`
}

export function serviceKeyOf({ metadata }: EndpointSlice): string | undefined {
  const name = metadata.labels?.[SERVICE_NAME]
  return name === undefined ? undefined : `${metadata.namespace}/${name}`
}

export function keptServiceParts(service: Service): Omit<Service, 'metadata'> {
  const { ports = [], ...spec } = service.spec ?? {}
  return {
    spec: {
      ...pick(spec, ['type', 'clusterIP', 'externalIPs', 'externalName']),
      ...pick(spec, ['selector', 'publishNotReadyAddresses', 'externalTrafficPolicy']),
      ...(spec.type === 'NodePort' && { ports: ports.map((port) => pick(port, ['nodePort', 'protocol'])) }),
    },
    ...keptLoadBalancer(service),
  }
}

export function keepSlice(object: KubeObject): EndpointSlice {
  const slice = object as EndpointSlice
  return {
    metadata: {
      ...keptMetadata(slice.metadata, () => false),
      labels: pick(slice.metadata.labels, [SERVICE_NAME]) as Record<string, string>,
    },
    ...pick(slice, ['addressType']),
    endpoints: (slice.endpoints ?? []).map(({ addresses = [], conditions, targetRef }) => ({
      addresses: addresses.slice(0, 1),
      conditions: pick(conditions, ['ready']),
      ...(targetRef !== undefined && { targetRef: pick(targetRef, ['kind', 'apiVersion', 'name']) }),
    })),
  }
}

/** Of the annotations, only the targets count. */
export function podKeeper(annotationPrefixes: readonly string[]): (object: KubeObject) => Pod {
  const targets = annotationPrefixes.map((prefix) => `${prefix}target`)
  return (object) => {
    const { metadata, spec, status } = object as Pod
    const ready = (status?.conditions ?? []).filter(({ type }) => type === 'Ready')
    return {
      metadata: {
        ...keptMetadata(metadata, (key) => targets.includes(key)),
        ...pick(metadata, ['labels', 'deletionTimestamp']),
      },
      spec: pick(spec, ['hostname', 'nodeName']),
      status: {
        ...pick(status, ['phase', 'hostIP']),
        conditions: ready.map((condition) => ({ type: condition.type, status: condition.status })),
      },
    }
  }
}
