// Questions for ANY and RRSIG, which ask for a kind of data rather than for one type.

import { RCODE, TYPE } from '../dns/types.ts'
import { denyType } from './deny.ts'
import { emitSet, emitSigned } from './emit.ts'
import { NODE, QUESTION_NAME, RRSET, SETS, ZONE, ZONE_FLAG } from './layout.ts'
import { oweNoName, settle } from './proof.ts'
import { STEP } from './query.ts'
import type { Query, View } from './query.ts'

const CLASS_IN = 1

/** Answers at a node; `encloser` as in answer-name.ts. */
export function answerByKind(q: Query, view: View, node: number, encloser: number): number {
  const { words, answers } = q
  const sets = words[(node >> 2) + NODE.sets] >> 2
  const count = sets === 0 ? 0 : words[sets + SETS.count] & 0xffff
  if (q.type === TYPE.ANY && view.minimalAny && count > 0) {
    const signed = (words[(q.zone >> 2) + ZONE.flags] & (ZONE_FLAG.nsec | ZONE_FLAG.nsec3)) !== 0
    if (!(signed ? emitOne(q, sets, count) : emitHinfo(q))) return STEP.truncate
  } else if (!emitMany(q, sets, count)) return STEP.truncate
  if (q.answers === answers) return denyType(q, node, encloser)
  if (encloser > 0) oweNoName(q, encloser)
  return settle(q) ? STEP.done : STEP.truncate
}

/** RFC 8482 section 4.1: one set of the name's, where signatures make an invented record useless. */
function emitOne(q: Query, sets: number, count: number): boolean {
  for (let pair = sets + SETS.pairs; pair < sets + SETS.pairs + count * 2; pair += 2) {
    if ((q.words[pair] & 0xffff) === TYPE.RRSIG) continue
    const records = emitSigned(q, q.words[pair + 1], q.nameOffset)
    q.answers += records
    return records >= 0
  }
  return true
}

/** Every set (ANY) or every signature (RRSIG). Sets with compressed names go first: pointers reach only so far. */
function emitMany(q: Query, sets: number, count: number): boolean {
  const { words } = q
  for (let i = 0; i < count * 2; i++) {
    const pair = sets + SETS.pairs + (i % count) * 2
    const rrset = words[pair + 1]
    const compressed = words[(rrset >> 2) + RRSET.lengthFixups] >>> 16 !== 0
    if (compressed !== i < count || (q.type === TYPE.RRSIG && (words[pair] & 0xffff) !== TYPE.RRSIG)) continue
    const records = emitSet(q, rrset, q.nameOffset)
    if (records < 0) return false
    q.answers += records
  }
  return true
}

/** ANY for a name that would be asked elsewhere: the minimal answer for any name, as CoreDNS's `any` gives it. */
export function answerAnyName(q: Query): boolean {
  q.clearSections()
  q.rcode = RCODE.NOERROR
  q.nameOffset = QUESTION_NAME
  return emitHinfo(q)
}

/** RFC 8482 section 4.2. */
function emitHinfo(q: Query): boolean {
  if (q.at + HINFO.length > q.limit) return false
  for (let i = 0; i < HINFO.length; i++) q.packet[q.base + q.at + i] = HINFO[i]
  q.packet[q.base + q.at] = 0xc0 | (q.nameOffset >> 8)
  q.packet[q.base + q.at + 1] = q.nameOffset
  q.at += HINFO.length
  q.answers++
  return true
}

const HINFO = Uint8Array.from([
  ...[0xc0, QUESTION_NAME, 0, TYPE.HINFO, 0, CLASS_IN, 0, 0, 0x0e, 0x10, 0, 9, 7],
  ...new TextEncoder().encode('RFC8482'),
  0,
])
