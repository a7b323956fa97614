// What a name of a service leads to, which depends on the type of the service.

import type { Endpoint } from '../endpoints/endpoint.ts'
import { usableHostnames, usableTargets } from './hostname-check.ts'
import { endpointsForHostname } from './hostname-endpoints.ts'
import { loadBalancerTargets } from './load-balancer.ts'
import type { NamedService } from './service-named.ts'
import { nodePortRecords, nodePortTargets } from './service-node-port.ts'
import { isHeadless, type Service } from './service-objects.ts'

/** `internal`: to the address within the cluster. */
export function serviceEndpoints(named: NamedService, hostname: string, internal: boolean): readonly Endpoint[] {
  const { service, settings } = named
  const to = (what: string, targets: () => readonly string[]) => endpointsTo(what, targets, hostname, named)
  if (named.annotated.length > 0) return to('annotated', () => named.annotated)
  switch (service.spec?.type) {
    case 'LoadBalancer':
      return internal ? to('cluster', () => clusterAddress(service)) : to('balancer', () => loadBalancer(service))
    case 'ClusterIP':
      if (isHeadless(service)) return headlessEndpoints(hostname, named)
      return internal || settings.publishInternalServices ? to('cluster', () => clusterAddress(service)) : []
    case 'NodePort':
      return [...nodePortRecords(hostname, named), ...to('nodes', () => nodePortTargets(named))]
    case 'ExternalName':
      return to('external', () => externalName(service))
    default:
      return []
  }
}

function endpointsTo(
  what: string,
  targets: () => readonly string[],
  hostname: string,
  { details, problems, shared }: NamedService,
): readonly Endpoint[] {
  const known = shared.get(what) ?? usableTargets(targets(), problems)
  shared.set(what, known)
  return endpointsForHostname(hostname, known, details)
}

/** The service's name for all pods together, and a name below it for each pod that has a host name. */
function headlessEndpoints(hostname: string, named: NamedService): readonly Endpoint[] {
  return [...named.headless()].flatMap(([podName, targets]) => {
    const name = podName === '' ? hostname : `${podName}.${hostname}`
    return usableHostnames([name], named.problems).flatMap((usable) =>
      endpointsTo(`pod ${podName}`, () => targets, usable, named),
    )
  })
}

function clusterAddress({ spec }: Service): readonly string[] {
  const address = spec?.clusterIP ?? ''
  return address === '' || address === 'None' ? [] : [address]
}

function loadBalancer(service: Service): readonly string[] {
  const addresses = service.spec?.externalIPs ?? []
  return addresses.length > 0 ? addresses : loadBalancerTargets(service)
}

function externalName({ spec }: Service): readonly string[] {
  const addresses = spec?.externalIPs ?? []
  if (addresses.length > 0) return addresses
  return (spec?.externalName ?? '') === '' ? [] : [spec?.externalName ?? '']
}
