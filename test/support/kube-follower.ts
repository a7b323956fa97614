// Follows objects as the product does, and remembers all it is told, for tests to look at.

import type { KubeClient } from '../../src/kube/client.ts'
import { follow, type FollowInfo, type FollowOptions, type FollowState } from '../../src/kube/follow.ts'
import type { KubeObject, ObjectChange, Selection } from '../../src/kube/resource.ts'
import { until } from './until.ts'

export interface Told {
  readonly changes: readonly ObjectChange[]
  readonly info: FollowInfo
}

export class KubeFollower {
  readonly told: Told[] = []
  readonly states: FollowState[] = []
  readonly objects = new Map<string, KubeObject>()
  readonly #stopping = new AbortController()
  readonly #following: Promise<void>

  constructor(client: KubeClient, selection: Selection, options: Partial<FollowOptions> = {}) {
    this.#following = follow({
      client,
      selection,
      signal: this.#stopping.signal,
      ...options,
      onChanges: (changes, info) => this.#take(changes, info),
      onState: (state) => this.states.push(state),
    })
  }

  /** What was told so far, in words: `+ns/name` for those that came or changed, `-ns/name` for those that went. */
  get words(): readonly string[] {
    return this.told.flatMap(({ changes }) =>
      changes.map(({ key, object }) => (object === undefined ? '-' : '+') + key),
    )
  }

  get lists(): readonly Told[] {
    return this.told.filter(({ info }) => info.listed)
  }

  get isUp(): boolean {
    return this.states.at(-1)?.up === true
  }

  up(): Promise<true> {
    return until('following', () => this.isUp)
  }

  has(key: string, timeoutMs?: number): Promise<true> {
    return until(key, () => this.objects.has(key), timeoutMs)
  }

  lacks(key: string, timeoutMs?: number): Promise<true> {
    return until(`no ${key}`, () => !this.objects.has(key), timeoutMs)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#following
  }

  #take(changes: readonly ObjectChange[], info: FollowInfo): void {
    this.told.push({ changes, info })
    for (const { key, object } of changes) {
      if (object === undefined) this.objects.delete(key)
      else this.objects.set(key, object)
    }
  }
}
