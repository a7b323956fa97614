// Putting rrsets into the response. Each function writes a whole set or nothing, and says how many records it wrote
// (-1: there was no room).

import { FIXUP, NODE, QUESTION_NAME, RRSET, ZONE } from './layout.ts'
import type { Query } from './query.ts'

/** Pointers cannot reach further (RFC 1035 section 4.1.4). */
const POINTER_LIMIT = 0x4000
/** A set that points into itself must start below this (rrset.ts keeps its targets within the first 0x1000 bytes). */
const LAST_START = POINTER_LIMIT - 0x1000

/** A set whose owner stands at message offset `owner`. */
export function emitSet(q: Query, rrset: number, owner: number): number {
  const { words } = q
  const header = rrset >> 2
  const lengthFixups = words[header + RRSET.lengthFixups]
  const length = lengthFixups & 0xffff
  const start = q.at
  if (start + length > q.limit) return -1
  if (start >= LAST_START) {
    if (lengthFixups >>> 16 !== 0) return -1
    if (!canPointAt(owner)) return emitFar(q, rrset, owner)
  }
  const stride = words[header + RRSET.targetsStride] >>> 16
  const count = words[header + RRSET.typeCount] >>> 16
  const from = rrset + RRSET.blob * 4
  const to = q.base + start
  if (stride === 0 || !q.rotate) copy(q, from, to, length)
  else {
    const first = (q.turn++ % count) * stride
    copy(q, from + first, to, length - first)
    copy(q, from, to + length - first, first)
  }
  q.at = start + length
  if (owner !== QUESTION_NAME) setOwners(q, to, to + length, owner)
  if (lengthFixups >>> 16 !== 0) fix(q, rrset, start, owner)
  if (words[header + RRSET.expires] !== 0) limitTtls(q, rrset, to, to + length)
  return count
}

/** A set whose owner stands where pointers do not reach: it is written out again in front of each record. */
function emitFar(q: Query, rrset: number, owner: number): number {
  const { words, bytes, packet, packetView, base } = q
  const header = rrset >> 2
  const expires = words[header + RRSET.expires] !== 0
  const count = words[header + RRSET.typeCount] >>> 16
  const ownerBytes = writtenBytes(q, owner)
  if (q.at + (words[header + RRSET.lengthFixups] & 0xffff) + count * (ownerBytes - 2) > q.limit) return -1
  let from = rrset + RRSET.blob * 4
  for (let i = 0; i < count; i++) {
    packet.copyWithin(base + q.at, base + owner, base + owner + ownerBytes)
    const rest = 10 + ((bytes[from + 10] << 8) | bytes[from + 11])
    copy(q, from + 2, base + q.at + ownerBytes, rest)
    if (expires) packetView.setUint32(base + q.at + ownerBytes + 4, ttlLeft(q, rrset))
    q.at += ownerBytes + rest
    from += 2 + rest
  }
  return count
}

/** Bytes of the name at a message offset as it stands there: labels, then the root or a pointer. */
function writtenBytes(q: Query, offset: number): number {
  const { packet, base } = q
  let at = offset
  while (packet[base + at] !== 0 && packet[base + at] < 0xc0) at += packet[base + at] + 1
  return at + (packet[base + at] === 0 ? 1 : 2) - offset
}

