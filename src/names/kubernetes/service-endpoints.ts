// What a name of a service leads to, which depends on the type of the service.

import type { Endpoint } from '../endpoints/endpoint.ts'
import { annotatedList } from './annotations.ts'
import { usableHostnames, usableTargets } from './hostname-check.ts'
import { endpointsForHostname } from './hostname-endpoints.ts'
import { loadBalancerTargets } from './load-balancer.ts'
import { headlessTargets } from './service-headless.ts'
import type { NamedService } from './service-named.ts'
import { nodePortRecords, nodePortTargets } from './service-node-port.ts'
import { isHeadless, type Service } from './service-objects.ts'

/** `internal`: to the address within the cluster. */
export function serviceEndpoints(named: NamedService, hostname: string, internal: boolean): readonly Endpoint[] {
  const { service, annotations, settings } = named
  const annotated = annotatedList(annotations, 'target')
  if (annotated.length > 0) return endpointsTo(annotated, hostname, named)
  switch (service.spec?.type) {
    case 'LoadBalancer':
      return endpointsTo(internal ? clusterAddress(service) : loadBalancer(service), hostname, named)
    case 'ClusterIP':
      if (isHeadless(service)) return headlessEndpoints(hostname, named)
      return internal || settings.publishInternalServices ? endpointsTo(clusterAddress(service), hostname, named) : []
    case 'NodePort':
      return [...nodePortRecords(hostname, named), ...endpointsTo(nodePortTargets(named), hostname, named)]
    case 'ExternalName':
      return endpointsTo(externalName(service), hostname, named)
    default:
      return []
  }
}

function endpointsTo(
  targets: readonly string[],
  hostname: string,
  { details, problems }: NamedService,
): readonly Endpoint[] {
  return endpointsForHostname(hostname, usableTargets(targets, problems), details)
}

/** The service's name for all pods together, and a name below it for each pod that has a host name. */
function headlessEndpoints(hostname: string, named: NamedService): readonly Endpoint[] {
  return [...headlessTargets(named)].flatMap(([podName, targets]) => {
    const name = podName === '' ? hostname : `${podName}.${hostname}`
    return usableHostnames([name], named.problems).flatMap((usable) => endpointsTo(targets, usable, named))
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
