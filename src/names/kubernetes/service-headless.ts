// Names of headless services: all ready pods behind the service's name, and each pod that has a host name below it.

import { annotatedList, readAnnotations } from './annotations.ts'
import { nodeAddresses, publicAddresses } from './node-object.ts'
import { MOST_NAMES, MOST_TARGETS } from './object-limits.ts'
import type { ObjectProblems } from './object-problems.ts'
import type { NamedService } from './service-named.ts'
import { type EndpointSlice, type Pod, podKeyOf, type SliceEndpoint, selectsPod } from './service-objects.ts'
import { serviceTypes } from './service-types.ts'

/** Targets by the names they belong to, which are relative to the service's: `` for its own. */
export type HeadlessTargets = ReadonlyMap<string, readonly string[]>

export function headlessTargets(named: NamedService): HeadlessTargets {
  const { key, service, settings, relations } = named
  const addresses = addressKind(named)
  const withUnready = service.spec?.publishNotReadyAddresses === true || settings.alwaysPublishNotReadyAddresses
  const byHost = new Map<string, string[]>()
  const add = (host: string, targets: readonly string[]) => {
    const known = byHost.get(host)
    if (known === undefined && byHost.size > MOST_NAMES) return
    // One more than counts, so that it is noticed.
    const wanted = targets.slice(0, MOST_TARGETS + 1 - (known?.length ?? 0))
    if (known === undefined) byHost.set(host, wanted)
    else known.push(...wanted)
  }
  for (const slice of relations.slicesOf(key))
    for (const endpoint of slice.endpoints ?? []) {
      if (endpoint.conditions?.ready === false && !withUnready) continue
      if (addresses === 'pod' && slice.addressType !== 'IPv4' && slice.addressType !== 'IPv6') continue
      const pod = podOf(slice, endpoint, named)
      if (pod === undefined) continue
      const targets = podTargets(pod, endpoint, addresses, named)
      add('', targets)
      if ((pod.spec?.hostname ?? '') !== '') add(pod.spec?.hostname ?? '', targets)
    }
  return byHost
}

type AddressKind = 'pod' | 'host' | 'node'

function addressKind({ annotations, settings, problems }: NamedService): AddressKind {
  const otherwise = settings.publishHostIp ? 'host' : 'pod'
  const annotated = annotations.get('endpoints-type')
  switch (annotated) {
    case undefined:
      return otherwise
    case 'HostIP':
      return 'host'
    case 'NodeExternalIP':
      if (!serviceTypes(settings.serviceTypeFilter).needNodes) nodesAreMissing(annotated, problems)
      return 'node'
    default:
      problems.unusable(
        'endpoints-type',
        annotated,
        'expected HostIP or NodeExternalIP',
        `the addresses of its ${otherwise === 'pod' ? 'pods' : 'hosts'} are used`,
      )
      return otherwise
  }
}

function nodesAreMissing(annotated: string, problems: ObjectProblems): void {
  problems.unusable(
    'endpoints-type',
    annotated,
    'nodes are not followed, because the service type filter leaves NodePort out',
    'it has no addresses',
  )
}

function podOf(slice: EndpointSlice, endpoint: SliceEndpoint, { service, relations }: NamedService): Pod | undefined {
  const key = podKeyOf(slice, endpoint)
  const pod = key === undefined ? undefined : relations.pod(key)
  return pod !== undefined && selectsPod(service, pod) ? pod : undefined
}

function podTargets(
  pod: Pod,
  { addresses = [] }: SliceEndpoint,
  kind: AddressKind,
  { settings, relations }: NamedService,
): readonly string[] {
  const annotated = annotatedList(readAnnotations(pod, settings.annotationPrefixes), 'target')
  if (annotated.length > 0) return annotated
  if (kind === 'pod') return addresses.slice(0, 1)
  if (kind === 'host') return pod.status?.hostIP ? [pod.status.hostIP] : []
  const node = relations.node(pod.spec?.nodeName ?? '')
  return node === undefined ? [] : publicAddresses(nodeAddresses([node]), settings)
}
