// Names in a query behind its question: they may be compressed, and are of no use but to get past them or to be
// repeated in the response.

import type { Query } from './query.ts'

const LONGEST_NAME = 255

/** The message offset behind the name at `start`; -1 when it is malformed. */
export function skipName(q: Query, start: number): number {
  const { packet, base, length } = q
  for (let at = start; at < length; ) {
    const label = packet[base + at]
    if (label === 0) return at + 1
    if (label >= 0xc0) return at + 2
    if (label > 63) return -1
    at += label + 1
  }
  return -1
}

/** Writes the name at message offset `start` without compression to `into[to]`; its length, or -1 when it is malformed. */
export function expandName(q: Query, start: number, into: Uint8Array, to: number): number {
  const { packet, base, length } = q
  let written = 0
  for (let at = start; at < length; ) {
    const label = packet[base + at]
    if (label >= 0xc0) {
      // A pointer leads back, so that there is an end.
      const target = ((label & 0x3f) << 8) | packet[base + at + 1]
      if (at + 1 >= length || target >= at) return -1
      at = target
      continue
    }
    if (label > 63 || written + label + 1 > LONGEST_NAME || at + label + 1 > length) return -1
    for (let i = 0; i <= label; i++) into[to + written + i] = packet[base + at + i]
    written += label + 1
    if (label === 0) return written
    at += label + 1
  }
  return -1
}
