// Referrals (RFC 1034 section 4.3.2 step 3b): the delegation's NS set, its DS or the proof that there is none
// (RFC 4035 section 3.1.4), and the addresses of the name servers that are in this zone.

import { TYPE } from '../dns/types.ts'
import { addAddresses } from './additional.ts'
import { emitSet, emitSigned } from './emit.ts'
import { findSet } from './find.ts'
import { proveNoDs, settle, wantsProof } from './proof.ts'
import { STEP } from './query.ts'
import type { Query } from './query.ts'

/** Refers to the servers of the delegation at `node`, an ancestor of the current name that starts at `label`. */
export function refer(q: Query, node: number, label: number): number {
  // Only an alias that led here was answered with authority.
  if (q.chain === 0) q.authoritative = false
  const rrset = findSet(q, node, TYPE.NS)
  const owner = q.suffixOffset(label)
  const blob = q.at
  const records = emitSet(q, rrset, owner)
  if (records < 0) return STEP.truncate
  q.authorities += records
  if (wantsProof(q) && !emitDs(q, node, label, owner)) return STEP.truncate
  if (!settle(q)) return STEP.truncate
  addAddresses(q, rrset, blob, node, node)
  return STEP.done
}

function emitDs(q: Query, node: number, label: number, owner: number): boolean {
  const rrset = findSet(q, node, TYPE.DS)
  if (rrset === 0) return proveNoDs(q, node, label)
  const records = emitSigned(q, rrset, owner)
  q.authorities += records
  return records >= 0
}
