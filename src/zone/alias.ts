// CNAME and DNAME: the answer so far points at another name, which becomes the one looked for.

import { TYPE } from '../dns/types.ts'
import { canPointAt, copy, emitSigned } from './emit.ts'
import { findSet, firstTarget } from './find.ts'
import { LOWER } from './hash.ts'
import { RRSET } from './layout.ts'
import { MAX_CHAIN } from './query.ts'
import type { Query } from './query.ts'

export const ALIAS = {
  /** The current name is now the alias's target. */
  followed: 0,
  /** The target was met before, or the chain is too long: the answer ends here. */
  loop: 1,
  /** No room. */
  full: 2,
  /** RFC 6672 section 2.2: the substituted name is too long. */
  tooLong: 3,
} as const

/** Emits the CNAME set of a node and continues with its target. */
export function followCname(q: Query, rrset: number): number {
  if (q.chain === MAX_CHAIN || (wasMet(q, rrset) && wasFollowed(q))) return ALIAS.loop
  const blob = q.at
  const records = emitSigned(q, rrset, q.nameOffset)
  if (records < 0) return ALIAS.full
  q.answers += records
  addLink(q, rrset)
  const target = firstTarget(q, rrset)
  q.setName(q.bytes, target + 8, target + 8 + 255)
  q.nameOffset = blob + (q.words[(target >> 2) + 1] & 0xffff)
  return ALIAS.followed
}

/**
 * Emits the DNAME of the ancestor at `label`, once, and the CNAME it implies (RFC 6672 section 3), which points at the
 * target of the DNAME; continues with its target.
 */
export function followDname(q: Query, node: number, label: number): number {
  const rrset = findSet(q, node, TYPE.DNAME)
  const again = wasMet(q, rrset)
  if (q.chain === MAX_CHAIN || (again && wasFollowed(q))) return ALIAS.loop
  const blob = q.at
  if (!again) {
    const records = emitSigned(q, rrset, q.suffixOffset(label))
    if (records < 0) return ALIAS.full
    q.answers += records
  }
  addLink(q, rrset)
  const target = firstTarget(q, rrset)
  const positionLength = q.words[(target >> 2) + 1]
  const targetLength = positionLength >>> 16
  const targetOffset = blob + (positionLength & 0xffff)
  const prefix = q.labelAt[label]
  if (prefix + targetLength > 255) return ALIAS.tooLong
  const points = !again && targetLength > 2 && canPointAt(targetOffset)
  const length = prefix + (points ? 2 : targetLength)
  if (q.at + 12 + length > q.limit || !canPointAt(q.nameOffset)) return ALIAS.full
  const { packet, name, scratchName, bytes } = q
  const start = q.base + q.at
  const ttl = q.words[(rrset >> 2) + RRSET.ttl]
  packet[start] = 0xc0 | (q.nameOffset >> 8)
  packet[start + 1] = q.nameOffset
  packet[start + 2] = 0
  packet[start + 3] = TYPE.CNAME
  packet[start + 4] = 0
  packet[start + 5] = 1
  packet[start + 6] = ttl >>> 24
  packet[start + 7] = ttl >>> 16
  packet[start + 8] = ttl >>> 8
  packet[start + 9] = ttl
  packet[start + 10] = length >> 8
  packet[start + 11] = length
  const end = start + 12 + prefix
  for (let i = 0; i < prefix; i++) packet[start + 12 + i] = scratchName[i] = name[i]
  for (let i = 0; i < targetLength; i++) scratchName[prefix + i] = bytes[target + 8 + i]
  if (points) {
    packet[end] = 0xc0 | (targetOffset >> 8)
    packet[end + 1] = targetOffset
  } else copy(q, target + 8, end, targetLength)
  q.at += 12 + length
  q.answers++
  q.setName(scratchName, 0, prefix + targetLength)
  q.nameOffset = start + 12 - q.base
  return ALIAS.followed
}

function addLink(q: Query, rrset: number): void {
  q.linkOwners[q.chain] = q.nameOffset
  q.visited[q.chain++] = rrset
}

/** Whether an alias is in the answer already. Without wildcards and DNAME this alone would be a loop. */
function wasMet(q: Query, rrset: number): boolean {
  for (let i = 0; i < q.chain; i++) if (q.visited[i] === rrset) return true
  return false
}

/** Whether the current name is the owner of an alias in the answer. */
function wasFollowed(q: Query): boolean {
  for (let i = 0; i < q.chain; i++) if (isCurrentName(q, q.linkOwners[i])) return true
  return false
}

/** Whether the name at a message offset is the current one. */
function isCurrentName(q: Query, offset: number): boolean {
  const { packet, base, name } = q
  let at = offset
  for (let i = 0; i < q.nameLength; ) {
    const length = packet[base + at]
    if (length >= 0xc0) {
      at = ((length & 0x3f) << 8) | packet[base + at + 1]
      continue
    }
    const end = i + length
    for (; i <= end; i++) if (name[i] !== LOWER[packet[base + at++]]) return false
    if (length === 0) return i === q.nameLength
  }
  return false
}
