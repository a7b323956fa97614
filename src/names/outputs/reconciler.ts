// Keeps records in a store equal to what is wanted, name by name. What changes is looked at when it changes; now and then
// everything is, as a safety net, in slices between which changes have their turn.
//
//   touch(names) ──▶ waiting ──▶ plan (current from the store, wanted from the index) ──▶ apply ──▶ the store tells of it
//        ▲                                                                                   │
//        └──────────────── what failed, what others changed ◀────────────────────────────────┘
//
// A deletion is believed when it was seen. Names that are in the store and nobody wants, since before the start, go only
// once every kind of object is known as a whole, and not too many of them at once.

import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Changes } from '../endpoints/endpoint.ts'
import { normalName } from '../endpoints/normal-name.ts'
import { ToldProblems } from '../kubernetes/told-problems.ts'
import { limitDeletions } from './deletion-limit.ts'
import { type NamePlan, NamePlanner, type PlannerOptions, type StoredRecords, without } from './name-planner.ts'
import type { RunCounts } from './publisher-state.ts'

export interface RecordStore extends StoredRecords {
  /** What could not be changed is among the problems. Nothing is written once `mayWrite` says no. */
  apply(changes: Changes, mayWrite: () => boolean): Promise<{ readonly problems: readonly StoreProblem[] }>
}

export interface StoreProblem {
  readonly name: string
  readonly message: string
  /** Another try may succeed. */
  readonly retryable: boolean
}

export interface ReconcilerOptions extends PlannerOptions {
  readonly store: RecordStore
  /** Everything that can be wanted is known. */
  readonly isComplete: () => boolean
  readonly intervalMs: number
  /** Names per run that may go; undefined: as many as were seen going, of others not the greater part. */
  readonly maxDeletions: number | undefined
  /** Told of what has been changed, or would be. */
  readonly onPlan: (changes: Changes) => void
  readonly dryRun: boolean
  readonly log: Log
}

interface Batch {
  /** True: its change was watched, not found by comparing. */
  readonly names: ReadonlyMap<string, boolean>
  /** Names that may go, if nobody wants them. Those that nobody wants only since then are counted anew. */
  readonly mayGo: ReadonlySet<string>
}

interface Outcome {
  /** Names that are to be looked at again, soon. */
  readonly again: readonly string[]
  /** Something was not written, and would not be if it was tried again at once. */
  readonly isRefused: boolean
}

const DONE: Outcome = { again: [], isRefused: false }

/** Subjects of problems that are about no name in particular. */
const SUBJECT = { store: ' store', limit: ' limit', unknown: ' unknown' } as const

const RETRY_MS = { first: 200, most: 5000 } as const
const SLICE = 500

export class Reconciler {
  readonly #counts = { idle: 0, failed: 0, lastAt: 0, lastGoodAt: 0 }
  readonly #options: ReconcilerOptions
  readonly #planner: NamePlanner
  readonly #problems: ToldProblems
  readonly #limits: ToldProblems
  #waiting = new Map<string, boolean>()
  /** Names that this process has seen wanted at some time, until they are deleted. */
  readonly #seen = new Set<string>()
  /** Otherwise nothing has to wait: a run begins with everything. */
  #isRunning = false
  #wake: (() => void) | undefined

  constructor(options: ReconcilerOptions) {
    this.#options = options
    this.#planner = new NamePlanner(options)
    this.#problems = new ToldProblems((message) => options.log.warning(message))
    this.#limits = new ToldProblems((message) => options.log.error(message))
  }

  get counts(): RunCounts {
    return this.#counts
  }

