// The answer to one query, in place: a fixed order of steps, synchronous, without allocation.
//
//   header ─▶ question ─▶ EDNS ─▶ block ─▶ zone ─▶ [ name ─▶ referral | alias ↺ | data | nothing ] ─▶ header, OPT

import { RCODE, TYPE } from '../dns/types.ts'
import { answerName } from './answer-name.ts'
import { answerAnyName } from './any.ts'
import { answerChaos } from './chaos.ts'
import { denyName, emitNegativeSoa } from './deny.ts'
import { optBytes } from './edns.ts'
import type { EdnsContext } from './edns.ts'
import { findZone, sameOrigin } from './find.ts'
import { finish } from './finish.ts'
import { HEADER_BYTES, QUESTION_NAME, ZONE, ZONE_STATE } from './layout.ts'
import { settle } from './proof.ts'
import { HANDOVER, STEP } from './query.ts'
import type { Query, View } from './query.ts'
import { readQuery } from './read-query.ts'

/** Say nothing at all. */
export const SILENCE = 0
/** The zones do not have it: for the block's forwarders, and `handover` says why. The question is intact, what followed it may not be. */
export const ELSEWHERE = -1

const CLASS_IN = 1
const CLASS_CHAOS = 3

/** Answers the query that was opened; the length of the response, SILENCE or ELSEWHERE. */
export function answer(q: Query, views: readonly View[], context: EdnsContext): number {
  const { packet, base } = q
  if (q.length < HEADER_BYTES || (packet[base + 2] & 0x80) !== 0) return SILENCE
  let view = views[0]
  q.block = view.block
  q.limit = HEADER_BYTES
  q.rcode = readQuery(q)
  if (q.rcode === RCODE.NOERROR) {
    if (views.length > 1) view = chooseView(q, views)
    q.block = view.block
    const most = q.tcp ? 65_535 : q.edns ? Math.min(q.clientBytes, view.udpBytes) : 512
    q.limit = Math.min(most, q.capacity) - optBytes(q, view)
    q.rotate = view.rotate
    q.now = context.nowSeconds
    if (q.ednsVersion !== 0) q.rcode = RCODE.BADVERS
    else if (!answerWhole(q, view)) return ELSEWHERE
    if ((view.handoverRcodes & (1 << q.rcode)) !== 0 && q.rcode < 16) {
      if (!handOver(q, view, HANDOVER.rcode)) return ELSEWHERE
    }
  }
  return finish(q, view, context)
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

/** Answers from one state of the zones: again when names have changed meanwhile. */
function answerWhole(q: Query, view: View): boolean {
  for (;;) {
    const version = q.begin()
    const ours = answerQuestion(q, view)
    if (q.isWhole(version)) return ours
    q.restart()
  }
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
  if (zone === 0) return view.handsOver ? handOver(q, view, HANDOVER.uncovered) : refuse(q)
  q.zone = zone
  q.zoneSlot = q.words[(zone >> 2) + ZONE.slot]
  q.originOffset = QUESTION_NAME + q.labelAt[q.zoneLabel]
  return answerFromZones(q, view)
}

/** False: the query is for the forwarders. ANY gets its minimal answer here instead (RFC 8482), whatever the name. */
function handOver(q: Query, view: View, reason: number): boolean {
  if (q.type === TYPE.ANY && q.klass === CLASS_IN && view.minimalAny) return answerAnyName(q) || truncate(q)
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

/** Follows aliases through the zones until there is an answer. False when it leads to somebody else. */
function answerFromZones(q: Query, view: View): boolean {
  const { words, zone: first, originOffset } = q
  for (;;) {
    const record = q.zone >> 2
    if (words[record + ZONE.state] !== ZONE_STATE.loaded) {
      q.rcode = RCODE.SERVFAIL
      return true
    }
    if (q.chain === 0) q.authoritative = true
    const next = answerName(q, view)
    if (next === STEP.truncate) return truncate(q)
    if (next === STEP.done) {
      if (!q.softChain || q.answers > q.chain) return true
      return forgetChain(q, first, originOffset)
    }
    if (next === STEP.search) {
      q.handover = HANDOVER.search
      return false
    }
    if (next === STEP.elsewhere) {
      if (goOutward(q, view.space)) continue
      if (view.handsOver) return handOver(q, view, HANDOVER.fallthrough)
      return denyName(q, q.encloserLabel) === STEP.done || truncate(q)
    }
    // An alias: its target may be in the same zone, in another one, or not here at all.
    const zone = responsibleZone(q, view.space)
    if (zone === 0) return view.handsOver ? handOver(q, view, HANDOVER.alias) : settle(q) || truncate(q)
    // Another version of the same zone may be in service by now; this answer goes on with the one it began with.
    if (zone !== q.zone && !sameOrigin(q, zone, q.zone)) {
      q.zone = zone
      q.originOffset = q.suffixOffset(q.zoneLabel)
    }
  }
}

/**
 * The zone around the one that lets the name fall through; false when there is none. A source is asked once: its own
 * zones further out are passed over.
 */
function goOutward(q: Query, space: number): boolean {
  const { words, zoneLabel } = q
  const source = words[(q.zone >> 2) + ZONE.source]
  let outer = 0
  do {
    outer = findZone(q, space, q.zoneLabel + 1)
    if (outer === 0) {
      q.zoneLabel = zoneLabel
      return false
    }
  } while (isOf(words[(outer >> 2) + ZONE.source], source))
  q.zone = outer
  q.zoneSlot = q.words[(outer >> 2) + ZONE.slot]
  q.originOffset = QUESTION_NAME + q.labelAt[q.zoneLabel]
  return true
}

/** Sources are numbered from 1; 0 stands for several. */
function isOf(source: number, other: number): boolean {
  return source !== 0 && source === other
}

/** Aliases that led to nothing are as if they were not there: the name exists, its zone has no such data. */
function forgetChain(q: Query, zone: number, originOffset: number): true {
  q.clearSections()
  q.authoritative = true
  q.rcode = RCODE.NOERROR
  q.zone = zone
  q.originOffset = originOffset
  return emitNegativeSoa(q) || truncate(q)
}

/** TC with nothing but the question: what fits by chance helps nobody (RFC 2181 section 9). */
function truncate(q: Query): true {
  const { authoritative } = q
  q.clearSections()
  q.authoritative = authoritative
  q.truncated = true
  return true
}
