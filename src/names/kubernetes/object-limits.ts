// How much one object may ask for. Whoever may create objects would otherwise decide how much memory and time the names
// of all others have; what exceeds a limit is a problem of that object, and the rest of it counts.

import type { Endpoint } from '../endpoints/endpoint.ts'
import type { RootEndpoints } from './endpoint-source.ts'

export const MOST_NAMES = 1000
/** Of one name. */
export const MOST_TARGETS = 1000
/** Names times targets. */
export const MOST_RECORDS = 10_000
/** Entries of a list that are looked at: somewhat more than count, so that unusable ones do not hide the others. */
export const MOST_LISTED = 2 * MOST_NAMES

/** Endpoints within the limits, in their order, and what is to be said of the others. */
export function limitedEndpoints(root: string, { endpoints, problems }: RootEndpoints): RootEndpoints {
  const names = new Set<string>()
  const kept: Endpoint[] = []
  let records = 0
  const exceeded = new Set<string>()
  for (const endpoint of endpoints) {
    if (!names.has(endpoint.dnsName) && names.size === MOST_NAMES) exceeded.add(`${MOST_NAMES} names`)
    else if (records + Math.min(endpoint.targets.length, MOST_TARGETS) > MOST_RECORDS)
      exceeded.add(`${MOST_RECORDS} records`)
    else {
      const { targets } = endpoint
      if (targets.length > MOST_TARGETS) exceeded.add(`${MOST_TARGETS} targets of a name`)
      kept.push(targets.length > MOST_TARGETS ? { ...endpoint, targets: targets.slice(0, MOST_TARGETS) } : endpoint)
      names.add(endpoint.dnsName)
      records += Math.min(targets.length, MOST_TARGETS)
    }
  }
  if (exceeded.size === 0) return { endpoints, problems }
  return { endpoints: kept, problems: [tooMuch(root, [...exceeded].join(', ')), ...problems] }
}

export function tooMuch(subject: string, limit: string): string {
  return `Cannot use all of ${subject}: it has more than ${limit}; the rest is left out`
}
