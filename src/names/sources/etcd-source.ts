// What every source in etcd does: starts from the last good state on disk, follows a prefix for good, remembers on disk
// what it accepted, and says how it stands with etcd.
//
//   snapshot ──▶ apply … flush        (once, before etcd is asked)
//   mirror ────▶ apply … flush ──▶ snapshot
//
// Only an observed deletion removes something. A cluster that is not the one we knew and has nothing at all under the
// prefix is no such observation: more likely etcd has lost its data, and names are kept until something is put there.

import { EtcdClient } from '../../etcd/client.ts'
import { mirror } from '../../etcd/mirror.ts'
import type { MirrorChange, MirrorInfo } from '../../etcd/mirror.ts'
import type { EtcdOptions } from '../../etcd/options.ts'
import type { HoldfastError } from '../../lib/errors.ts'
import { SourceSnapshot, snapshotId } from '../snapshot.ts'

export interface SourceChange {
  readonly key: Uint8Array
  /** Undefined: deleted. */
  readonly value: Uint8Array | undefined
  readonly modRevision: bigint
  readonly lease: bigint
}

export interface EtcdFollower {
  /** Takes one change in; false when it is refused and shall not be remembered. */
  apply(change: SourceChange): boolean
  /** Everything that belongs together has been applied. */
  flush(revision: bigint): void
}

export interface SourceState {
  /** Following etcd, or serving what was known when it went away. */
  readonly up: boolean
  readonly error: HoldfastError | undefined
  readonly revision: bigint
  readonly keys: number
  /** Unix milliseconds of the state on disk that the source started from. */
  readonly startedFrom: number | undefined
}

export interface EtcdSourceOptions {
  /** Kind of source, for the snapshot's name and messages. */
  readonly type: string
  readonly name: string
  readonly etcd: EtcdOptions
  readonly prefix: string
  readonly stateDirectory: string | undefined
  readonly signal: AbortSignal
  readonly follower: EtcdFollower
  readonly onState: (state: SourceState) => void
  readonly onProblem: (message: string) => void
}

/** How long a start waits for etcd, when the last good state is known and when it is not. */
const PATIENCE_MS = { known: 2000, unknown: 5000 } as const

export class EtcdSource {
  readonly client: EtcdClient
  /** Resolves when there is something to serve, or nothing is to be waited for. */
  readonly settled: Promise<void>
  readonly #options: EtcdSourceOptions
  readonly #settle: () => void
  readonly #snapshot: SourceSnapshot | undefined
  readonly #prefix: Uint8Array
  /** Keys of another cluster that are kept for now. */
  readonly #heldBack = new Map<string, Uint8Array>()
  #clusterId: bigint | undefined
  #revision = 0n
  #keys = 0
  #startedFrom: number | undefined

  constructor(options: EtcdSourceOptions) {
    const { type, etcd, prefix, stateDirectory, signal, onProblem } = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#options = options
    this.settled = promise
    this.#settle = resolve
    this.#prefix = Buffer.from(prefix)
    this.client = new EtcdClient(etcd)
    signal.addEventListener('abort', () => this.client.close(), { once: true })
    if (stateDirectory !== undefined) {
      const id = snapshotId([type, ...etcd.endpoints.toSorted(), prefix])
      this.#snapshot = SourceSnapshot.open(stateDirectory, id, onProblem)
      signal.addEventListener('abort', () => this.#snapshot?.close(), { once: true })
    }
  }

  start(): void {
    const { signal, onState } = this.#options
    const known = this.#recall()
    setTimeout(this.#settle, known === undefined ? PATIENCE_MS.unknown : PATIENCE_MS.known).unref()
    void mirror({
      client: this.client,
      prefix: this.#prefix,
      signal,
      ...(known === undefined ? {} : { known }),
      onChanges: (changes, info) => this.#take(changes, info),
      onState: (state) => {
        if (state.up || known !== undefined) this.#settle()
        onState(this.#state(state.up, state.up ? undefined : state.error))
      },
    })
  }

  /** Takes in the last good state; keys and revisions of it. */
  #recall(): ReadonlyMap<string, bigint> | undefined {
    const content = this.#snapshot?.content
    if (content === undefined) return undefined
    const { follower } = this.#options
    const known = new Map<string, bigint>()
    for (const [name, { key, value, modRevision, lease }] of content.entries) {
      follower.apply({ key, value, modRevision, lease })
      known.set(name, modRevision)
    }
    follower.flush(content.revision)
    this.#clusterId = content.clusterId
    this.#revision = content.revision
    this.#keys = known.size
    this.#startedFrom = content.savedAt
    this.#snapshot?.release()
    return known
  }

  #take(changes: readonly MirrorChange[], info: MirrorInfo): void {
    const { follower } = this.#options
    const accepted = this.#sift(changes, info).filter((change) => follower.apply(change))
    this.#revision = info.revision
    this.#clusterId = info.clusterId
    this.#keys = info.count
    if (accepted.length === 0 && !info.listed) return
    follower.flush(info.revision)
    this.#snapshot?.append({ revision: info.revision, clusterId: info.clusterId, entries: accepted })
    if (info.listed) this.#options.onState(this.#state(true, undefined))
  }

  /** Holds deletions back that only say that this is another, empty cluster. */
  #sift(changes: readonly MirrorChange[], info: MirrorInfo): SourceChange[] {
    const wanted = changes.map(toSourceChange)
    if (info.listed && info.count === 0 && this.#clusterId !== undefined && this.#clusterId !== info.clusterId) {
      for (const { key } of wanted) this.#heldBack.set(Buffer.from(key).toString('latin1'), key)
      if (wanted.length > 0) this.#warnAboutLoss(wanted.length)
      return []
    }
    if (this.#heldBack.size === 0 || wanted.length === 0) return wanted
    for (const { key } of wanted) this.#heldBack.delete(Buffer.from(key).toString('latin1'))
    const gone = Array.from(this.#heldBack.values(), (key) => ({
      key,
      value: undefined,
      modRevision: info.revision,
      lease: 0n,
    }))
    this.#heldBack.clear()
    return [...gone, ...wanted]
  }

  #warnAboutLoss(keys: number): void {
    const { name, prefix, onProblem } = this.#options
    onProblem(
      `Cannot believe ${name}: this is another etcd cluster than before, with nothing under "${prefix}"; the ${keys} keys known before stay in service until one is put there`,
    )
  }

  #state(up: boolean, error: HoldfastError | undefined): SourceState {
    return { up, error, revision: this.#revision, keys: this.#keys, startedFrom: this.#startedFrom }
  }
}

function toSourceChange({ key, value, revision }: MirrorChange): SourceChange {
  return value === undefined
    ? { key, value: undefined, modRevision: revision, lease: 0n }
    : { key, value: value.value, modRevision: value.modRevision, lease: value.lease }
}
