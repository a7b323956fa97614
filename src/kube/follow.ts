// Follows the objects of a selection: lists them once, watches from there, and watches again after every interruption from
// the last version it has seen. Where history is lost it lists again and reports only the difference.
//
//   list ──▶ watch ──▶ (ended, cut, silent) ──▶ history goes on? ──yes──▶ watch from the last version
//    ▲         │                                      │
//    └─────────┴── 410 Gone ◀── out of reach ◀────────┴── no: restored from a backup, or another cluster
//
// After an outage it lists even where the server would go on: a backup that was restored meanwhile does not show by its
// versions once new ones have been given out.
//
// Lists are of the newest state (no resourceVersion): one from a server's cache (resourceVersion=0) may be older than
// what is known, and would take away what is new and bring back what is gone.

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../lib/errors.ts'
import type { KubeClient, ObjectList, WatchEvent } from './client.ts'
import { StatusFailure } from './failure.ts'
import { type Keep, KnownObjects } from './known-objects.ts'
import { isOlder } from './resource-version.ts'
import type { ObjectChange, Selection } from './resource.ts'

export interface FollowInfo {
  readonly resourceVersion: string
  /** The changes are the difference found by a complete list; there may be none. */
  readonly listed: boolean
  /** How many objects there are now. */
  readonly count: number
  /** Versions are lower than they were: the data were restored, or it is another cluster. Every object is reported. */
  readonly rewound: boolean
  /** Everything that happened before this moment (performance.now) has been told. */
  readonly asOf: number
}

export type FollowState =
  | { readonly up: true }
  /** `missing`: the API server does not know the resource. */
  | { readonly up: false; readonly error: HoldfastError; readonly missing: boolean }

export interface FollowOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch'>
  readonly selection: Selection
  readonly signal: AbortSignal
  /** What is known from an earlier run: keys and versions. The first list is compared with it. */
  readonly known?: ReadonlyMap<string, string>
  /** What is wanted of an object; the rest is let go before the next page is read. */
  readonly keep?: Keep
  /** Default 500. */
  readonly pageSize?: number
  /** Its event `relist` makes it list anew at once: a watch may have fallen behind without anybody noticing. */
  readonly calls?: EventTarget
  /** What arrived together, or the difference found by one complete list. */
  readonly onChanges: (changes: readonly ObjectChange[], info: FollowInfo) => void
  /** How many items of the last list, or events of the last change, were no objects: they are left out. */
  readonly onOdd?: (count: number) => void
  /** When it begins to follow, and when it cannot; each reason once, and once more after `relist`. */
  readonly onState: (state: FollowState) => void
}

const PAGE_SIZE = 500
const FIRST_PAUSE_MS = 100
/** Names are late for up to this long after an outage; and so long a definition that gets installed goes unnoticed. */
const MAX_PAUSE_MS = 10_000
/** After a watch that lived this long the next one needs no pause. */
const GOOD_WATCH_MS = 1000
/** Watches are ended by the server after this time, or up to twice of it, so that they do not all end at once. */
const WATCH_SECONDS = 300
/** Bookmarks come about once a minute, where there is news at all; without any, the watch is begun anew. */
const SILENCE_MS = 90_000

/** Runs until the signal aborts. Rejects only if `onChanges` or `onState` throws. */
export async function follow(options: FollowOptions): Promise<void> {
  const { signal } = options
  const follower = new Follower(options)
  options.calls?.addEventListener('relist', () => follower.relist(), { signal })
  let failures = 0
  while (!signal.aborted) {
    try {
      const lifetimeMs = await follower.follow()
      failures = lifetimeMs < GOOD_WATCH_MS ? failures + 1 : 0
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof HoldfastError)) throw error
      failures++
      follower.report({ up: false, error, missing: error.code === 'KubeResourceMissing' })
    }
    if (failures > 0) await pause(failures, follower.interruption())
  }
}

class Follower {
  readonly #options: FollowOptions
  readonly #known: KnownObjects
  /** In the version that the server has. */
  #selection: Selection
  #mustList = true
  #interruption = new AbortController()
  #asOf = 0
  #told: string | undefined

  constructor(options: FollowOptions) {
    const { selection, keep = (object) => object, known = new Map<string, string>() } = options
    this.#options = options
    this.#selection = selection
    this.#known = new KnownObjects(selection.resource, keep, known)
  }

