// Names as the reference and the generators use them: the lower-case wire form as a Latin-1 string, so that they are
// keys of maps, suffixes are parents, and string comparison is byte comparison.

import { lowerName } from '../../src/dns/name.ts'

export type NameKey = string

export const ROOT_KEY: NameKey = '\0'

export function keyOf(wire: Uint8Array): NameKey {
  return Buffer.from(lowerName(wire)).toString('latin1')
}

export function wireOf(key: NameKey): Uint8Array {
  return Uint8Array.from(Buffer.from(key, 'latin1'))
}

export function below(label: string, parent: NameKey): NameKey {
  return String.fromCharCode(label.length) + label + parent
}

export function parentOf(name: NameKey): NameKey {
  return name.slice(1 + name.charCodeAt(0))
}

/** The name and its ancestors, itself first, the root last. */
export function lineage(name: NameKey): NameKey[] {
  const names = [name]
  for (let at = name; at !== ROOT_KEY; names.push(at)) at = parentOf(at)
  return names
}

export function isAtOrBelow(name: NameKey, ancestor: NameKey): boolean {
  return lineage(name).includes(ancestor)
}

function labels(name: NameKey): string[] {
  return lineage(name)
    .slice(0, -1)
    .map((at) => at.slice(1, 1 + at.charCodeAt(0)))
}

/** RFC 4034 section 6.1. */
export function canonicalOrder(a: NameKey, b: NameKey): number {
  const left = labels(a).reverse()
  const right = labels(b).reverse()
  for (let i = 0; i < Math.min(left.length, right.length); i++)
    if (left[i] !== right[i]) return left[i] < right[i] ? -1 : 1
  return left.length - right.length
}
