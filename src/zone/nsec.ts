// NSEC (RFC 4034): the zone lists its NSEC owners in canonical order, and a name that does not exist is covered by
// the last owner before it.

import { NODE, ZONE } from './layout.ts'
import type { Query } from './query.ts'

/** The node whose NSEC covers the current name. */
export function coveringNsec(q: Query): number {
  return lastNotAfter(q, q.name, 0)
}

/** The node whose NSEC covers or matches the wildcard below the ancestor at `label`. */
export function coveringNsecOfWildcard(q: Query, label: number): number {
  q.setWildcard(label)
  return lastNotAfter(q, q.scratchName, 0)
}

/** Last NSEC owner in canonical order that is not after the lower-case name. */
function lastNotAfter(q: Query, name: Uint8Array, start: number): number {
  const { words } = q
  const order = words[(q.zone >> 2) + ZONE.order] >> 2
  let low = 0
  let high = words[order] - 1
  const labels = splitLabels(name, start, q.labelStack)
  while (low < high) {
    const middle = (low + high + 1) >> 1
    const node = words[order + 1 + middle]
    if (compare(q, name, labels, node) >= 0) low = middle
    else high = middle - 1
  }
  return words[order + 1 + low]
}

/** RFC 4034 section 6.1, labels from the root end. The name's label starts are in `labelStack`. */
function compare(q: Query, name: Uint8Array, labels: number, node: number): number {
  const { bytes, labelStack, otherStack } = q
  let i = labels - 1
  let j = splitLabels(bytes, node + NODE.name * 4, otherStack) - 1
  for (; i >= 0 && j >= 0; i--, j--) {
    const a = labelStack[i]
    const b = otherStack[j]
    const shorter = Math.min(name[a], bytes[b])
    for (let k = 1; k <= shorter; k++) {
      const difference = name[a + k] - bytes[b + k]
      if (difference !== 0) return difference
    }
    if (name[a] !== bytes[b]) return name[a] - bytes[b]
  }
  return i - j
}

function splitLabels(bytes: Uint8Array, start: number, stack: Int32Array): number {
  let labels = 0
  for (let at = start; bytes[at] !== 0; at += bytes[at] + 1) stack[labels++] = at
  return labels
}