/** A set whose owner is not in the message yet: written out once, then pointed at. Leaves its offset in `ownerOffset`. */
export function emitOwned(q: Query, rrset: number, node: number): number {
  const { words, packet } = q
  const apex = words[(q.zone >> 2) + ZONE.apex]
  if (node === apex) {
    q.ownerOffset = q.originOffset
    return emitSet(q, rrset, q.originOffset)
  }
  const header = rrset >> 2
  const length = words[header + RRSET.lengthFixups] & 0xffff
  const labels = words[(node >> 2) + NODE.nameLength] - words[(q.zone >> 2) + ZONE.nameLength]
  const start = q.at
  if (start + labels + length > q.limit || !canPointAt(q.originOffset)) return -1
  // Records after the first point back at its owner.
  if (words[header + RRSET.typeCount] >>> 16 > 1 && !canPointAt(start)) return -1
  copy(q, node + NODE.name * 4, q.base + start, labels)
  packet[q.base + start + labels] = 0xc0 | (q.originOffset >> 8)
  packet[q.base + start + labels + 1] = q.originOffset
  // The blob's own two-byte owner pointer is where the pointer to the origin now stands.
  const blob = start + labels
  copy(q, rrset + RRSET.blob * 4 + 2, q.base + blob + 2, length - 2)
  q.at = blob + length
  q.ownerOffset = start
  const second = q.base + blob + 12 + ((packet[q.base + blob + 10] << 8) | packet[q.base + blob + 11])
  setOwners(q, second, q.base + q.at, start)
  fix(q, rrset, blob, start)
  if (words[header + RRSET.expires] !== 0) limitTtls(q, rrset, q.base + blob, q.base + q.at)
  return words[header + RRSET.typeCount] >>> 16
}

/** A set and, when the client wants them, its signatures: both or nothing. */
export function emitSigned(q: Query, rrset: number, owner: number): number {
  const before = q.at
  const records = emitSet(q, rrset, owner)
  if (records < 0) return -1
  const signatures = emitSignatures(q, rrset, owner)
  if (signatures >= 0) return records + signatures
  q.at = before
  return -1
}

/** The signatures of a set, when the client wants them. */
export function emitSignatures(q: Query, rrset: number, owner: number): number {
  if (!q.dnssecOk) return 0
  const signatures = q.words[(rrset >> 2) + RRSET.signatures]
  return signatures === 0 ? 0 : emitSet(q, signatures, owner)
}

function setOwners(q: Query, from: number, end: number, owner: number): void {
  const { packet } = q
  for (let at = from; at < end; ) {
    packet[at] = 0xc0 | (owner >> 8)
    packet[at + 1] = owner
    at += 12 + ((packet[at + 10] << 8) | packet[at + 11])
  }
}

/** What expires is not kept longer than until then. The owners are pointers, or at least the last two bytes before each type. */
function limitTtls(q: Query, rrset: number, from: number, end: number): void {
  const { packetView } = q
  const left = ttlLeft(q, rrset)
  if (left === q.words[(rrset >> 2) + RRSET.ttl]) return
  for (let at = from; at < end; at += 12 + packetView.getUint16(at + 10)) packetView.setUint32(at + 6, left)
}

/** The TTL of a set that expires, as of now. */
function ttlLeft(q: Query, rrset: number): number {
  const { words } = q
  const left = Math.max(words[(q.zone >> 2) + ZONE.leastTtl], (words[(rrset >> 2) + RRSET.expires] >>> 0) - q.now)
  return Math.min(left, words[(rrset >> 2) + RRSET.ttl])
}

function fix(q: Query, rrset: number, blob: number, owner: number): void {
  const { words, packet } = q
  const lengthFixups = words[(rrset >> 2) + RRSET.lengthFixups]
  let at = (rrset >> 2) + RRSET.blob + (((lengthFixups & 0xffff) + 3) >> 2)
  const end = at + (lengthFixups >>> 16)
  for (; at < end; at++) {
    const fixup = words[at]
    const kind = fixup >>> 30
    const value =
      kind === FIXUP.owner ? owner : kind === FIXUP.origin ? q.originOffset : blob + ((fixup >>> 16) & 0x3fff)
    const place = q.base + blob + (fixup & 0xffff)
    packet[place] = 0xc0 | (value >> 8)
    packet[place + 1] = value
  }
}

/** Whether a name at this message offset can be pointed at. */
export function canPointAt(offset: number): boolean {
  return offset < POINTER_LIMIT
}

/** From the arena to the packet, four bytes at a time: neither side is aligned, which a DataView does not mind. */
export function copy(q: Query, from: number, to: number, length: number): void {
  const { view, packetView } = q
  let i = 0
  for (; i + 4 <= length; i += 4) packetView.setInt32(to + i, view.getInt32(from + i, true), true)
  for (; i < length; i++) packetView.setUint8(to + i, view.getUint8(from + i))
}
