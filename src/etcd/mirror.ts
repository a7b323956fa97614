// Follows all keys with a prefix: lists them once, watches from there, and resumes after every interruption from the last
// revision it has reported. Where history is lost it lists again and reports only the difference.
//
//   list ──▶ watch ──▶ (interrupted) ──▶ history goes on? ──yes──▶ watch from the last reported revision + 1
//    ▲         │                              │
//    └─────────┴── compacted ◀────────────────┴── no: another cluster, or one restored from a backup

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../lib/errors.ts'
import type { EtcdClient, RangeResult } from './client.ts'
import { Comparison, keyText, type MirrorChange } from './comparison.ts'
import { CallFailure, isHistoryGone } from './failure.ts'
import { prefixRange } from './keys.ts'
import { anotherCluster, firstPage, laterPages } from './listing.ts'
import type { WatchEvent } from './watch.ts'

export type { MirrorChange } from './comparison.ts'

export interface MirrorInfo {
  readonly revision: bigint
  readonly clusterId: bigint
  /** The changes are the difference found by a complete listing; there may be none. */
  readonly listed: boolean
  /** How many keys there are now. */
  readonly count: number
}

export type MirrorState =
  | { readonly up: true; readonly revision: bigint }
  | { readonly up: false; readonly error: HoldfastError }

export interface MirrorOptions {
  readonly client: EtcdClient
  readonly prefix: Uint8Array
  readonly signal: AbortSignal
  /** What is known from an earlier run: keys (latin1) and their modRevision; the first listing is compared with it. */
  readonly known?: ReadonlyMap<string, bigint>
  /** The cluster that `known` comes from. In another one equal revisions mean nothing, and every key is reported. */
  readonly knownClusterId?: bigint
  /** One atomic change: all of one revision, or the difference found by one complete listing. */
  readonly onChanges: (changes: readonly MirrorChange[], info: MirrorInfo) => void
  /** When it begins to follow, and when it cannot. A member that fails while another takes over is not worth a word. */
  readonly onState: (state: MirrorState) => void
}

const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 1000
/** What only people can mend is not tried so often: each login costs etcd dearly. */
const MAX_REFUSED_PAUSE_MS = 5000
/** After a watch that lived this long the next one needs no pause. */
const GOOD_WATCH_MS = 1000

/** Runs until the signal aborts. Rejects only if `onChanges` or `onState` throws. */
export async function mirror(options: MirrorOptions): Promise<void> {
  const { signal } = options
  const follower = new Follower(options)
  let failures = 0
  while (!signal.aborted) {
    let longestMs = MAX_PAUSE_MS
    try {
      const lifetimeMs = await follower.follow()
      failures = lifetimeMs < GOOD_WATCH_MS ? failures + 1 : 0
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof HoldfastError)) throw error
      failures++
      if (!error.retryable) longestMs = MAX_REFUSED_PAUSE_MS
      follower.fail(error)
    }
    if (failures > 0) await pause(failures, longestMs, signal)
  }
}

/** Where we are in a cluster's history. */
type Position = Pick<RangeResult, 'clusterId' | 'revision' | 'raftTerm'>

class Follower {
  readonly #options: MirrorOptions
  /** Keys and their modRevision. */
  #known: Map<string, bigint>
  /** Everything up to here has been reported. */
  #position: Position | undefined
  #mustList = true
  #isUp: boolean | undefined

  constructor(options: MirrorOptions) {
    this.#options = options
    this.#known = new Map(options.known)
  }

  /** Catches up, then watches; resolves with the time the watch lived. Throws when it could not even begin. */
  async follow(): Promise<number> {
    const { client, prefix, signal } = this.#options
    const { clusterId, revision } = await this.#catchUp()
    let createdAt: number | undefined
    try {
      for await (const news of client.watch({ ...prefixRange(prefix), startRevision: revision + 1n }, signal)) {
        switch (news.kind) {
          case 'created':
            if (news.header.clusterId !== clusterId) throw anotherCluster(prefix)
            createdAt = performance.now()
            this.#report({ up: true, revision })
            break
          case 'events':
            this.#deliver(news.events)
            break
          case 'progress':
            this.#advance(news.revision)
            break
          case 'compacted':
            this.#mustList = true
            break
        }
      }
    } catch (error) {
      if (createdAt === undefined || signal.aborted || !(error instanceof HoldfastError)) throw error
    }
    return createdAt === undefined ? 0 : performance.now() - createdAt
  }

