// Looking things up in the arena: the zone for a name, the node of a name in a zone, the rrset of a type at a node.
//
// Plain reads suffice although another thread writes: what a pointer leads to was complete before the pointer was
// stored (atomically, by directory.ts), and x86-64 as well as arm64 keep a load behind the load of its own address. The
// hash beside a pointer has no such tie: a reader may see the pointer and not yet the hash, and miss a brand-new zone once.

import { mixSpace, spread } from './hash.ts'
import { align4, DIRECTORY, HEADER, NODE, REMOVED, RRSET, SETS, TABLE, ZONE } from './layout.ts'
import type { Query } from './query.ts'

/** The zone with the longest origin that the name, from `label` on, is in; sets `zoneLabel`. 0 when there is none. */
export function findZone(q: Query, space: number, from: number): number {
  const { words, labels } = q
  const directory = words[HEADER.directory] >> 2
  const table = words[directory + DIRECTORY.table] >> 2
  const mask = words[table + TABLE.mask]
  for (let label = from; label <= labels; label++) {
    const depth = labels - label
    if ((words[directory + DIRECTORY.depths + (depth >> 5)] & (1 << (depth & 31))) === 0) continue
    const hash = mixSpace(q.labelHash[label], space)
    for (let slot = spread(hash, mask); ; slot = (slot + 1) & mask) {
      const zone = words[table + TABLE.slots + slot * 2 + 1]
      if (zone === 0) break
      if (zone === REMOVED || words[table + TABLE.slots + slot * 2] !== hash) continue
      if (words[(zone >> 2) + ZONE.space] !== space || words[(zone >> 2) + ZONE.labels] !== depth) continue
      if (!matches(q, label, zone + ZONE.name * 4, words[(zone >> 2) + ZONE.nameLength])) continue
      q.zoneLabel = label
      return zone
    }
  }
  return 0
}

/** Whether two zone records are versions of one zone. */
export function sameOrigin(q: Query, a: number, b: number): boolean {
  const { words, bytes } = q
  const length = words[(a >> 2) + ZONE.nameLength]
  if (words[(b >> 2) + ZONE.nameLength] !== length) return false
  for (let i = ZONE.name * 4; i < ZONE.name * 4 + length; i++) if (bytes[a + i] !== bytes[b + i]) return false
  return true
}

/** The node of the name from `label` on in the query's zone, or 0. */
export function findNode(q: Query, label: number): number {
  const { words } = q
  const hash = q.labelHash[label]
  const table = words[(q.zone >> 2) + ZONE.table] >> 2
  const mask = words[table + TABLE.mask]
  for (let slot = spread(hash, mask); ; slot = (slot + 1) & mask) {
    const node = words[table + TABLE.slots + slot * 2 + 1]
    if (node === 0) return 0
    if (words[table + TABLE.slots + slot * 2] !== hash || node === REMOVED) continue
    const length = words[(node >> 2) + NODE.nameLength]
    if (label === 0 ? isName(q, node, length) : matches(q, label, node + NODE.name * 4, length)) return node
  }
}

/** Whether the node's name is the whole current name: both are aligned and padded, so words can be compared. */
function isName(q: Query, node: number, length: number): boolean {
  if (length !== q.nameLength) return false
  const { words, nameWords } = q
  const at = (node >> 2) + NODE.name
  for (let i = (length - 1) >> 2; i >= 0; i--) if (nameWords[i] !== words[at + i]) return false
  return true
}

/** The node of a target as rrsets list them: hash, and padded lower-case name in the arena. */
export function findTarget(q: Query, hash: number, name: number, length: number): number {
  const { words } = q
  const table = words[(q.zone >> 2) + ZONE.table] >> 2
  const mask = words[table + TABLE.mask]
  for (let slot = spread(hash, mask); ; slot = (slot + 1) & mask) {
    const node = words[table + TABLE.slots + slot * 2 + 1]
    if (node === 0) return 0
    if (words[table + TABLE.slots + slot * 2] !== hash || node === REMOVED) continue
    if (words[(node >> 2) + NODE.nameLength] !== length) continue
    const a = (node >> 2) + NODE.name
    const b = name >> 2
    let i = (length - 1) >> 2
    while (i >= 0 && words[a + i] === words[b + i]) i--
    if (i < 0) return node
  }
}

/** The rrset with this key (a type, or RRSIG | covered << 16) at a node, or 0. */
export function findSet(q: Query, node: number, key: number): number {
  const { words } = q
  const sets = words[(node >> 2) + NODE.sets]
  if (sets === 0) return 0
  const at = sets >> 2
  const end = at + SETS.pairs + (words[at + SETS.count] & 0xffff) * 2
  for (let pair = at + SETS.pairs; pair < end; pair += 2) if (words[pair] === key) return words[pair + 1]
  return 0
}

/** Place of the first target listed with an rrset (layout.ts). */
export function firstTarget(q: Query, rrset: number): number {
  const lengthFixups = q.words[(rrset >> 2) + RRSET.lengthFixups]
  return rrset + RRSET.blob * 4 + align4(lengthFixups & 0xffff) + (lengthFixups >>> 16) * 4
}

/** SETS_FLAG bits of a node. */
export function setsFlags(q: Query, node: number): number {
  const sets = q.words[(node >> 2) + NODE.sets]
  return sets === 0 ? 0 : q.words[(sets >> 2) + SETS.count] >>> 16
}

function matches(q: Query, label: number, at: number, length: number): boolean {
  const start = q.labelAt[label]
  if (q.nameLength - start !== length) return false
  const { name, bytes } = q
  for (let i = 0; i < length; i++) if (name[start + i] !== bytes[at + i]) return false
  return true
}
