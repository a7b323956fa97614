// Targets of a name become its endpoints, one for each type: addresses A and AAAA, everything else CNAME.

import { type Endpoint, LABEL, type ProviderProperty } from '../endpoints/endpoint.ts'
import { targetType } from '../endpoints/targets.ts'

/** What endpoints of one object have in common. */
export interface EndpointDetails {
  readonly recordTTL?: number
  readonly setIdentifier?: string
  readonly providerSpecific?: readonly ProviderProperty[]
  /** The object they come from: `ingress/default/web`. */
  readonly resource?: string
}

const TYPES = ['A', 'AAAA', 'CNAME'] as const

/** Targets by the type of their records, each once, in order. Names of one object that lead to the same share it. */
export type TargetSet = ReadonlyMap<(typeof TYPES)[number], readonly string[]>

export function targetSet(targets: readonly string[]): TargetSet {
  return Map.groupBy(uniqueTargets(targets), targetType)
}

/** Nothing for a name without targets. */
export function endpointsForHostname(hostname: string, targets: TargetSet, details: EndpointDetails): Endpoint[] {
  return TYPES.flatMap((recordType) => {
    const ofType = targets.get(recordType)
    return ofType === undefined ? [] : [endpointOf(hostname, recordType, ofType, details)]
  })
}

export function endpointOf(
  hostname: string,
  recordType: string,
  targets: readonly string[],
  { recordTTL, setIdentifier, providerSpecific = [], resource }: EndpointDetails,
): Endpoint {
  return {
    dnsName: withoutFinalDot(hostname),
    recordType,
    targets,
    ...(recordTTL !== undefined && { recordTTL }),
    ...(setIdentifier !== undefined && { setIdentifier }),
    labels: resource === undefined ? {} : { [LABEL.resource]: resource },
    providerSpecific,
  }
}

/** In order, so that a status in another order is no change. */
function uniqueTargets(targets: readonly string[]): string[] {
  const unique = new Map<string, string>()
  for (const target of targets.map(withoutFinalDot)) {
    const key = target.toLowerCase()
    if (!unique.has(key)) unique.set(key, target)
  }
  return [...unique.values()].toSorted()
}

function withoutFinalDot(name: string): string {
  return name.replace(/\.$/u, '')
}
