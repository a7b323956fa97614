// What every source in etcd does: starts from the last good state on disk, follows a prefix for good, remembers on disk
// what it accepted, and says how it stands with etcd.
//
//   snapshot ──▶ apply … flush        (once, before etcd is asked)
//   mirror ────▶ apply … flush ──▶ snapshot
//
// The snapshot is read, and much at once taken in, step by step in the lane of the source, between events of other
// sources; what comes meanwhile waits its turn. A value whose fate is known later is remembered then.
//
// Only an observed deletion removes something. A cluster whose history is not the one we knew and that has nothing at all
// under the prefix is no such observation: more likely etcd has lost its data, and names are kept until something is put there.

import { STEP_SIZE, type Steps } from '../../dns/steps.ts'
import { EtcdClient } from '../../etcd/client.ts'
import { mirror } from '../../etcd/mirror.ts'
import type { MirrorChange, MirrorInfo } from '../../etcd/mirror.ts'
import type { EtcdOptions } from '../../etcd/options.ts'
import { messageOf } from '../../lib/errors.ts'
import type { HoldfastError } from '../../lib/errors.ts'
import { Batches } from '../batches.ts'
import { SourceSnapshot, snapshotId } from '../snapshot.ts'
import type { Lane, WorkQueue } from '../work-queue.ts'

export interface SourceChange {
  readonly key: Uint8Array
  /** Undefined: deleted. */
  readonly value: Uint8Array | undefined
  readonly modRevision: bigint
  readonly lease: bigint
}

export interface EtcdFollower {
  /** Takes one change in; false when it is refused and shall not be remembered. */
  apply(change: SourceChange): boolean | Promise<boolean>
  /** Everything that belongs together has been applied. */
  flush(revision: bigint): Steps<void> | undefined
  /** What is wrong with keys and values now, one line each. */
  problems(): readonly string[]
}

/** Plain data: it goes to another thread. */
export interface SourceState {
  /** Following etcd, or serving what was known when it went away. */
  readonly up: boolean
  /** Why not; undefined while it has not been tried yet. */
  readonly error: string | undefined
  readonly hint: string | undefined
  readonly revision: string
  readonly keys: number
  /** The keys are those of another cluster than the one that answers, which has none. */
  readonly doubted: boolean
  /** Unix milliseconds of the state on disk that the source started from. */
  readonly startedFrom: number | undefined
  /** How many lines there are about keys and values, and the first of them. */
  readonly problemCount: number
  readonly problems: readonly string[]
}

export interface EtcdSourceOptions {
  /** Kind of source, for the snapshot's name and messages. */
  readonly type: string
  readonly name: string
  readonly etcd: EtcdOptions
  readonly prefix: string
  readonly stateDirectory: string | undefined
  /** What to do with a state on disk that lacks something: names that follow a primary are better unknown than wrong. */
  readonly damagedState: 'use' | 'discard'
  readonly signal: AbortSignal
  readonly work: WorkQueue
  readonly lane: Lane
  readonly follower: EtcdFollower
  readonly onState: (state: SourceState) => void
  readonly onProblem: (message: string) => void
}

/** How long a start waits for etcd, when the last good state is known and when it is not. */
const PATIENCE_MS = { known: 2000, unknown: 3000 } as const
/** How many keys there are is told no more often than this. */
const STATE_MS = 1000
const PROBLEMS_SHOWN = 5
/** Keys that are taken in before other events have their turn. */
const KEYS_AT_ONCE = 32

/** The part of a cluster's history that is believed. */
type Position = Pick<MirrorInfo, 'clusterId' | 'revision'>

interface AcceptedChange {
  readonly change: SourceChange
  readonly clusterId: bigint
}

export class EtcdSource {
  readonly client: EtcdClient
  /** Resolves when there is something to serve, or nothing is to be waited for. */
  readonly settled: Promise<void>
  readonly #options: EtcdSourceOptions
  readonly #settle: () => void
  #snapshot: SourceSnapshot | undefined
  readonly #prefix: Uint8Array
  /** Keys that an empty cluster does not have and that are kept for now. */
  readonly #heldBack = new Map<string, Uint8Array>()
  #position: Position | undefined
  #keys = 0
  #startedFrom: number | undefined
  #up = false
  #error: Pick<HoldfastError, 'message' | 'hint'> | undefined
  #telling = false
  #defect: string | undefined
  /** What is accepted and not in the snapshot yet. */
  #accepted: AcceptedChange[] = []
  /** What is to be taken in, in order. */
  readonly #batches: Batches
  /** Nothing more is to be waited for than what is being taken in. */
  #isKnown = false

