// Names of virtual machines as SkyDNS records. CoreDNS takes what stands at and below `ns.dns.<zone>` for the servers of
// the zone, at `apex.dns.<zone>` for its own addresses, and answers for a name with what is below it, but for groups.

import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointSource, RootEndpoints } from '../kubernetes/endpoint-source.ts'
import { endpointsForHostname, targetSet } from '../kubernetes/hostname-endpoints.ts'
import type { ZoneApex } from './zone-apex.ts'

/** The same names, but for those that would speak for the zone. */
export function skydnsSource(source: EndpointSource, zone: string): EndpointSource {
  const reserved = reservedNames(zone)
  return {
    name: source.name,
    follows: source.follows,
    apply: (change) => source.apply(change),
    endpoints(root): RootEndpoints {
      const { endpoints, problems } = source.endpoints(root)
      const isReserved = ({ dnsName }: Endpoint) => reserved.some((name) => `.${dnsName}`.endsWith(`.${name}`))
      const names = new Set(endpoints.filter(isReserved).map(({ dnsName }) => dnsName))
      return {
        endpoints: endpoints.filter((endpoint) => !isReserved(endpoint)).map(inGroup),
        problems: [...problems, ...Array.from(names, (name) => reservedProblem(name, root, zone))],
      }
    },
  }
}

/** SkyDNS has the servers of a zone there. */
export function nameServerEndpoints({ zone, nameServerAddresses, ttlSeconds }: ZoneApex): Endpoint[] {
  const [servers] = reservedNames(zone)
  return endpointsForHostname(servers, targetSet(nameServerAddresses), { recordTTL: ttlSeconds })
}

/** Of the servers of the zone, and of the zone itself. */
function reservedNames(zone: string): [string, string] {
  return [`ns.dns.${zone.toLowerCase()}`, `apex.dns.${zone.toLowerCase()}`]
}

function reservedProblem(name: string, root: string, zone: string): string {
  return `Cannot publish "${name}" of ${root}: in etcd it would speak for the zone "${zone}" itself; give the machine another name or namespace`
}

function inGroup(endpoint: Endpoint): Endpoint {
  return {
    ...endpoint,
    providerSpecific: [...endpoint.providerSpecific, { name: 'coredns/group', value: endpoint.dnsName }],
  }
}
