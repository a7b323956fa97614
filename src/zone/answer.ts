// The answer to one query, in place: a fixed order of steps, synchronous, without allocation.
//
//   header ─▶ question ─▶ EDNS ─▶ block ─▶ zone ─▶ [ name ─▶ referral | alias ↺ | data | nothing ] ─▶ header, OPT

import { OPCODE, RCODE, TYPE } from '../dns/types.ts'
import { addAddresses } from './additional.ts'
import { ALIAS, followCname, followDname } from './alias.ts'
import { answerChaos } from './chaos.ts'
import { denyName, denyType } from './deny.ts'
import { emitOpt, optBytes, readAdditional } from './edns.ts'
import type { EdnsContext } from './edns.ts'
import { emitSet, emitSignatures } from './emit.ts'
import { findNode, findSet, findZone, setsFlags } from './find.ts'
import { NODE, QUESTION_NAME, RRSET, SETS, SETS_FLAG, ZONE, ZONE_FLAG, ZONE_STATE } from './layout.ts'
import { oweNoName, settle } from './proof.ts'
import { HANDOVER, STEP } from './query.ts'
import type { Query, View } from './query.ts'
import { refer } from './refer.ts'

/** Say nothing at all. */
export const SILENCE = 0
/** The zones do not have it: for the block's forwarders, and `handover` says why. The question is intact, what followed it may not be. */
export const ELSEWHERE = -1

const CLASS_IN = 1
const CLASS_CHAOS = 3
const HEADER_BYTES = 12

/** Answers the query that was opened; the length of the response, SILENCE or ELSEWHERE. */
export function answer(q: Query, views: readonly View[], context: EdnsContext): number {
  const { packet, base } = q
  if (q.length < HEADER_BYTES || (packet[base + 2] & 0x80) !== 0) return SILENCE
  let view = views[0]
  q.space = view.space
  q.limit = HEADER_BYTES
  q.rcode = read(q)
  if (q.rcode === RCODE.NOERROR) {
    if (views.length > 1) view = chooseView(q, views)
    q.space = view.space
    const most = q.tcp ? 65_535 : q.edns ? Math.min(q.clientBytes, view.udpBytes) : 512
    q.limit = Math.min(most, q.capacity) - optBytes(q, view)
    q.rotate = view.rotate
    if (q.ednsVersion !== 0) q.rcode = RCODE.BADVERS
    else if (!answerQuestion(q, view)) return ELSEWHERE
    if ((view.handoverRcodes & (1 << q.rcode)) !== 0 && q.rcode < 16) {
      q.handover = HANDOVER.rcode
      return ELSEWHERE
    }
  }
  return finish(q, view, context)
}

/** Header, question, additional records. Returns the rcode of a query that cannot be answered. */
function read(q: Query): number {
  const { packet, base } = q
  const opcode = (packet[base + 2] >> 3) & 0x0f
  if (opcode !== OPCODE.QUERY) return RCODE.NOTIMP
  const questions = (packet[base + 4] << 8) | packet[base + 5]
  const answers = (packet[base + 6] << 8) | packet[base + 7]
  const authorities = (packet[base + 8] << 8) | packet[base + 9]
  const additionals = (packet[base + 10] << 8) | packet[base + 11]
  if (questions > 1 || answers !== 0 || authorities !== 0) return RCODE.FORMERR
  if (questions === 1) {
    if (!q.setName(packet, base + HEADER_BYTES, base + q.length)) return RCODE.FORMERR
    const at = HEADER_BYTES + q.nameLength
    if (at + 4 > q.length) return RCODE.FORMERR
    q.type = (packet[base + at] << 8) | packet[base + at + 1]
    q.klass = (packet[base + at + 2] << 8) | packet[base + at + 3]
    q.questionEnd = at + 4
    q.at = at + 4
  }
  if (additionals === 0) return q.questionEnd === q.length && questions === 1 ? RCODE.NOERROR : RCODE.FORMERR
  const problem = readAdditional(q, additionals)
  // RFC 7873 section 5.4: without a question, a query may still ask for a cookie.
  if (problem === RCODE.NOERROR && questions === 0 && q.cookieLength === 0) return RCODE.FORMERR
  return problem
}

/** The block with the longest name that matches; the first one when none does, which then refuses. */
function chooseView(q: Query, views: readonly View[]): View {
  let best: View | undefined
  let bestLength = 0
  for (const view of views)
    for (const zone of view.zones)
      if (zone.length > bestLength && isBelow(q, zone)) [best, bestLength] = [view, zone.length]
  return best ?? views[0]
}

function isBelow(q: Query, zone: Uint8Array): boolean {
  const start = q.nameLength - zone.length
  if (start < 0) return false
  for (let i = zone.length - 1; i >= 0; i--) if (q.name[start + i] !== zone[i]) return false
  for (let label = 0; label <= q.labels; label++) if (q.labelAt[label] === start) return true
  return false
}

