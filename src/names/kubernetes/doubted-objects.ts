// Deletions that nobody saw and that are not believed. When versions have gone back, the API server's data were restored or
// lost; if most objects are missing then, their names stay until at least half of everything is there again.

import type { FollowInfo } from '../../kube/follow.ts'
import type { ObjectChange } from '../../kube/resource.ts'

export class DoubtedObjects {
  readonly #deletions = new Map<string, ObjectChange>()

  get count(): number {
    return this.#deletions.size
  }

  /** What is to be believed of changes; `released`: deletions are among it that were held back before. */
  sift(
    changes: readonly ObjectChange[],
    { rewound, count }: Pick<FollowInfo, 'rewound' | 'count'>,
  ): { believed: readonly ObjectChange[]; released: boolean } {
    for (const { key, object } of changes) if (object !== undefined) this.#deletions.delete(key)
    const missing = changes.filter(({ object }) => object === undefined)
    if (rewound && missing.length > count) {
      for (const change of missing) this.#deletions.set(change.key, change)
      return { believed: changes.filter(({ object }) => object !== undefined), released: false }
    }
    if (this.#deletions.size === 0 || count < this.#deletions.size) return { believed: changes, released: false }
    const believed = [...this.#deletions.values(), ...changes]
    this.#deletions.clear()
    return { believed, released: true }
  }
}
