// What a signed zone shows for what does not exist (RFC 4035 section 3.1.3, RFC 5155 section 7.2), whichever way it
// is signed. Every function puts its records into the authority section, each once, and is false without room.

import { TYPE } from '../dns/types.ts'
import { emitOwned, emitSignatures } from './emit.ts'
import { findSet } from './find.ts'
import { NODE, ZONE, ZONE_FLAG } from './layout.ts'
import { coveringNsec, coveringNsecOfWildcard } from './nsec.ts'
import { coveringNsec3, coveringNsec3OfWildcard, matchingNsec3, matchingNsec3OfWildcard } from './nsec3.ts'
import type { Query } from './query.ts'

export function wantsProof(q: Query): boolean {
  return q.dnssecOk && (q.words[(q.zone >> 2) + ZONE.flags] & (ZONE_FLAG.nsec | ZONE_FLAG.nsec3)) !== 0
}

function hasNsec3(q: Query): boolean {
  return (q.words[(q.zone >> 2) + ZONE.flags] & ZONE_FLAG.nsec3) !== 0
}

/** The current name does not exist, nor a wildcard for it; its closest encloser starts at `encloser`. */
export function proveNoName(q: Query, encloser: number): boolean {
  if (!hasNsec3(q)) return emitOf(q, coveringNsec(q)) && emitOf(q, coveringNsecOfWildcard(q, encloser))
  const provable = provableEncloser(q, encloser)
  return proveEncloser(q, provable) && emitOf(q, coveringNsec3OfWildcard(q, provable))
}

/** The node exists without the type; `encloser` is that of the name when the node is a wildcard, else 0. */
export function proveNoType(q: Query, node: number, encloser: number): boolean {
  if (hasNsec3(q)) {
    if (encloser === 0) return proveNoData(q, 0)
    return proveEncloser(q, provableEncloser(q, encloser)) && emitOf(q, matchingNsec3OfWildcard(q, encloser))
  }
  // An empty non-terminal has no NSEC of its own; the one before it says that nothing but longer names follow.
  const empty = q.words[(node >> 2) + NODE.sets] === 0
  if ((encloser > 0 || empty) && !emitOf(q, coveringNsec(q))) return false
  if (!emitOf(q, node)) return false
  return encloser === 0 || !empty || emitOf(q, coveringNsecOfWildcard(q, encloser))
}

/** The delegation at `node`, which starts at `label`, has no DS. */
export function proveNoDs(q: Query, node: number, label: number): boolean {
  return hasNsec3(q) ? proveNoData(q, label) : emitOf(q, node)
}

/** A wildcard stands in for the current name: proof that the name itself does not exist, to be shown after all answers. */
export function oweNoName(q: Query, encloser: number): void {
  if (!wantsProof(q)) return
  const at = q.owedCount++ * 3
  q.owed[at] = hasNsec3(q) ? coveringNsec3(q, encloser - 1) : coveringNsec(q)
  q.owed[at + 1] = q.zone
  q.owed[at + 2] = q.originOffset
}

/** Shows what is owed. */
export function settle(q: Query): boolean {
  if (q.owedCount === 0) return true
  const { zone, originOffset } = q
  let fits = true
  for (let i = 0; fits && i < q.owedCount; i++) {
    q.zone = q.owed[i * 3 + 1]
    q.originOffset = q.owed[i * 3 + 2]
    fits = emitOf(q, q.owed[i * 3])
  }
  q.owedCount = 0
  q.zone = zone
  q.originOffset = originOffset
  return fits
}

/**
 * The label of the closest provable encloser (RFC 5155 section 7.2.1): the nearest ancestor from `label` on that has an
 * NSEC3. Opt-out leaves empty non-terminals above unsigned delegations without one. Its node is left in `provingNode`.
 */
function provableEncloser(q: Query, label: number): number {
  let encloser = label
  q.provingNode = matchingNsec3(q, encloser)
  while (q.provingNode === 0 && encloser < q.zoneLabel) q.provingNode = matchingNsec3(q, ++encloser)
  return encloser
}

/** The encloser that `provableEncloser` found exists, the name one label longer does not or is left out by opt-out. */
function proveEncloser(q: Query, encloser: number): boolean {
  return emitOf(q, q.provingNode) && emitOf(q, coveringNsec3(q, encloser - 1))
}

/** The name's own NSEC3; where opt-out left it without one, its closest provable encloser (RFC 5155 section 7.2.4). */
function proveNoData(q: Query, label: number): boolean {
  const encloser = provableEncloser(q, label)
  return encloser === label ? emitOf(q, q.provingNode) : proveEncloser(q, encloser)
}

/** The NSEC or NSEC3 set of a node. */
function emitOf(q: Query, node: number): boolean {
  if (node === 0) return true
  const rrset = findSet(q, node, TYPE.NSEC) || findSet(q, node, TYPE.NSEC3)
  // The low bit keeps "its proof is in" apart from "its addresses are in".
  if (rrset === 0 || !q.include(node | 1)) return true
  const records = emitOwned(q, rrset, node)
  if (records < 0) return false
  const signatures = emitSignatures(q, rrset, q.ownerOffset)
  if (signatures < 0) return false
  q.authorities += records + signatures
  return true
}
