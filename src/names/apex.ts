// SOA and NS of a zone that is made of names alone.

import { parseName } from '../dns/name.ts'
import { TYPE } from '../dns/types.ts'
import type { SourceRecord } from './part.ts'
import { soaOf } from './skydns/soa.ts'

export interface ApexOptions {
  readonly zone: string
  /** How long a denial may be remembered. */
  readonly ttlSeconds: number
  /** Absolute names of the servers of the zone; none are told where there are none. */
  readonly nameservers: readonly string[]
}

const NAMESERVER_TTL_SECONDS = 60
/** The catalog gives the zone its serial. */
const FIRST_SERIAL = 1

export function apexRecords({ zone, ttlSeconds, nameservers }: ApexOptions): SourceRecord[] {
  const [first] = nameservers
  return [
    soaOf(zone, FIRST_SERIAL, { ttlSeconds, ...(first !== undefined && { server: first }) }),
    ...nameservers.map((name) => ({ type: TYPE.NS, ttl: NAMESERVER_TTL_SECONDS, rdata: parseName(name) })),
  ]
}