  /** Something is wanted otherwise of these names. */
  touch(names: Iterable<string>, listed: boolean): void {
    for (const name of names) {
      this.#seen.add(name)
      if (this.#isRunning) this.#waiting.set(name, !listed || (this.#waiting.get(name) ?? false))
    }
    this.#wake?.()
  }

  /** Somebody has changed these names in the store, perhaps we. */
  stored(names: Iterable<string>): void {
    if (!this.#isRunning) return
    const { store, registry } = this.#options
    for (const name of names)
      for (const subject of [name, ...store.endpoints([name]).flatMap((record) => registry.markedNames(record))])
        if (!this.#waiting.has(subject)) this.#waiting.set(subject, false)
    this.#wake?.()
  }

  /** Runs until the signal says otherwise; `mayWrite` is asked before every write. */
  async run(signal: AbortSignal, mayWrite: () => boolean): Promise<void> {
    this.#isRunning = true
    let slices: Batch[] = []
    let nextFull = 0
    let pause = 0
    while (!signal.aborted) {
      if (Date.now() >= nextFull) {
        slices = this.#everything()
        nextFull = Date.now() + this.#options.intervalMs
      }
      const batch = this.#takeWaiting() ?? slices.shift()
      if (batch === undefined) {
        await this.#idle(nextFull - Date.now(), signal)
        continue
      }
      const isDone = await this.#attempt(batch, mayWrite)
      pause = isDone ? 0 : Math.min(Math.max(pause * 2, RETRY_MS.first), RETRY_MS.most)
      if (isDone) await breathe()
      else await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined)
    }
    this.#isRunning = false
    this.#waiting.clear()
  }

  /** Looks at everything, once. False when something could not be done. */
  async once(): Promise<boolean> {
    const { failed } = this.#counts
    for (const batch of this.#everything()) await this.#attempt(batch, () => true)
    return this.#counts.failed === failed && this.#limits.all().length === 0
  }

  #takeWaiting(): Batch | undefined {
    if (this.#waiting.size === 0) return undefined
    const names = this.#waiting
    this.#waiting = new Map()
    const { known } = this.#going(names)
    const { withheld, message } = this.#limit(known, (name) => names.get(name) === true)
    if (message !== undefined) this.#limits.set(SUBJECT.limit, [message])
    return { names, mayGo: new Set(known).difference(new Set(withheld)) }
  }

  #everything(): Batch[] {
    const names = this.#guarded(() => this.#planner.everything()) ?? []
    const { known, unknown } = this.#going(new Map(names.map((name) => [name, false])))
    const { withheld, message } = this.#limit(known, () => false)
    this.#limits.set(SUBJECT.limit, message === undefined ? [] : [message])
    this.#problems.set(SUBJECT.unknown, unknown.length === 0 ? [] : [stays(unknown.length)])
    const mayGo = new Set(known).difference(new Set(withheld))
    return Array.from({ length: Math.ceil(names.length / SLICE) }, (_, i) => ({
      names: new Map(names.slice(i * SLICE, (i + 1) * SLICE).map((name) => [name, false])),
      mayGo,
    }))
  }

  /** Names that would go; `unknown` are those that may be wanted by something that could not be listed. */
  #going(names: ReadonlyMap<string, boolean>): { known: readonly string[]; unknown: readonly string[] } {
    const going = this.#guarded(() => this.#planner.going(names.keys())) ?? [...names.keys()]
    const isKnown = (name: string) => this.#options.isComplete() || this.#seen.has(name)
    return { known: going.filter(isKnown), unknown: going.filter((name) => !isKnown(name)) }
  }

  #limit(names: readonly string[], wasWatched: (name: string) => boolean) {
    return limitDeletions(names, wasWatched, this.#options.maxDeletions, () => this.#planner.countOwned())
  }

  /** Whether nothing has to be tried again soon. */
  async #attempt(batch: Batch, mayWrite: () => boolean): Promise<boolean> {
    this.#counts.lastAt = Date.now() / 1000
    const again: string[] = []
    let isRefused = false
    for (const plan of this.#plans(new Set(batch.names.keys()), batch.mayGo)) {
      const outcome = await this.#apply(plan, mayWrite)
      again.push(...outcome.again)
      isRefused ||= outcome.isRefused
    }
    for (const name of again) if (!this.#waiting.has(name)) this.#waiting.set(name, batch.names.get(name) ?? false)
    if (again.length > 0 || isRefused) this.#counts.failed++
    else this.#counts.lastGoodAt = Date.now() / 1000
    return again.length === 0
  }

  /** One plan; but a name that cannot be planned, which is a defect, must not stand in the way of the others. */
  #plans(names: ReadonlySet<string>, mayGo: ReadonlySet<string>): NamePlan[] {
    const plan = this.#guarded(() => this.#planner.plan(names, mayGo))
    if (plan !== undefined) return [plan]
    const all = [...names]
    if (all.length === 1) {
      this.#counts.failed++
      this.#problems.set(all[0], [`Cannot plan "${all[0]}": this is a defect, please report it`])
      return []
    }
    const half = all.length >> 1
    return [all.slice(0, half), all.slice(half)].flatMap((each) => this.#plans(new Set(each), mayGo))
  }

  #guarded<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (thrown) {
      this.#problems.set(SUBJECT.store, [`Cannot plan records: ${messageOf(thrown)}`])
      return undefined
    }
  }

  async #apply(plan: NamePlan, mayWrite: () => boolean): Promise<Outcome> {
    const { store, onPlan, dryRun } = this.#options
    const { changes, marked, subjects } = plan
    const names = new Set(subjects.values())
    if (isEmpty(marked)) {
      this.#counts.idle++
      this.#tell(plan, [])
      return DONE
    }
    if (dryRun) {
      if (!isEmpty(changes)) onPlan(changes)
      this.#tell(plan, [])
      return DONE
    }
    if (!mayWrite()) return { again: [...names], isRefused: false }
    try {
      const { problems } = await store.apply(marked, mayWrite)
      if (mayWrite()) this.#tell(plan, problems)
      const failed = new Set(problems.map(({ name }) => subjects.get(normalName(name)) ?? name))
      const done = without(changes, failed)
      if (!isEmpty(done)) onPlan(done)
      this.#forget(done)
      const open = problems.filter(({ retryable }) => retryable)
      return {
        again: open.map(({ name }) => subjects.get(normalName(name)) ?? name),
        isRefused: open.length < problems.length,
      }
    } catch (thrown) {
      if (mayWrite())
        this.#problems.set(SUBJECT.store, [`Cannot write records: ${messageOf(thrown)}; it is tried again`])
      return { again: [...names], isRefused: false }
    }
  }

  /** Names that are gone need not be known as seen any more. */
  #forget({ delete: deleted }: Changes): void {
    const { wanted } = this.#options
    for (const { dnsName } of deleted) {
      const name = normalName(dnsName)
      if (wanted.candidates(name).length === 0) this.#seen.delete(name)
    }
  }

  /** Everything that is wrong with the names of a plan. An etcd that is away is one problem, whatever it concerns. */
  #tell({ conflicts, subjects }: NamePlan, problems: readonly StoreProblem[]): void {
    const [general, ...others] = problems.filter(({ retryable }) => retryable)
    const more = others.length > 0 ? ` (and ${others.length} names more)` : ''
    this.#problems.set(SUBJECT.store, general === undefined ? [] : [`${general.message}${more}`])
    const refused = problems
      .filter(({ retryable }) => !retryable)
      .map(({ name, message }) => ({ dnsName: name, message }))
    const byName = Map.groupBy([...conflicts, ...refused], ({ dnsName }) => normalName(dnsName))
    for (const name of new Set([...subjects.values(), ...byName.keys()]))
      this.#problems.set(name, byName.get(name)?.map(({ message }) => message) ?? [])
  }

  async #idle(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    this.#wake = () => resolve(undefined)
    const timer = setTimeout(resolve, Math.max(0, ms))
    signal.addEventListener('abort', resolve)
    if (!signal.aborted) await promise
    signal.removeEventListener('abort', resolve)
    clearTimeout(timer)
    this.#wake = undefined
  }
}

function stays(names: number): string {
  return `Cannot delete ${names} names that no object asks for: not every kind of object could be listed, and one of those may ask for them; they stay until all can`
}

function isEmpty(changes: Changes): boolean {
  return changes.create.length + changes.updateNew.length + changes.delete.length === 0
}