  fail(error: HoldfastError): void {
    this.#report({ up: false, error })
  }

  #report(state: MirrorState): void {
    if (this.#isUp === state.up) return
    this.#isUp = state.up
    this.#options.onState(state)
  }

  async #catchUp(): Promise<Position> {
    const { client, prefix, signal } = this.#options
    if (!this.#mustList && this.#position !== undefined) {
      const now = await client.range({ key: prefixRange(prefix).key, keysOnly: true }, signal)
      if (goesOn(this.#position, now)) {
        this.#position = { ...this.#position, raftTerm: now.raftTerm }
        return this.#position
      }
    }
    for (;;) {
      try {
        return await this.#list()
      } catch (error) {
        if (!isForgotten(error)) throw error
      }
    }
  }

  async #list(): Promise<Position> {
    const { client, prefix, signal } = this.#options
    const first = await firstPage(client, prefix, signal)
    const { clusterId, revision, raftTerm } = first
    const position = { clusterId, revision, raftTerm }
    const comparison = new Comparison(this.#known, this.#isComparable(position))
    comparison.take(first.kvs)
    for await (const page of laterPages(client, prefix, first, signal)) comparison.take(page.kvs)
    const changes = comparison.finish(revision)
    this.#known = comparison.now
    this.#position = position
    this.#mustList = false
    this.#tell(changes, position, true)
    return position
  }

  #isComparable(now: Position): boolean {
    const { knownClusterId } = this.#options
    if (this.#position !== undefined) return goesOn(this.#position, now)
    if (knownClusterId !== undefined && knownClusterId !== now.clusterId) return false
    return this.#known.values().every((modRevision) => modRevision <= now.revision)
  }

  /** Events may be of several revisions; each is one change. What was reported before is left out. */
  #deliver(events: readonly WatchEvent[]): void {
    for (let from = 0, to = 0; from < events.length; from = to) {
      const revision = events[from].kv.modRevision
      while (to < events.length && events[to].kv.modRevision === revision) to++
      if (this.#advance(revision)) this.#apply(events.slice(from, to), revision)
    }
  }

  #apply(events: readonly WatchEvent[], revision: bigint): void {
    const changes = events.map(({ kv, isDeletion }) => {
      if (isDeletion) this.#known.delete(keyText(kv.key))
      else this.#known.set(keyText(kv.key), revision)
      return { key: kv.key, value: isDeletion ? undefined : kv, revision }
    })
    if (this.#position !== undefined) this.#tell(changes, this.#position, false)
  }

  /** False when that revision has been passed already. */
  #advance(revision: bigint): boolean {
    if (this.#position === undefined || revision <= this.#position.revision) return false
    this.#position = { ...this.#position, revision }
    return true
  }

  #tell(changes: readonly MirrorChange[], { revision, clusterId }: Position, listed: boolean): void {
    this.#options.onChanges(changes, { revision, clusterId, listed, count: this.#known.size })
  }
}

/** A cluster restored from a backup has lower numbers; so has one that was made anew at the same place. */
function goesOn(before: Position, now: Position): boolean {
  return now.clusterId === before.clusterId && now.revision >= before.revision && now.raftTerm >= before.raftTerm
}

function isForgotten(error: unknown): boolean {
  return error instanceof HoldfastError && error.cause instanceof CallFailure && isHistoryGone(error.cause)
}

async function pause(failures: number, longestMs: number, signal: AbortSignal): Promise<void> {
  const longest = Math.min(longestMs, FIRST_PAUSE_MS * 2 ** (failures - 1))
  await sleep(longest * (1 - Math.random() / 2), undefined, { signal }).catch(() => {})
}
