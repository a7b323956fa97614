// Which objects there are, each with its version, and what news about them means. What is known already, or older, is no
// news: so events may come twice and in any order.

import type { WatchEvent } from './client.ts'
import { isOlder } from './resource-version.ts'
import { type KubeObject, type ObjectChange, objectKey, type Resource } from './resource.ts'

/** The part of an object that is wanted. */
export type Keep = (object: KubeObject) => KubeObject

export class KnownObjects {
  readonly #resource: Resource
  readonly #keep: Keep
  #versions: Map<string, string>

  constructor(resource: Resource, keep: Keep, versions: ReadonlyMap<string, string>) {
    this.#resource = resource
    this.#keep = keep
    this.#versions = new Map(versions)
  }

  get count(): number {
    return this.#versions.size
  }

  /** Whether one of the objects is from a later time than this. */
  isAheadOf(version: string): boolean {
    return this.#versions.values().some((known) => isOlder(version, known))
  }

  /** What an event changes; undefined when it is no news. */
  apply({ type, object }: WatchEvent): ObjectChange | undefined {
    const key = objectKey(object.metadata)
    const { resourceVersion = '' } = object.metadata
    const known = this.#versions.get(key)
    if (known !== undefined && isOlder(resourceVersion, known)) return undefined
    if (type === 'DELETED') return this.#versions.delete(key) ? this.#change(key, undefined) : undefined
    if (known === resourceVersion) return undefined
    this.#versions.set(key, resourceVersion)
    return this.#change(key, object)
  }

  /** A list that begins. Equal versions mean equal objects, unless history is another one. */
  compare(isSameHistory: boolean): Comparison {
    const now = new Map<string, string>()
    const changes: ObjectChange[] = []
    return {
      take: (objects) => {
        for (const object of objects) {
          const key = objectKey(object.metadata)
          const { resourceVersion = '' } = object.metadata
          now.set(key, resourceVersion)
          if (!isSameHistory || this.#versions.get(key) !== resourceVersion) changes.push(this.#change(key, object))
        }
      },
      finish: () => {
        for (const key of this.#versions.keys()) if (!now.has(key)) changes.push(this.#change(key, undefined))
        this.#versions = now
        return changes
      },
    }
  }

  #change(key: string, object: KubeObject | undefined): ObjectChange {
    return { resource: this.#resource, key, object: object === undefined ? undefined : this.#keep(object) }
  }
}

/** A complete list against what is known. Without `finish` nothing has happened. */
export interface Comparison {
  take(objects: readonly KubeObject[]): void
  finish(): ObjectChange[]
}
