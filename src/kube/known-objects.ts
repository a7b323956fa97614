// Which objects there are, each with its version, and up to which version that is so. What is older is no news: so events
// may come twice, and a deletion is not undone by what came before it.

import type { WatchEvent } from './client.ts'
import { isOlder } from './resource-version.ts'
import { type KubeObject, type ObjectChange, objectKey, type Resource } from './resource.ts'

/** The part of an object that is wanted. */
export type Keep = (object: KubeObject) => KubeObject

/** A complete list against what is known. Without `finish` nothing has happened. */
export interface Comparison {
  /** Versions are lower than they were, so history is another one, and equal versions do not mean equal objects. */
  readonly rewound: boolean
  take(objects: readonly KubeObject[]): void
  finish(): ObjectChange[]
}

export class KnownObjects {
  readonly #resource: Resource
  readonly #keep: Keep
  #versions: Map<string, string>
  #version = ''

  constructor(resource: Resource, keep: Keep, versions: ReadonlyMap<string, string>) {
    this.#resource = resource
    this.#keep = keep
    this.#versions = new Map(versions)
  }

  /** Everything up to here is known; empty while there was no list. */
  get version(): string {
    return this.#version
  }

  get count(): number {
    return this.#versions.size
  }

  /** What an event changes; undefined when it is no news. */
  apply({ type, object }: WatchEvent): ObjectChange | undefined {
    if (object === undefined) return undefined
    const { resourceVersion = '' } = object.metadata
    if (isOlder(resourceVersion, this.#version)) return undefined
    if (resourceVersion !== '') this.#version = resourceVersion
    if (type === 'BOOKMARK') return undefined
    const key = objectKey(object.metadata)
    if (type === 'DELETED') return this.#versions.delete(key) ? this.#change(key, undefined) : undefined
    if (this.#versions.get(key) === resourceVersion) return undefined
    this.#versions.set(key, resourceVersion)
    return this.#change(key, object)
  }

  /** A list of this version begins. */
  compare(version: string): Comparison {
    const rewound = this.#isAheadOf(version)
    const now = new Map<string, string>()
    const changes: ObjectChange[] = []
    return {
      rewound,
      take: (objects) => {
        for (const object of objects) {
          const key = objectKey(object.metadata)
          const { resourceVersion = '' } = object.metadata
          now.set(key, resourceVersion)
          if (rewound || this.#versions.get(key) !== resourceVersion) changes.push(this.#change(key, object))
        }
      },
      finish: () => {
        for (const key of this.#versions.keys()) if (!now.has(key)) changes.push(this.#change(key, undefined))
        this.#versions = now
        this.#version = version
        return changes
      },
    }
  }

  #isAheadOf(version: string): boolean {
    return isOlder(version, this.#version) || this.#versions.values().some((known) => isOlder(version, known))
  }

  #change(key: string, object: KubeObject | undefined): ObjectChange {
    const resource = this.#resource
    if (object === undefined) return { resource, key, object }
    return { resource, key, object: this.#keep(object), version: object.metadata.resourceVersion ?? '' }
  }
}
