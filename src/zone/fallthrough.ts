// Whether a name that its zone does not have is asked elsewhere: the zone's list of names decides (CoreDNS's
// `fallthrough [ZONES...]`).

import { END_OF_NAMES, ZONE, ZONE_FLAG } from './layout.ts'
import type { Query } from './query.ts'

/** For the current name and zone of the query. */
export function fallsThrough(q: Query): boolean {
  const { words, bytes, zone } = q
  if ((words[(zone >> 2) + ZONE.flags] & ZONE_FLAG.fallthrough) === 0) return false
  const list = words[(zone >> 2) + ZONE.fallthrough]
  if (list === 0) return true
  for (let at = zone + list; bytes[at] !== END_OF_NAMES; ) {
    let end = at
    while (bytes[end] !== 0) end += bytes[end] + 1
    if (isBelow(q, at, end + 1 - at)) return true
    at = end + 1
  }
  return false
}

/** Whether the name of `length` bytes at `at` of the arena is the current name or above it. */
function isBelow(q: Query, at: number, length: number): boolean {
  const { name, bytes, labelAt, labels } = q
  const start = q.nameLength - length
  if (start < 0) return false
  let label = 0
  while (label < labels && labelAt[label] < start) label++
  if (labelAt[label] !== start) return false
  for (let i = 0; i < length; i++) if (name[start + i] !== bytes[at + i]) return false
  return true
}
