// Keeps records in a store equal to what is wanted, name by name. What changes is looked at when it changes; now and then
// everything is, as a safety net.
//
//   touch(names) ──▶ waiting ──▶ plan (current from the store, wanted from the index) ──▶ apply ──▶ the store tells of it
//        ▲                                                                                   │
//        └──────────────── what failed, what others changed ◀────────────────────────────────┘
//
// A deletion is believed when it was seen. Names that are in the store and nobody wants, since before the start, go only
// once every kind of object is known as a whole, and not too many of them at once.

import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Conflict } from '../endpoints/conflict-messages.ts'
import type { Changes, Endpoint } from '../endpoints/endpoint.ts'
import { normalName } from '../endpoints/normal-name.ts'
import { planChanges, type Policy } from '../endpoints/plan.ts'
import { ToldProblems } from '../kubernetes/told-problems.ts'
import type { Registry } from '../registry/registry.ts'
import { DeletionLimit } from './deletion-limit.ts'
import type { RunCounts } from './publisher-state.ts'

export interface RecordStore {
  /** Names that have records, marks of ownership among them. */
  names(): Iterable<string>
  endpoints(names: Iterable<string>): readonly Endpoint[]
  /** What would be read back of an endpoint; or why it cannot be stored. */
  asStored(endpoint: Endpoint): Endpoint | string
  /** What could not be changed is among the problems; `mayWrite` is asked before every write. */
  apply(changes: Changes, mayWrite: () => boolean): Promise<{ readonly problems: readonly StoreProblem[] }>
}

export interface StoreProblem {
  readonly name: string
  readonly message: string
  /** Another try may succeed. */
  readonly retryable: boolean
}

export interface ReconcilerOptions {
  readonly store: RecordStore
  readonly registry: Registry
  readonly policy: Policy
  readonly managedRecordTypes: readonly string[]
  readonly excludeRecordTypes: readonly string[]
  readonly domainFilter: (name: string) => boolean
  /** Names that are wanted, and what is wanted of one. */
  readonly wanted: { names(): Iterable<string>; candidates(name: string): readonly Endpoint[] }
  /** Everything that can be wanted is known. */
  readonly isComplete: () => boolean
  readonly intervalMs: number
  /** Names per run that may go; undefined: as many as were seen going, of others not the greater part. */
  readonly maxDeletions: number | undefined
  /** Told of each run that would change something, before it does. */
  readonly onPlan: (changes: Changes) => void
  readonly dryRun: boolean
  readonly log: Log
}

/** The subject of problems that are about no name in particular. */
const STORE = ''

const RETRY_MS = { first: 200, most: 30_000 } as const

export class Reconciler {
  readonly #counts = { idle: 0, failed: 0, lastAt: 0, lastGoodAt: 0 }
  readonly #options: ReconcilerOptions
  readonly #limit: DeletionLimit
  /** Names to be looked at; true: its change was watched, not found by comparing. */
  #waiting = new Map<string, boolean>()
  /** Names that this process has seen wanted at some time. */
  readonly #seen = new Set<string>()
  readonly #problems: ToldProblems
  #wake: (() => void) | undefined

  constructor(options: ReconcilerOptions) {
    this.#options = options
    this.#limit = new DeletionLimit(options.maxDeletions, options.log)
    this.#problems = new ToldProblems((message) => options.log.warning(message))
  }

  get counts(): RunCounts {
    return this.#counts
  }

  /** Something is wanted otherwise of these names. */
  touch(names: Iterable<string>, listed: boolean): void {
    for (const name of names) {
      this.#seen.add(name)
      this.#waiting.set(name, !listed || (this.#waiting.get(name) ?? false))
    }
    this.#wake?.()
  }

  /** Somebody has changed these names in the store, perhaps we. */
  stored(names: Iterable<string>): void {
    const { store, registry } = this.#options
    for (const name of names)
      for (const subject of [name, ...store.endpoints([name]).flatMap((record) => registry.markedNames(record))])
        if (!this.#waiting.has(subject)) this.#waiting.set(subject, false)
    this.#wake?.()
  }

  /** Runs until the signal says otherwise; `mayWrite` is asked before every write. */
  async run(signal: AbortSignal, mayWrite: () => boolean): Promise<void> {
    let nextFull = 0
    let pause = 0
    while (!signal.aborted) {
      const isFull = Date.now() >= nextFull
      if (isFull) nextFull = Date.now() + this.#options.intervalMs
      const failed = isFull || this.#waiting.size > 0 ? !(await this.#attempt(isFull, mayWrite)) : false
      pause = failed ? Math.min(Math.max(pause * 2, RETRY_MS.first), RETRY_MS.most) : 0
      if (failed) await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined)
      else if (this.#waiting.size === 0) await this.#idle(nextFull - Date.now(), signal)
    }
  }

  /** Looks at everything, once. False when something could not be done. */
  async once(): Promise<boolean> {
    return this.#attempt(true, () => true)
  }

  async #attempt(isFull: boolean, mayWrite: () => boolean): Promise<boolean> {
    const batch = this.#waiting
    this.#waiting = new Map()
    this.#counts.lastAt = Date.now() / 1000
    let again: readonly string[]
    try {
      again = await this.#reconcile(isFull ? this.#everything(batch) : batch, mayWrite)
    } catch (thrown) {
      if (mayWrite()) this.#problems.set(STORE, [`Cannot write records: ${messageOf(thrown)}; it is tried again`])
      again = [...batch.keys()]
    }
    for (const name of again) if (!this.#waiting.has(name)) this.#waiting.set(name, batch.get(name) ?? false)
    if (again.length > 0) this.#counts.failed++
    else this.#counts.lastGoodAt = Date.now() / 1000
    return again.length === 0
  }

  #everything(batch: ReadonlyMap<string, boolean>): ReadonlyMap<string, boolean> {
    const { store, wanted } = this.#options
    const all = new Map<string, boolean>()
    for (const name of store.names()) all.set(name, false)
    for (const name of wanted.names()) all.set(name, false)
    for (const [name, watched] of batch) all.set(name, watched)
    return all
  }