  constructor(options: EtcdSourceOptions) {
    const { etcd, prefix, signal, work, lane } = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#options = options
    this.settled = promise
    this.#settle = resolve
    this.#prefix = Buffer.from(prefix)
    this.client = new EtcdClient(etcd)
    this.#batches = new Batches({
      work,
      lane,
      onFailure: (thrown) => this.#fail(`follow "${prefix}"`, thrown),
      onIdle: () => this.#settleWhenKnown(),
    })
    signal.addEventListener('abort', () => this.#close(), { once: true })
  }

  start(): void {
    const { work, lane } = this.#options
    this.#tell()
    // However long the last good state takes to read.
    setTimeout(this.#settle, PATIENCE_MS.unknown).unref()
    work.add({
      lane,
      steps: this.#recall(),
      onDone: (known) => this.#follow(known),
      onFailure: (thrown) => {
        this.#fail('use the state on disk', thrown)
        this.#follow(undefined)
      },
    })
  }

  #close(): void {
    this.client.close()
    this.#writeAccepted()
    this.#snapshot?.close()
  }

  #follow(known: ReadonlyMap<string, bigint> | undefined): void {
    if (this.#options.signal.aborted) return this.#close()
    this.#tell()
    setTimeout(this.#settle, known === undefined ? PATIENCE_MS.unknown : PATIENCE_MS.known).unref()
    const following = mirror({
      client: this.client,
      prefix: this.#prefix,
      signal: this.#options.signal,
      ...(known !== undefined && { known }),
      ...(this.#position !== undefined && { knownClusterId: this.#position.clusterId }),
      onChanges: (changes, info) => this.#batches.add(() => this.#takeChanges(changes, info)),
      onState: (state) => {
        this.#up = state.up
        this.#error = state.up ? undefined : state.error
        this.#isKnown ||= state.up || known !== undefined
        this.#settleWhenKnown()
        this.#tell()
      },
    })
    following.catch((thrown: unknown) => {
      this.#fail(`follow "${this.#options.prefix}"`, thrown)
      this.#up = false
      this.#error = { message: messageOf(thrown), hint: undefined }
      this.#tell()
    })
  }

  #settleWhenKnown(): void {
    if (this.#isKnown && !this.#batches.isBusy) this.#settle()
  }

  /** Takes in the last good state; keys and revisions of it. */
  *#recall(): Steps<ReadonlyMap<string, bigint> | undefined> {
    const { type, etcd, prefix, stateDirectory, damagedState, onProblem } = this.#options
    if (stateDirectory === undefined) return undefined
    const id = snapshotId([type, ...etcd.endpoints.toSorted(), prefix])
    this.#snapshot = yield* SourceSnapshot.openSteps(stateDirectory, id, onProblem, damagedState)
    const { content } = this.#snapshot
    if (content === undefined) return undefined
    const { entries, revision, clusterId, savedAt } = content
    this.#position = { clusterId, revision }
    this.#keys = entries.size
    this.#startedFrom = savedAt
    this.#snapshot.release()
    this.#batches.add(() => this.#takeRecalled(entries.values(), revision))
    const known = new Map<string, bigint>()
    for (const [name, { modRevision }] of entries) {
      known.set(name, modRevision)
      if (known.size % STEP_SIZE === 0) yield
    }
    return known
  }

  *#takeRecalled(entries: Iterable<SourceChange>, revision: bigint): Steps<void> {
    let count = 0
    for (const { key, value, modRevision, lease } of entries) {
      void this.#apply({ key, value, modRevision, lease })
      if (++count % KEYS_AT_ONCE === 0) yield
    }
    yield* this.#flush(revision)
  }

  *#takeChanges(changes: readonly MirrorChange[], info: MirrorInfo): Steps<void> {
    const { revision, clusterId, listed, count } = info
    const believed = this.#believe(changes, info)
    if (believed === undefined) {
      this.#tell()
      return
    }
    this.#position = { clusterId, revision }
    this.#keys = count
    const accepted: SourceChange[] = []
    for (const [i, change] of believed.entries()) {
      const verdict = this.#apply(change)
      if (typeof verdict !== 'boolean') this.#rememberLater(change, clusterId, verdict)
      else if (verdict) accepted.push(change)
      if (i % KEYS_AT_ONCE === KEYS_AT_ONCE - 1) yield
    }
    if (accepted.length > 0 || listed) {
      yield* this.#flush(revision)
      this.#snapshot?.append({ revision, clusterId, entries: accepted })
    }
    if (listed) this.#tell()
    else this.#tellSoon()
  }

  /** Everything that is accepted in one turn is written together. */
  #rememberLater(change: SourceChange, clusterId: bigint, verdict: Promise<boolean>): void {
    const remember = (accepted: boolean) => {
      this.#tellSoon()
      if (!accepted) return
      if (this.#accepted.length === 0) setImmediate(() => this.#writeAccepted())
      this.#accepted.push({ change, clusterId })
    }
    verdict.then(remember).catch((thrown: unknown) => this.#fail('remember a change', thrown))
  }

  /** A state of another history that came meanwhile has the last word. */
  #writeAccepted(): void {
    const now = this.#position
    const accepted = this.#accepted
    this.#accepted = []
    if (now === undefined) return
    const isOfNow = ({ change, clusterId }: AcceptedChange) =>
      now.clusterId === clusterId && now.revision >= change.modRevision
    const entries = accepted.filter(isOfNow).map(({ change }) => change)
    if (entries.length > 0) this.#snapshot?.append({ ...now, entries })
  }

  /** Undefined when all that was seen is another history, without a single key. */
  #believe(changes: readonly MirrorChange[], info: MirrorInfo): SourceChange[] | undefined {
    const wanted = changes.map(toSourceChange)
    if (info.count === 0 && this.#isForeign(info)) {
      for (const { key } of wanted) this.#heldBack.set(Buffer.from(key).toString('latin1'), key)
      if (wanted.length > 0) this.#warnAboutLoss()
      if (this.#heldBack.size > 0) return undefined
    }
    if (this.#heldBack.size === 0) return wanted
    for (const { key } of wanted) this.#heldBack.delete(Buffer.from(key).toString('latin1'))
    const gone = Array.from(this.#heldBack.values(), (key) => {
      return { key, value: undefined, modRevision: info.revision, lease: 0n }
    })
    this.#heldBack.clear()
    return [...gone, ...wanted]
  }

  /** Data that was lost or restored shows by its numbers, also where the cluster has kept its name. */
  #isForeign({ clusterId, revision }: Position): boolean {
    const known = this.#position
    return known !== undefined && (known.clusterId !== clusterId || revision < known.revision)
  }

  #warnAboutLoss(): void {
    const { name, prefix, onProblem } = this.#options
    onProblem(
      `Cannot believe ${name}: this is another etcd cluster than before, with nothing under "${prefix}"; the ${this.#heldBack.size} keys known before stay in service until one is put there`,
    )
  }

  /** A fault in what a key leads to is no reason to lose sight of the others. */
  #apply(change: SourceChange): boolean | Promise<boolean> {
    try {
      return this.#options.follower.apply(change)
    } catch (thrown) {
      this.#fail(`take in "${Buffer.from(change.key).toString()}"`, thrown)
      return false
    }
  }

  *#flush(revision: bigint): Steps<void> {
    try {
      const steps = this.#options.follower.flush(revision)
      if (steps !== undefined) yield* steps
    } catch (thrown) {
      this.#fail(`publish revision ${revision} of "${this.#options.prefix}"`, thrown)
    }
  }

  /** Said once, not at every key that it happens with. */
  #fail(action: string, thrown: unknown): void {
    const reason = messageOf(thrown)
    if (reason === this.#defect) return
    this.#defect = reason
    const { name, onProblem } = this.#options
    onProblem(`Cannot ${action} for ${name}: ${reason}; this is a defect, please report it`)
  }

  #tellSoon(): void {
    if (this.#telling) return
    this.#telling = true
    setTimeout(() => this.#tell(), STATE_MS).unref()
  }

  #tell(): void {
    this.#telling = false
    const { follower, onState } = this.#options
    const problems = follower.problems()
    onState({
      up: this.#up,
      error: this.#error?.message,
      hint: this.#error?.hint,
      revision: String(this.#position?.revision ?? 0n),
      keys: this.#heldBack.size > 0 ? this.#heldBack.size : this.#keys,
      doubted: this.#heldBack.size > 0,
      startedFrom: this.#startedFrom,
      problemCount: problems.length,
      problems: problems.slice(0, PROBLEMS_SHOWN),
    })
  }
}

function toSourceChange({ key, value, revision }: MirrorChange): SourceChange {
  return value === undefined
    ? { key, value: undefined, modRevision: revision, lease: 0n }
    : { key, value: value.value, modRevision: value.modRevision, lease: value.lease }
}
