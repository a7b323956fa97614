// Whose names a zone would take away. The zone with the longest name answers, whoever brought it: so a zone below one of
// another source answers in its place. Files are the operator's own business; a source that others may write to is
// refused zones at or below those of sources before it, unless the operator has allowed them by name.

import { formatName, isSubdomain, parseName } from '../dns/name.ts'

/** What a source that others write to may bring. */
export interface Guard {
  /** Zones at or below zones of others that are allowed, with everything below them. */
  readonly allowed: readonly string[]
  /** A zone is refused, or no longer: undefined. */
  readonly onBarred: (origin: string, problem: string | undefined) => void
}

/** The zone and those above it, the longest first. */
export function* atAndAbove(origin: string): Iterable<string> {
  const wire = parseName(origin)
  for (let at = 0; ; at += wire[at] + 1) {
    yield formatName(wire.subarray(at))
    if (wire[at] === 0) return
  }
}

/** Whether it was allowed below `other` by name: an allowance for a zone above that says nothing about it. */
export function isAllowed(origin: string, other: string, { allowed }: Guard): boolean {
  const [zone, protector] = [parseName(origin), parseName(other)]
  return allowed.some((name) => {
    const wire = parseName(name)
    return isSubdomain(zone, wire) && isSubdomain(wire, protector)
  })
}

/** Whether a zone is at or below another. */
export function isAtOrBelow(origin: string, other: string): boolean {
  return isSubdomain(parseName(origin), parseName(other))
}
