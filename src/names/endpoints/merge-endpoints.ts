// Endpoints that say the same about a name become one with all their targets, as when several pods stand behind it. The
// first of them gives everything else, and its place in the order.

import type { Endpoint } from './endpoint.ts'

export function mergeEndpoints(endpoints: readonly Endpoint[]): Endpoint[] {
  const groups = Map.groupBy(
    endpoints.filter((endpoint) => !isAlias(endpoint) || endpoint.targets.length > 0),
    mergeKey,
  )
  return Array.from(groups.values(), (group) => ({
    ...group[0],
    targets: [...new Set(group.flatMap(({ targets }) => targets))].toSorted(),
  }))
}

/** A name has one alias: two of them stay apart, for the plan to choose. */
function mergeKey(endpoint: Endpoint): string {
  const { dnsName, recordType, setIdentifier = '', recordTTL = 0, targets } = endpoint
  return JSON.stringify([dnsName, recordType, setIdentifier, recordTTL, isAlias(endpoint) ? targets[0] : ''])
}

function isAlias({ recordType }: Endpoint): boolean {
  return recordType === 'CNAME' || recordType === 'DNAME'
}