/** False when the question is for somebody else. */
function answerQuestion(q: Query, view: View): boolean {
  if (q.questionEnd === HEADER_BYTES) return true // only a cookie was asked for
  if (q.klass !== CLASS_IN) {
    if (q.klass === CLASS_CHAOS) answerChaos(q, view)
    else q.rcode = RCODE.REFUSED
    return true
  }
  const { type } = q
  if (type === TYPE.AXFR || type === TYPE.IXFR) return refuse(q)
  if (type === TYPE.OPT || type === TYPE.TSIG || type === TYPE.TKEY || type === 0) {
    q.rcode = RCODE.FORMERR
    return true
  }
  const zone = responsibleZone(q, view.space)
  if (zone === 0) return view.handsOver ? handOver(q, HANDOVER.uncovered) : refuse(q)
  q.zone = zone
  q.zoneSlot = q.words[(zone >> 2) + ZONE.slot]
  q.originOffset = QUESTION_NAME + q.labelAt[q.zoneLabel]
  return answerFromZones(q, view)
}

function handOver(q: Query, reason: number): false {
  q.handover = reason
  return false
}

function refuse(q: Query): true {
  q.rcode = RCODE.REFUSED
  return true
}

/** The zone for the current name; the DS of a zone lives on the parent's side of the cut (RFC 4035 section 3.1.4.1). */
function responsibleZone(q: Query, space: number): number {
  const zone = findZone(q, space, 0)
  if (q.type !== TYPE.DS || zone === 0 || q.zoneLabel > 0 || q.labels === 0) return zone
  const parent = findZone(q, space, 1)
  return parent === 0 ? zone : parent
}

/** Follows aliases through the zones until there is an answer. False when it leads to the block's forwarders. */
function answerFromZones(q: Query, view: View): boolean {
  for (;;) {
    const { words } = q
    const record = q.zone >> 2
    if (words[record + ZONE.state] !== ZONE_STATE.loaded) {
      q.rcode = RCODE.SERVFAIL
      return true
    }
    if (q.chain === 0) q.authoritative = true
    const next = answerName(q, view)
    if (next === STEP.truncate) return truncate(q)
    if (next === STEP.done) return true
    if (next === STEP.elsewhere) return handOver(q, HANDOVER.fallthrough)
    // An alias: its target may be in the same zone, in another one, or not here at all.
    const zone = responsibleZone(q, view.space)
    if (zone === 0) return view.handsOver ? handOver(q, HANDOVER.alias) : settle(q) || truncate(q)
    if (zone !== q.zone) {
      q.zone = zone
      q.originOffset = q.suffixOffset(q.zoneLabel)
    }
  }
}

/** One name in one zone (RFC 1034 section 4.3.2, RFC 4592, RFC 6672). */
function answerName(q: Query, view: View): number {
  const { words } = q
  let label = 0
  let node = findNode(q, 0)
  while (node === 0) node = findNode(q, ++label)
  if ((words[(q.zone >> 2) + ZONE.flags] & ZONE_FLAG.cuts) !== 0) {
    const top = topmostCut(q, node, label)
    if (top !== 0) {
      if ((setsFlags(q, top) & SETS_FLAG.cut) !== 0) return refer(q, top, q.cutLabel)
      return afterAlias(q, followDname(q, top, q.cutLabel))
    }
  }
  if (label === 0) return answerNode(q, view, node, 0)
  const wildcard = words[(node >> 2) + NODE.wildcard]
  if (wildcard !== 0) return answerNode(q, view, wildcard, label)
  const falls = (words[(q.zone >> 2) + ZONE.flags] & ZONE_FLAG.fallthrough) !== 0
  return falls && view.handsOver && q.chain === 0 ? STEP.elsewhere : denyName(q, label)
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
  if ((setsFlags(q, node) & SETS_FLAG.cname) !== 0 && !standsBesideCname(q.type)) {
    if (encloser > 0) oweNoName(q, encloser)
    return afterAlias(q, followCname(q, findSet(q, node, TYPE.CNAME)))
  }
  const rrset = q.type === TYPE.ANY ? anySet(q, view, node) : findSet(q, node, q.type)
  if (rrset === 0 && q.type === TYPE.ANY && view.minimalAny && q.words[(node >> 2) + NODE.sets] !== 0)
    return answerHinfo(q)
  if (rrset === 0) return answerMany(q, node, encloser)
  const blob = q.at
  if (!emitAnswer(q, rrset)) return STEP.truncate
  if (encloser > 0) oweNoName(q, encloser)
  if (!settle(q)) return STEP.truncate
  addAddresses(q, rrset, blob, 0)
  return STEP.done
}

