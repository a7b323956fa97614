// A stack file with faults of form, without the parts that have them: enough to look for faults of meaning in the rest,
// so that both are reported at once. A fault of meaning next to a part that was left out may only be due to that, and is
// not counted; without a whole section, or with a wrong key at the top, nothing about the rest is certain.

import type { z } from 'zod'
import type { Path } from '../../document/located.ts'

type Issue = z.core.$ZodIssue

export interface Reduced {
  readonly value: unknown
  /** What was left out. */
  readonly removed: readonly Path[]
}

/** Undefined when too much would have to go. */
export function withoutFaults(value: unknown, issues: readonly Issue[]): Reduced | undefined {
  const copy = copyOf(value)
  if (copy === undefined) return undefined
  const removed: Path[] = []
  for (const issue of issues) {
    const paths =
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => [...issue.path, key])
        : [faultyPart(copy, issue.path)]
    for (const path of paths) {
      if (issue.code !== 'unrecognized_keys' && path.length < 2) return undefined
      if (!remove(copy, path)) return undefined
      // An unknown key has no effect on anything.
      if (issue.code !== 'unrecognized_keys') removed.push(path)
    }
  }
  return { value: copy, removed }
}

/** Whether a fault of meaning at the path stands apart from what was left out. */
export function isApart(path: Path, removed: readonly Path[]): boolean {
  return removed.every((gone) => !isBelow(path, gone.slice(0, -1)) && !isBelow(gone, path))
}

/** Where a key is missing, the map that lacks it. */
function faultyPart(value: unknown, path: Path): Path {
  const above = path.slice(0, -1)
  const map = at(value, above)
  const isMissing = typeof map === 'object' && map !== null && !Object.hasOwn(map, path.at(-1) ?? '')
  return isMissing ? above : path
}

/** False when it is an entry of a list, whose places would move. A part that is gone already may go twice. */
function remove(value: unknown, path: Path): boolean {
  const map = at(value, path.slice(0, -1))
  if (Array.isArray(map)) return false
  if (typeof map === 'object' && map !== null) Reflect.deleteProperty(map, path.at(-1) ?? '')
  return true
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (above, step) => (typeof above === 'object' && above !== null ? Reflect.get(above, step) : undefined),
    value,
  )
}

function isBelow(path: Path, above: Path): boolean {
  return above.every((step, index) => path[index] === step)
}

/** Undefined for what a program made that cannot be copied. */
function copyOf(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    return undefined
  }
}
