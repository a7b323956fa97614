// NSEC3 (RFC 5155): the zone lists hashes of its names in order, each with the node that owns the NSEC3 record. A
// name matches an entry with its hash, or is covered by the last entry before it, going round at the start.

import { NSEC3_LIST, ZONE } from './layout.ts'
import type { Query } from './query.ts'

const MATCHING = 1
const COVERING = 2

/** The node whose NSEC3 matches the current name from `label` on, or 0. */
export function matchingNsec3(q: Query, label: number): number {
  return find(q, q.name, q.labelAt[label], q.nameLength, MATCHING)
}

/** The node whose NSEC3 covers the current name from `label` on, or 0. */
export function coveringNsec3(q: Query, label: number): number {
  return find(q, q.name, q.labelAt[label], q.nameLength, COVERING)
}

export function matchingNsec3OfWildcard(q: Query, label: number): number {
  return find(q, q.scratchName, 0, q.setWildcard(label), MATCHING)
}

/** The node whose NSEC3 covers the wildcard below the ancestor at `label`, or matches it where there is one. */
export function coveringNsec3OfWildcard(q: Query, label: number): number {
  return find(q, q.scratchName, 0, q.setWildcard(label), COVERING | MATCHING)
}

function find(q: Query, name: Uint8Array, start: number, end: number, sought: number): number {
  const { words } = q
  const list = words[(q.zone >> 2) + ZONE.nsec3] >> 2
  hash(q, list, name, start, end)
  const count = words[list + NSEC3_LIST.count]
  const entries = list + NSEC3_LIST.entries
  // The first entry after the hash; the one before it matches or covers.
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(q, entries + middle * NSEC3_LIST.stride) < 0) high = middle
    else low = middle + 1
  }
  const entry = entries + ((low + count - 1) % count) * NSEC3_LIST.stride
  const found = compare(q, entry) === 0 ? MATCHING : COVERING
  return (sought & found) !== 0 ? words[entry + NSEC3_LIST.node] : 0
}

/** RFC 5155 section 5: IH(salt, x, k) = H(IH(salt, x, k - 1) || salt), into `q.sha1.state`. */
function hash(q: Query, list: number, name: Uint8Array, start: number, end: number): void {
  const { words, bytes, sha1, hashInput } = q
  const saltLength = words[list + NSEC3_LIST.saltLength]
  const salt = (list + NSEC3_LIST.salt) << 2
  let length = 0
  for (let i = start; i < end; i++) hashInput[length++] = name[i]
  for (let i = 0; i < saltLength; i++) hashInput[length++] = bytes[salt + i]
  sha1.hash(hashInput, length)
  for (let round = words[list + NSEC3_LIST.iterations]; round > 0; round--) {
    for (let i = 0; i < 20; i++) hashInput[i] = sha1.state[i >> 2] >>> (24 - (i & 3) * 8)
    for (let i = 0; i < saltLength; i++) hashInput[20 + i] = bytes[salt + i]
    sha1.hash(hashInput, 20 + saltLength)
  }
}

/** The hash against an entry's. */
function compare(q: Query, entry: number): number {
  const { words } = q
  const { state } = q.sha1
  for (let i = 0; i < 5; i++) if (state[i] !== words[entry + i]) return (state[i] >>> 0) - (words[entry + i] >>> 0)
  return 0
}