  /** Catches up, then watches; resolves with the time the watch lived. Throws when it could not even begin. */
  async follow(): Promise<number> {
    let begunAt: number | undefined
    this.#interruption = new AbortController()
    try {
      for await (const events of this.#watch(await this.#catchUp())) {
        if (begunAt === undefined) this.report({ up: true })
        begunAt ??= performance.now()
        this.#deliver(events)
      }
    } catch (error) {
      if (this.#options.signal.aborted) throw error
      if (!(error instanceof HoldfastError)) {
        if (this.#interruption.signal.aborted) return GOOD_WATCH_MS
        throw error
      }
      // What the server refuses to go on with has to be begun anew; and who was away may have come back with other data.
      if (begunAt === undefined || error.cause instanceof StatusFailure) this.#mustList = true
      if (this.#mustList && error.code !== 'KubeGone') throw error
    }
    return begunAt === undefined ? 0 : performance.now() - begunAt
  }

  /** What comes of it is told, even if it was told before. */
  relist(): void {
    this.#mustList = true
    this.#told = undefined
    this.#interruption.abort()
  }

  /** Ends what begins now early: a watch, or a pause. */
  interruption(): AbortSignal {
    this.#interruption = new AbortController()
    return AbortSignal.any([this.#options.signal, this.#interruption.signal])
  }

  report(state: FollowState): void {
    const told = state.up ? 'up' : state.error.retryable ? state.error.code : state.error.message
    if (this.#told === told) return
    this.#told = told
    this.#options.onState(state)
  }

  #watch(resourceVersion: string): AsyncGenerator<readonly WatchEvent[]> {
    const { client } = this.#options
    const timeoutSeconds = Math.round(WATCH_SECONDS * (1 + Math.random()))
    const options = { resourceVersion, timeoutSeconds, silenceMs: SILENCE_MS }
    const signal = this.interruption()
    // Asked for since the last list.
    if (this.#mustList) this.#interruption.abort()
    return client.watch(this.#selection, options, signal)
  }

  async #catchUp(): Promise<string> {
    // A server that was restored would wait silently until it gets to our version, and tell nothing of what it has.
    if (!this.#mustList && isOlder(await this.#newestVersion(), this.#known.version)) this.#mustList = true
    while (this.#mustList) await this.#list()
    return this.#known.version
  }

  async #newestVersion(): Promise<string> {
    const { client, signal } = this.#options
    const { resource, namespace } = this.#selection
    // Without selectors: the server would look for an object that matches.
    const everything = { resource, ...(namespace !== undefined && { namespace }) }
    return (await client.list(everything, { limit: 1 }, signal)).resourceVersion
  }

  async #list(): Promise<void> {
    const { client, signal, pageSize: limit = PAGE_SIZE } = this.#options
    const asOf = performance.now()
    this.#mustList = false
    const first = await this.#firstPage(limit)
    const selection = this.#selection
    const comparison = this.#known.compare(first.resourceVersion)
    comparison.take(first.items)
    let { odd } = first
    for (let next = first.continue; next !== undefined; ) {
      const page = await client.list(selection, { limit, continue: next }, signal)
      comparison.take(page.items)
      odd += page.odd
      next = page.continue
    }
    this.#options.onOdd?.(odd)
    const changes = comparison.finish()
    this.#asOf = asOf
    this.#tell(changes, { listed: true, rewound: comparison.rewound })
  }

  /** Of the newest version of the kind that the server has. */
  async #firstPage(limit: number): Promise<ObjectList> {
    const { client, selection, signal } = this.#options
    const { resource } = selection
    let missing: HoldfastError | undefined
    for (const version of [resource.version, ...(resource.olderVersions ?? [])]) {
      this.#selection = { ...selection, resource: { ...resource, version } }
      try {
        return await client.list(this.#selection, { limit }, signal)
      } catch (error) {
        if (!(error instanceof HoldfastError) || error.code !== 'KubeResourceMissing') throw error
        missing ??= error
      }
    }
    throw missing ?? new Error('no version to ask for')
  }

  #deliver(events: readonly WatchEvent[]): void {
    const odd = events.filter(({ object }) => object === undefined).length
    if (odd > 0) this.#options.onOdd?.(odd)
    const changes = events.map((event) => this.#known.apply(event)).filter((change) => change !== undefined)
    if (changes.length > 0) this.#tell(changes, { listed: false, rewound: false })
  }

  #tell(changes: readonly ObjectChange[], how: Pick<FollowInfo, 'listed' | 'rewound'>): void {
    const { version, count } = this.#known
    this.#options.onChanges(changes, { resourceVersion: version, count, asOf: this.#asOf, ...how })
  }
}

/** At random, so that those who were cut off together do not come back together. */
async function pause(failures: number, signal: AbortSignal): Promise<void> {
  const longest = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
  await sleep(longest * Math.random(), undefined, { signal }).catch(() => {})
}