function standsBesideCname(type: number): boolean {
  return type === TYPE.CNAME || type === TYPE.ANY || type === TYPE.RRSIG || type === TYPE.NSEC
}

function emitAnswer(q: Query, rrset: number): boolean {
  const records = emitSet(q, rrset, q.nameOffset)
  if (records < 0) return false
  const signatures = emitSignatures(q, rrset, q.nameOffset)
  if (signatures < 0) return false
  q.answers += records + signatures
  return true
}

/** RFC 8482 section 4.1: one set of the name's, where signatures make an invented record useless. */
function anySet(q: Query, view: View, node: number): number {
  const sets = q.words[(node >> 2) + NODE.sets]
  const signed = (q.words[(q.zone >> 2) + ZONE.flags] & (ZONE_FLAG.nsec | ZONE_FLAG.nsec3)) !== 0
  return view.minimalAny && signed && sets !== 0 ? q.words[(sets >> 2) + SETS.pairs + 1] : 0
}

/** All sets of a node (ANY), or all signatures (RRSIG): what is found by kind rather than by key. */
function answerMany(q: Query, node: number, encloser: number): number {
  const { words, answers } = q
  const sets = words[(node >> 2) + NODE.sets] >> 2
  const wanted = q.type === TYPE.ANY || q.type === TYPE.RRSIG
  const count = sets === 0 || !wanted ? 0 : words[sets + SETS.count] & 0xffff
  // Sets with compressed names go first: pointers reach only the first 16 KiB of a message.
  for (let i = 0; i < count * 2; i++) {
    const pair = sets + SETS.pairs + (i % count) * 2
    const rrset = words[pair + 1]
    const compressed = words[(rrset >> 2) + RRSET.lengthFixups] >>> 16 !== 0
    if (compressed !== i < count || (q.type === TYPE.RRSIG && (words[pair] & 0xffff) !== TYPE.RRSIG)) continue
    const records = emitSet(q, rrset, q.nameOffset)
    if (records < 0) return STEP.truncate
    q.answers += records
  }
  if (q.answers === answers) return denyType(q, node, encloser)
  if (encloser > 0) oweNoName(q, encloser)
  return settle(q) ? STEP.done : STEP.truncate
}

/** RFC 8482 section 4.2. */
function answerHinfo(q: Query): number {
  if (q.at + HINFO.length > q.limit) return STEP.truncate
  for (let i = 0; i < HINFO.length; i++) q.packet[q.base + q.at + i] = HINFO[i]
  q.packet[q.base + q.at] = 0xc0 | (q.nameOffset >> 8)
  q.packet[q.base + q.at + 1] = q.nameOffset
  q.at += HINFO.length
  q.answers++
  return STEP.done
}

const HINFO = Uint8Array.from([
  ...[0xc0, QUESTION_NAME, 0, TYPE.HINFO, 0, CLASS_IN, 0, 0, 0x0e, 0x10, 0, 9, 7],
  ...new TextEncoder().encode('RFC8482'),
  0,
])

function afterAlias(q: Query, alias: number): number {
  if (alias === ALIAS.full) return STEP.truncate
  if (alias === ALIAS.followed && q.type !== TYPE.CNAME && q.type !== TYPE.ANY) return STEP.alias
  if (alias === ALIAS.tooLong) q.rcode = RCODE.YXDOMAIN
  return settle(q) ? STEP.done : STEP.truncate
}

/** TC with nothing but the question: what fits by chance helps nobody (RFC 2181 section 9). */
function truncate(q: Query): true {
  const { authoritative } = q
  q.clearSections()
  q.authoritative = authoritative
  q.truncated = true
  return true
}

/** Header and OPT. */
function finish(q: Query, view: View, context: EdnsContext): number {
  const { packet, base } = q
  if (q.rcode === RCODE.FORMERR || q.rcode === RCODE.NOTIMP) {
    // The question may be what is wrong, so it is not repeated.
    q.questionEnd = HEADER_BYTES
    q.clearSections()
  }
  if (q.edns && q.rcode !== RCODE.NOTIMP) emitOpt(q, view, context)
  // QR, opcode and RD as asked, AA, TC | rcode; RA, Z, AD and CD are zero (RFC 4035 section 3.1.6).
  packet[base + 2] = 0x80 | (packet[base + 2] & 0x79) | (q.authoritative ? 0x04 : 0) | (q.truncated ? 0x02 : 0)
  packet[base + 3] = q.rcode & 0x0f
  packet[base + 4] = 0
  packet[base + 5] = q.questionEnd === HEADER_BYTES ? 0 : 1
  packet[base + 6] = q.answers >> 8
  packet[base + 7] = q.answers
  packet[base + 8] = q.authorities >> 8
  packet[base + 9] = q.authorities
  packet[base + 10] = q.additionals >> 8
  packet[base + 11] = q.additionals
  return q.at
}
