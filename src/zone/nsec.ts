// Proofs from NSEC records (RFC 4035 section 3.1.3): the zone lists its NSEC owners in canonical order, and a proof
// that a name does not exist is the NSEC of the last owner before it.

import { TYPE } from '../dns/types.ts'
import { emitOwned, emitSignatures } from './emit.ts'
import { findSet } from './find.ts'
import { NODE, ZONE, ZONE_FLAG } from './layout.ts'
import type { Query } from './query.ts'

export function wantsProof(q: Query): boolean {
  return q.dnssecOk && (q.words[(q.zone >> 2) + ZONE.flags] & ZONE_FLAG.signed) !== 0
}

/** The node's own NSEC into the authority section, once. False when there was no room. */
export function emitNsecOf(q: Query, node: number): boolean {
  const rrset = findSet(q, node, TYPE.NSEC)
  // The low bit keeps "NSEC is in" apart from "addresses are in".
  if (rrset === 0 || !q.include(node | 1)) return true
  const records = emitOwned(q, rrset, node)
  if (records < 0) return false
  const signatures = emitSignatures(q, rrset, q.ownerOffset)
  if (signatures < 0) return false
  q.authorities += records + signatures
  return true
}

/** The NSEC that covers the current name: proof that this very name does not exist. */
export function emitCovering(q: Query): boolean {
  return emitNsecOf(q, lastNotAfter(q, q.name, 0))
}

/** The same, later: a wildcard stood in for the current name, and the authority section follows all answers. */
export function oweCovering(q: Query): void {
  if (!wantsProof(q)) return
  const at = q.owedCount++ * 3
  q.owed[at] = lastNotAfter(q, q.name, 0)
  q.owed[at + 1] = q.zone
  q.owed[at + 2] = q.originOffset
}

/** Emits what is owed. False when there was no room. */
export function settle(q: Query): boolean {
  if (q.owedCount === 0) return true
  const { zone, originOffset } = q
  let fits = true
  for (let i = 0; fits && i < q.owedCount; i++) {
    q.zone = q.owed[i * 3 + 1]
    q.originOffset = q.owed[i * 3 + 2]
    fits = emitNsecOf(q, q.owed[i * 3])
  }
  q.owedCount = 0
  q.zone = zone
  q.originOffset = originOffset
  return fits
}

/** The NSEC that covers (or matches) the wildcard below the ancestor at `label`. */
export function emitCoveringWildcard(q: Query, label: number): boolean {
  const { name, nameLength } = q
  const start = q.labelAt[label]
  const wildcard = q.scratchName
  wildcard[0] = 1
  wildcard[1] = 0x2a
  for (let i = start; i < nameLength; i++) wildcard[2 + i - start] = name[i]
  return emitNsecOf(q, lastNotAfter(q, wildcard, 0))
}

/** Last NSEC owner in canonical order that is not after the lower-case name. */
function lastNotAfter(q: Query, name: Uint8Array, start: number): number {
  const { words } = q
  const order = words[(q.zone >> 2) + ZONE.order] >> 2
  let low = 0
  let high = words[order] - 1
  const labels = splitLabels(name, start, q.labelStack)
  while (low < high) {
    const middle = (low + high + 1) >> 1
    const node = words[order + 1 + middle]
    if (compare(q, name, labels, node) >= 0) low = middle
    else high = middle - 1
  }
  return words[order + 1 + low]
}

/** RFC 4034 section 6.1, labels from the root end. The name's label starts are in `labelStack`. */
function compare(q: Query, name: Uint8Array, labels: number, node: number): number {
  const { bytes, labelStack, otherStack } = q
  let i = labels - 1
  let j = splitLabels(bytes, node + NODE.name * 4, otherStack) - 1
  for (; i >= 0 && j >= 0; i--, j--) {
    const a = labelStack[i]
    const b = otherStack[j]
    const shorter = Math.min(name[a], bytes[b])
    for (let k = 1; k <= shorter; k++) {
      const difference = name[a + k] - bytes[b + k]
      if (difference !== 0) return difference
    }
    if (name[a] !== bytes[b]) return name[a] - bytes[b]
  }
  return i - j
}

function splitLabels(bytes: Uint8Array, start: number, stack: Int32Array): number {
  let labels = 0
  for (let at = start; bytes[at] !== 0; at += bytes[at] + 1) stack[labels++] = at
  return labels
}