  /** Resolves to the names that are to be looked at again. */
  async #reconcile(names: ReadonlyMap<string, boolean>, mayWrite: () => boolean): Promise<readonly string[]> {
    const { store, registry, onPlan, dryRun } = this.#options
    /** Names of marks, too, with the name that they are about. */
    const looked = new Map<string, string>()
    for (const name of names.keys()) for (const mark of registry.markNames(name)) looked.set(mark, name)
    for (const name of names.keys()) looked.set(name, name)
    const existing = store.endpoints(looked.keys())
    const changes = this.#plan(existing, names)
    if (isEmpty(changes)) {
      this.#counts.idle++
      this.#problems.set(STORE, [])
      return []
    }
    const { conflicts, ...marked } = registry.mark(changes, existing)
    this.#tellConflicts([], conflicts)
    onPlan(changes)
    if (dryRun) return []
    if (!mayWrite()) return [...names.keys()]
    const { problems } = await store.apply(marked, mayWrite)
    if (mayWrite()) this.#tellProblems(problems)
    return problems.filter(({ retryable }) => retryable).map(({ name }) => looked.get(name) ?? name)
  }

  #plan(existing: readonly Endpoint[], names: ReadonlyMap<string, boolean>): Changes {
    const { registry, policy, domainFilter } = this.#options
    const { managedRecordTypes, excludeRecordTypes } = this.#options
    const { desired, refused } = this.#storable(names.keys())
    const { conflicts, ...changes } = planChanges({
      current: registry.records(existing).filter(({ dnsName }) => names.has(normalName(dnsName))),
      desired,
      ...{ policy, domainFilter, managedRecordTypes, excludeRecordTypes, ownerId: registry.ownerId },
    })
    this.#tellConflicts(names.keys(), [...refused, ...conflicts])
    return { ...changes, delete: this.#believed(changes.delete, names) }
  }

  /** What is wanted, as the store will have it, and what it has no room for. */
  #storable(names: Iterable<string>): { desired: readonly Endpoint[]; refused: readonly Conflict[] } {
    const { wanted, store } = this.#options
    const desired: Endpoint[] = []
    const refused: Conflict[] = []
    for (const name of names)
      for (const endpoint of wanted.candidates(name)) {
        const stored = store.asStored(endpoint)
        if (typeof stored === 'string') refused.push({ dnsName: name, message: stored })
        else desired.push(stored)
      }
    return { desired, refused }
  }

  /** Deletions that may happen now. */
  #believed(deletions: readonly Endpoint[], names: ReadonlyMap<string, boolean>): readonly Endpoint[] {
    if (deletions.length === 0) return deletions
    const { isComplete, store, registry } = this.#options
    const complete = isComplete()
    const known = deletions.filter(({ dnsName }) => complete || this.#seen.has(normalName(dnsName)))
    const owned = () => registry.records(store.endpoints(store.names())).length
    return this.#limit.allow(known, ({ dnsName }) => names.get(normalName(dnsName)) === true, owned)
  }

  #tellConflicts(names: Iterable<string>, conflicts: readonly Conflict[]): void {
    const byName = Map.groupBy(conflicts, ({ dnsName }) => normalName(dnsName))
    for (const name of new Set([...names, ...byName.keys()]))
      this.#problems.set(name, byName.get(name)?.map(({ message }) => message) ?? [])
  }

  /** An etcd that is away is one problem, however many names it concerns. */
  #tellProblems(problems: readonly StoreProblem[]): void {
    const [general, ...others] = problems.filter(({ retryable }) => retryable)
    const more = others.length > 0 ? ` (and ${others.length} names more)` : ''
    this.#problems.set(STORE, general === undefined ? [] : [`${general.message}${more}`])
    for (const { name, message, retryable } of problems) if (!retryable) this.#problems.set(name, [message])
  }

  async #idle(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, Math.max(0, ms))
    signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
    clearTimeout(timer)
    this.#wake = undefined
  }
}

function isEmpty(changes: Changes): boolean {
  return changes.create.length + changes.updateNew.length + changes.delete.length === 0
}
