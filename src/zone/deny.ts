// Negative answers (RFC 2308): the SOA with its negative TTL, and for DNSSEC the NSEC records that prove the point
// (RFC 4035 sections 3.1.3.1, 3.1.3.2 and 3.1.3.4).

import { RCODE } from '../dns/types.ts'
import { emitSet, emitSignatures } from './emit.ts'
import { NODE, ZONE } from './layout.ts'
import { emitCovering, emitCoveringWildcard, emitNsecOf, settle, wantsProof } from './nsec.ts'
import { STEP } from './query.ts'
import type { Query } from './query.ts'

/** The name does not exist; its closest encloser starts at `encloser`. */
export function denyName(q: Query, encloser: number): number {
  q.rcode = RCODE.NXDOMAIN
  if (!emitSoa(q)) return STEP.truncate
  if (wantsProof(q) && !(emitCovering(q) && emitCoveringWildcard(q, encloser))) return STEP.truncate
  return settle(q) ? STEP.done : STEP.truncate
}

/** The name exists, the type does not. */
export function denyType(q: Query, node: number, encloser: number): number {
  if (!emitSoa(q)) return STEP.truncate
  if (wantsProof(q)) {
    // An empty non-terminal has no NSEC of its own; the one before it says that nothing but longer names follow.
    const empty = q.words[(node >> 2) + NODE.sets] === 0
    if (encloser > 0 || empty ? !emitCovering(q) : false) return STEP.truncate
    if (!emitNsecOf(q, node)) return STEP.truncate
    if (encloser > 0 && empty && !emitCoveringWildcard(q, encloser)) return STEP.truncate
  }
  return settle(q) ? STEP.done : STEP.truncate
}

function emitSoa(q: Query): boolean {
  const rrset = q.words[(q.zone >> 2) + ZONE.negative]
  const records = emitSet(q, rrset, q.originOffset)
  if (records < 0) return false
  const signatures = emitSignatures(q, rrset, q.originOffset)
  if (signatures < 0) return false
  q.authorities += records + signatures
  return true
}
