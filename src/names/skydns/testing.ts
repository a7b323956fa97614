// What the tests of this folder share: trees from values, and their names as text.

import { formatName } from '../../dns/name.ts'
import { formatRdata } from '../../dns/rdata/rdata.ts'
import { typeName } from '../../dns/types.ts'
import { SkydnsTree, type SkydnsTreeOptions } from './tree.ts'

const OPTIONS: SkydnsTreeOptions = {
  path: '/skydns',
  zones: ['example.org.'],
  mode: 'compatible',
  maxLeaseTtlSeconds: 86_400,
}

/** Values by key. */
export function treeOf(values: Readonly<Record<string, object>>, options: Partial<SkydnsTreeOptions> = {}): SkydnsTree {
  const tree = new SkydnsTree({ ...OPTIONS, ...options })
  for (const [key, value] of Object.entries(values)) {
    const problem = put(tree, key, value)
    if (problem !== undefined) throw new Error(problem)
  }
  return tree
}

export function put(tree: SkydnsTree, key: string, value: object | string, expiresAt?: number): string | undefined {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return tree.put(Buffer.from(key), Buffer.from(text), expiresAt === undefined ? undefined : { expiresAt })
}

export function remove(tree: SkydnsTree, key: string): void {
  tree.delete(Buffer.from(key))
}

/** What changed, `origin owner` to lines `ttl type rdata`. */
export function flushed(tree: Pick<SkydnsTree, 'flush'>): Record<string, string[]> {
  return Object.fromEntries(
    [...tree.flush()].map(({ origin, owner, records }) => [
      `${origin} ${formatName(owner)}`,
      records.map(({ ttl, type, rdata }) => `${ttl} ${typeName(type)} ${formatRdata(type, rdata)}`),
    ]),
  )
}
