// The answer for one name in one zone: RFC 1034 section 4.3.2 with wildcards (RFC 4592) and DNAME (RFC 6672).

import { RCODE, TYPE } from '../dns/types.ts'
import { addAddresses, hasAddress } from './additional.ts'
import { ALIAS, followCname, followDname } from './alias.ts'
import { answerByKind } from './any.ts'
import { denyName, denyType } from './deny.ts'
import { emitSigned } from './emit.ts'
import { findNode, findSet, setsFlags } from './find.ts'
import { NODE, SETS_FLAG, ZONE, ZONE_FLAG } from './layout.ts'
import { oweNoName, settle } from './proof.ts'
import { STEP } from './query.ts'
import type { Query, View } from './query.ts'
import { fallsThrough } from './fallthrough.ts'
import { refer } from './refer.ts'

/** One name in one zone (RFC 1034 section 4.3.2, RFC 4592, RFC 6672). */
export function answerName(q: Query, view: View): number {
  const { words } = q
  const zoneFlags = words[(q.zone >> 2) + ZONE.flags]
  if ((zoneFlags & ZONE_FLAG.searches) !== 0 && view.searches && q.chain === 0 && searches(q)) return STEP.search
  let label = 0
  let node = findNode(q, 0)
  // The apex is always there, so this ends at the latest with it.
  while (node === 0 && label < q.zoneLabel) node = findNode(q, ++label)
  if ((zoneFlags & ZONE_FLAG.cuts) !== 0) {
    const top = topmostCut(q, node, label)
    if (top !== 0) {
      if ((setsFlags(q, top) & SETS_FLAG.cut) !== 0) return refer(q, top, q.cutLabel)
      return afterAlias(q, followDname(q, top, q.cutLabel))
    }
  }
  if (label === 0) return answerNode(q, view, node, 0)
  const wildcard = words[(node >> 2) + NODE.wildcard]
  if (wildcard !== 0) return answerNode(q, view, wildcard, label)
  if ((zoneFlags & ZONE_FLAG.fallthrough) === 0 || q.chain > 0 || !fallsThrough(q)) return denyName(q, label)
  q.encloserLabel = label
  return STEP.elsewhere
}

/** Whether a label below the zone's origin is `*` or `any`. */
function searches(q: Query): boolean {
  const { name, labelAt } = q
  for (let label = 0; label < q.zoneLabel; label++) {
    const at = labelAt[label]
    if (name[at] === 1 && name[at + 1] === 0x2a) return true
    if (name[at] === 3 && name[at + 1] === 0x61 && name[at + 2] === 0x6e && name[at + 3] === 0x79) return true
  }
  return false
}

/** The delegation or DNAME nearest to the apex that rules the name, or 0; leaves its label in `cutLabel`. */
function topmostCut(q: Query, closest: number, closestLabel: number): number {
  const { words } = q
  let top = 0
  let label = closestLabel
  for (let node = closest; node !== 0; node = words[(node >> 2) + NODE.parent]) {
    // At the name itself a DNAME does not apply, and a DS belongs to this side of the cut.
    const rules = label > 0 ? SETS_FLAG.cut | SETS_FLAG.dname : q.type === TYPE.DS ? 0 : SETS_FLAG.cut
    if ((setsFlags(q, node) & rules) !== 0) {
      top = node
      q.cutLabel = label
    }
    label++
  }
  return top
}

/** Data at a node; `encloser` is the label of the closest encloser when the node is a wildcard standing in for the name, else 0. */
function answerNode(q: Query, view: View, node: number, encloser: number): number {
  const flags = setsFlags(q, node)
  if ((flags & SETS_FLAG.cname) !== 0 && !standsBesideCname(q.type) && !isServed(q, node, flags)) {
    if (encloser > 0) oweNoName(q, encloser)
    if (q.chain === 0) q.softChain = (flags & SETS_FLAG.services) !== 0
    return afterAlias(q, followCname(q, findSet(q, node, TYPE.CNAME)))
  }
  if (q.type === TYPE.ANY || q.type === TYPE.RRSIG) return answerByKind(q, view, node, encloser)
  const rrset = findSet(q, node, q.type)
  if (rrset === 0) return denyType(q, node, encloser)
  const blob = q.at
  const records = emitSigned(q, rrset, q.nameOffset)
  if (records < 0) return STEP.truncate
  q.answers += records
  if (encloser > 0) oweNoName(q, encloser)
  if (!settle(q)) return STEP.truncate
  addAddresses(q, rrset, blob, 0, node)
  return STEP.done
}

function standsBesideCname(type: number): boolean {
  return type === TYPE.CNAME || type === TYPE.ANY || type === TYPE.RRSIG || type === TYPE.NSEC
}

/** SkyDNS: a service answers for its own types, and is an alias only for those that follow one, if it has no address. */
function isServed(q: Query, node: number, flags: number): boolean {
  if ((flags & SETS_FLAG.services) === 0) return false
  if (q.type === TYPE.A || q.type === TYPE.AAAA) return hasAddress(q, node)
  return q.type !== TYPE.TXT || findSet(q, node, q.type) !== 0
}

function afterAlias(q: Query, alias: number): number {
  if (alias === ALIAS.full) return STEP.truncate
  if (alias === ALIAS.followed && q.type !== TYPE.CNAME && q.type !== TYPE.ANY) return STEP.alias
  if (alias === ALIAS.tooLong) q.rcode = RCODE.YXDOMAIN
  return settle(q) ? STEP.done : STEP.truncate
}
