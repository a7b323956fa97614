// Negative answers (RFC 2308): the SOA with its negative TTL, and for DNSSEC the records that prove the point.

import { RCODE } from '../dns/types.ts'
import { emitSigned } from './emit.ts'
import { ZONE } from './layout.ts'
import { proveNoName, proveNoType, settle, wantsProof } from './proof.ts'
import { STEP } from './query.ts'
import type { Query } from './query.ts'

/** The name does not exist; its closest encloser starts at `encloser`. */
export function denyName(q: Query, encloser: number): number {
  q.rcode = RCODE.NXDOMAIN
  if (!emitNegativeSoa(q)) return STEP.truncate
  if (wantsProof(q) && !proveNoName(q, encloser)) return STEP.truncate
  return settle(q) ? STEP.done : STEP.truncate
}

/** The name exists, the type does not; `encloser` is that of the name when a wildcard stands in for it, else 0. */
export function denyType(q: Query, node: number, encloser: number): number {
  if (!emitNegativeSoa(q)) return STEP.truncate
  if (wantsProof(q) && !proveNoType(q, node, encloser)) return STEP.truncate
  return settle(q) ? STEP.done : STEP.truncate
}

/** The SOA of the zone, alone; false when there is no room. */
export function emitNegativeSoa(q: Query): boolean {
  const rrset = q.words[(q.zone >> 2) + ZONE.negative]
  const records = emitSigned(q, rrset, q.originOffset)
  q.authorities += records
  return records >= 0
}
