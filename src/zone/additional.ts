// Addresses that save the client a question: the hosts that NS, MX, SRV, SVCB and HTTPS records point at, from the
// same zone, and the services that SVCB and HTTPS lead to. They are optional, except glue for name servers below the
// delegation itself (RFC 9471).

import { TYPE } from '../dns/types.ts'
import { canPointAt, emitSigned } from './emit.ts'
import { findSet, findTarget, firstTarget, setsFlags } from './find.ts'
import { align4, NODE, RRSET, SETS_FLAG, ZONE, ZONE_FLAG } from './layout.ts'
import type { Query } from './query.ts'

const SOFT_ALIAS = SETS_FLAG.services | SETS_FLAG.cname
const LONGEST_CHAIN = 8
/** How many services after each other are followed. */
const DEEPEST_SERVICE = 4
/** In a mark of what is included: the node's services, not its addresses. */
const SERVICES = 2

/**
 * Adds what the targets of an rrset of `self` ask for; the set was written at message offset `blob`. `cut` is the node of
 * a referral, else 0.
 */
export function addAddresses(q: Query, rrset: number, blob: number, cut: number, self: number): void {
  const { words } = q
  const header = rrset >> 2
  const type = words[header + RRSET.typeCount] & 0xffff
  if ((words[header + RRSET.targetsStride] & 0xffff) === 0 || isAlias(type)) return
  if (isService(type)) q.include(self | SERVICES)
  addTargets(q, rrset, blob, cut, self, q.nameOffset, 0)
}

function addTargets(
  q: Query,
  rrset: number,
  blob: number,
  cut: number,
  self: number,
  selfOwner: number,
  depth: number,
): void {
  const { words } = q
  const header = rrset >> 2
  const type = words[header + RRSET.typeCount] & 0xffff
  const targets = words[header + RRSET.targetsStride] & 0xffff
  let at = firstTarget(q, rrset)
  for (let i = 0; i < targets; i++) {
    const positionLength = words[(at >> 2) + 1]
    const length = positionLength >>> 16
    // RFC 9460 section 2.5.2: "." is the owner itself.
    const isSelf = length === 1 && isService(type)
    const node = isSelf ? self : findTarget(q, words[at >> 2], at + 8, length)
    const owner = isSelf ? selfOwner : blob + (positionLength & 0xffff)
    at = align4(at + 8 + length)
    if (node === 0 || (cut === 0 && isOccluded(q, node)) || !q.include(node)) continue
    if (isService(type)) addServices(q, node, type, owner, depth)
    const glue = cut !== 0 && isBelow(q, node, cut)
    if (isSoftAlias(q, node)) addAliased(q, node, owner)
    else addBoth(q, node, owner, glue)
  }
}

/** The records of the same type that a target has in turn, with what they ask for (RFC 9460 section 4.1). */
function addServices(q: Query, node: number, type: number, owner: number, depth: number): void {
  const rrset = findSet(q, node, type)
  if (rrset === 0 || depth === DEEPEST_SERVICE || !q.include(node | SERVICES)) return
  const blob = q.at
  const records = emitSigned(q, rrset, owner)
  if (records < 0) return
  q.additionals += records
  addTargets(q, rrset, blob, 0, node, owner, depth + 1)
}

function isService(type: number): boolean {
  return type === TYPE.SVCB || type === TYPE.HTTPS
}

/** A service that is an alias (SkyDNS): the aliases, then the addresses at their end. */
function addAliased(q: Query, first: number, firstOwner: number): void {
  const { words } = q
  let node = first
  let owner = firstOwner
  for (let length = 0; length < LONGEST_CHAIN; length++) {
    if (!isSoftAlias(q, node)) return addBoth(q, node, owner, false)
    const rrset = findSet(q, node, TYPE.CNAME)
    const blob = q.at
    const records = emitSigned(q, rrset, owner)
    if (records < 0) return
    q.additionals += records
    const target = firstTarget(q, rrset)
    const positionLength = words[(target >> 2) + 1]
    node = findTarget(q, words[target >> 2], target + 8, positionLength >>> 16)
    owner = blob + (positionLength & 0xffff)
    if (node === 0 || !canPointAt(owner) || !q.include(node)) return
  }
}

function isSoftAlias(q: Query, node: number): boolean {
  return (setsFlags(q, node) & SOFT_ALIAS) === SOFT_ALIAS && !hasAddress(q, node)
}

export function hasAddress(q: Query, node: number): boolean {
  return findSet(q, node, TYPE.A) !== 0 || findSet(q, node, TYPE.AAAA) !== 0
}

function addBoth(q: Query, node: number, owner: number, glue: boolean): void {
  addAddress(q, node, TYPE.A, owner, glue)
  addAddress(q, node, TYPE.AAAA, owner, glue)
}

/** An alias lists its target to be followed; somebody who asks for the alias itself wants no more. */
function isAlias(type: number): boolean {
  return type === TYPE.CNAME || type === TYPE.DNAME
}

function addAddress(q: Query, node: number, type: number, owner: number, glue: boolean): void {
  const rrset = findSet(q, node, type)
  if (rrset === 0) return
  const records = emitSigned(q, rrset, owner)
  if (records >= 0) q.additionals += records
  else if (glue) q.truncated = true
}

/** Whether a delegation or DNAME stands above the node. */
function isOccluded(q: Query, node: number): boolean {
  const { words } = q
  if ((words[(q.zone >> 2) + ZONE.flags] & ZONE_FLAG.cuts) === 0) return false
  if ((setsFlags(q, node) & SETS_FLAG.cut) !== 0) return true
  for (let at = words[(node >> 2) + NODE.parent]; at !== 0; at = words[(at >> 2) + NODE.parent])
    if ((setsFlags(q, at) & (SETS_FLAG.cut | SETS_FLAG.dname)) !== 0) return true
  return false
}

function isBelow(q: Query, node: number, ancestor: number): boolean {
  for (let at = node; at !== 0; at = q.words[(at >> 2) + NODE.parent]) if (at === ancestor) return true
  return false
}
