// Which names of a zone are asked elsewhere when none of its sources has them. As in CoreDNS each source decides for
// itself: a name passes when it is below a zone of every source's own list.

import { isSubdomain, lowerName, parseName } from '../dns/name.ts'

/** The zones, in wire form, below which every list lets names pass; none where there is no list. */
export function commonFallthrough(lists: readonly (readonly string[])[]): readonly Uint8Array[] {
  const [first = [], ...others] = lists.map((list) => list.map((name) => lowerName(parseName(name))))
  return others.reduce(inBoth, first)
}

function inBoth(some: readonly Uint8Array[], others: readonly Uint8Array[]): readonly Uint8Array[] {
  return some.flatMap((one) =>
    others.flatMap((other) => (isSubdomain(one, other) ? [one] : isSubdomain(other, one) ? [other] : [])),
  )
}
