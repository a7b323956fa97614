// SkyDNS keys under a prefix of etcd, as endpoints: read from a live mirror of the prefix, written in transactions. The
// mirror is the only truth: what was written counts when the mirror has seen it, and no plan is made before that.
//
//   changes ──▶ writes per name ──▶ transactions ──all keys as they were──▶ wait for the mirror ──▶ done
//                     ▲                   │
//                     └── wait for the mirror ◀── somebody else was faster, or etcd did not answer

import { setTimeout as sleep } from 'node:timers/promises'
import type { EtcdClient } from '../../../etcd/client.ts'
import { mirror, type MirrorChange, type MirrorInfo, type MirrorState } from '../../../etcd/mirror.ts'
import { HoldfastError } from '../../../lib/errors.ts'
import type { Changes, Endpoint } from '../../endpoints/endpoint.ts'
import { normalName } from '../../endpoints/normal-name.ts'
import { type Applied, ApplyRun } from './apply-run.ts'
import { type Batch, type NameWrites, packBatches } from './batches.ts'
import { normalPrefix } from './entry.ts'
import { EntryIndex } from './entry-index.ts'
import { changesByName, type NameChange } from './name-changes.ts'
import { planName, type Write } from './plan-name.ts'
import { readEndpoints } from './read-endpoints.ts'
import { asStored, storageProblem } from './storable.ts'
import { transact } from './transact.ts'

export interface SkydnsStoreOptions {
  readonly client: EtcdClient
  /** What keys begin with; a slash at its end is added. */
  readonly prefix: string
  /** Given: values carry it, and values of others are not touched. */
  readonly owner?: string
  /** What belongs to this owner may be changed, too, and is ours then. */
  readonly formerOwner?: string
  /** Whether endpoints of other owners are told, too. */
  readonly showOthers?: boolean
  /** Names that matter; all unless given. Of others only texts do: marks of names that matter can stand there. */
  readonly domainFilter?: (name: string) => boolean
  readonly signal: AbortSignal
  readonly onState: (state: MirrorState) => void
  /** Normalised names for which something is different now, by our own writes too. */
  readonly onChange: (names: ReadonlySet<string>) => void
  /** A key that is no entry, once for each value. */
  readonly onProblem: (message: string) => void
}

const TRANSACTIONS_AT_ONCE = 16
const MOST_TRIES = 5
const FIRST_PAUSE_MS = 50
/** For the mirror to see what etcd has acknowledged; it is a matter of milliseconds while etcd is up. */
const PATIENCE_MS = 5000

export class SkydnsStore {
  /** Resolves when everything has been read once. */
  readonly ready: Promise<void>
  readonly #options: SkydnsStoreOptions
  readonly #prefix: string
  readonly #index: EntryIndex
  /** What was asked for already, by normalised name, until an entry of it changes. */
  readonly #endpoints = new Map<string, readonly Endpoint[]>()
  readonly #setReady: () => void
  readonly #waiting = new Set<() => unknown>()
  #state: MirrorState | undefined
  #revision = 0n
  /** The last revision that we made. */
  #written = 0n
  #applying: Promise<unknown> = Promise.resolve()

  constructor(options: SkydnsStoreOptions) {
    this.#options = options
    this.#prefix = normalPrefix(options.prefix)
    this.#index = new EntryIndex(this.#prefix)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ready = promise
    this.#setReady = resolve
  }

  /** Follows the prefix until the signal aborts. */
  start(): Promise<void> {
    const { client, signal } = this.#options
    return mirror({
      client,
      prefix: Buffer.from(this.#prefix),
      signal,
      onChanges: (changes, info) => this.#take(changes, info),
      onState: (state) => {
        this.#state = state
        this.#wake()
        this.#options.onState(state)
      },
    })
  }

  /** Normalised. */
  *names(): Iterable<string> {
    for (const name of this.#index.names()) if (this.#matters(name)) yield name
  }

  endpoints(names: Iterable<string> | 'all'): Endpoint[] {
    const found = new Map<string, readonly Endpoint[]>()
    for (const each of names === 'all' ? this.#index.names() : names) {
      const name = normalName(each)
      const endpoints = this.#endpointsOf(name)
      if (endpoints.length > 0) found.set(name, endpoints)
    }
    return [...found.values()].flat()
  }

  /** What would be read back of an endpoint; or why it cannot be stored. */
  asStored(endpoint: Endpoint): Endpoint | string {
    return storageProblem(endpoint) ?? asStored(endpoint)
  }

  /** Resolves when everything that was read or written so far is in what `endpoints` tells; throws if that takes too long. */
  async caughtUp(patienceMs = PATIENCE_MS): Promise<void> {
    const isCurrent = () => this.#state?.up === true && this.#revision >= this.#written
    if (await this.#until(isCurrent, patienceMs)) return
    if (this.#state?.up === false) throw this.#state.error
    throw new HoldfastError(
      'EtcdTimeout',
      `Cannot follow "${this.#prefix}": etcd has not told revision ${this.#written} within ${patienceMs} ms; it is tried again`,
      { retryable: true },
    )
  }

  /**
   * One after another. Rejects only when the signal aborts; what etcd did not take is among the problems, and what was
   * not written because `mayWrite` said no.
   */
  apply(changes: Changes, mayWrite = () => true): Promise<Applied> {
    const applied = this.#applying.then(() => this.#apply(changes, mayWrite))
    this.#applying = applied.catch(() => undefined)
    return applied
  }

  async #apply(changes: Changes, mayWrite: () => boolean): Promise<Applied> {
    const { names, problems } = changesByName(changes)
    const mattering = Array.from(names, ([name, change]): [string, NameChange] => [name, this.#mattering(name, change)])
    const run = new ApplyRun(
      mattering.filter(([, { records }]) => records.length > 0),
      problems,
      mayWrite,
    )
    for (let tries = 1; run.open.size > 0; tries++) {
      const goesOn = await this.#attempt(run)
      if (!goesOn || !mayWrite() || tries === MOST_TRIES || run.open.size === 0) break
      const pauseMs = FIRST_PAUSE_MS * 2 ** tries * (1 - Math.random() / 2)
      await sleep(pauseMs, undefined, { signal: this.#options.signal })
    }
    return run.finish()
  }

  /** False when etcd is away for too long to wait for it. */
  async #attempt(run: ApplyRun): Promise<boolean> {
    try {
      await this.caughtUp()
    } catch (error) {
      run.fail([...run.open.keys()], error)
      return false
    }
    const batches = packBatches(this.#plan(run), run.alone)
    const rest = batches.values()
    const worker = async () => {
      for (const batch of rest) await this.#write(batch, run)
    }
    await Promise.all(Array.from({ length: TRANSACTIONS_AT_ONCE }, worker))
    // Whoever asks next sees what was written. If the mirror is late, the next plan waits for it.
    return this.#until(() => this.#revision >= this.#written, PATIENCE_MS)
  }

  /** Names for which there is nothing to write are done. */
  #plan(run: ApplyRun): NameWrites[] {
    const { owner, formerOwner } = this.#options
    const around = { prefix: this.#prefix, owner, formerOwner, at: (key: string) => this.#index.at(key) }
    return Array.from(run.open, ([name, change]) => {
      const writes = planName(change, this.#index.of(name), around)
      if (typeof writes === 'string') run.refuse(name, writes)
      else if (writes.length === 0) run.done(name)
      return { name, writes: typeof writes === 'string' ? [] : writes }
    }).filter(({ writes }) => writes.length > 0)
  }

  async #write({ names, transactions }: Batch, run: ApplyRun): Promise<void> {
    const { client, signal } = this.#options
    try {
      for (const writes of transactions) {
        if (!run.mayWrite()) return
        const { revision, outdated } = await transact(client, writes, signal)
        if (revision === undefined) {
          await this.#until(() => outdated.every((write) => this.#isSuperseded(write)), PATIENCE_MS)
          return run.postpone(names)
        }
        if (revision > this.#written) this.#written = revision
        run.count(writes)
      }
      for (const name of names) run.done(name)
    } catch (error) {
      run.fail(names, error)
    }
  }

  /** Whether the mirror has seen that a key is no longer what a write was planned for. */
  #isSuperseded({ key, modRevision }: Write): boolean {
    return (this.#index.at(key)?.modRevision ?? 0n) !== modRevision
  }

  #take(changes: readonly MirrorChange[], { revision, listed }: MirrorInfo): void {
    const { names, unreadable } = this.#index.apply(changes)
    for (const name of names) this.#endpoints.delete(name)
    this.#revision = revision
    // A listing is the truth, also where it is that of a cluster restored from a backup, with lower revisions.
    if (listed) {
      this.#written = 0n
      this.#setReady()
    }
    const { onChange, onProblem } = this.#options
    for (const { key, problem } of unreadable) onProblem(`Cannot use "${key}": ${problem}; it stays as it is`)
    const touched = new Set([...names].filter((name) => this.#matters(name)))
    if (touched.size > 0) onChange(touched)
    this.#wake()
  }

  #endpointsOf(name: string): readonly Endpoint[] {
    const known = this.#endpoints.get(name)
    if (known !== undefined) return known
    const entries = this.#index.of(name)
    if (entries.length === 0) return []
    const { owner, formerOwner, showOthers = owner === undefined } = this.#options
    const visible = entries.filter(({ service }) => showOthers || [owner, formerOwner].includes(service.owner))
    const all = readEndpoints(visible, owner !== undefined)
    const endpoints = this.#matters(name) ? all : all.filter(({ recordType }) => recordType === 'TXT')
    this.#endpoints.set(name, endpoints)
    return endpoints
  }

  #mattering(name: string, change: NameChange): NameChange {
    if (this.#matters(name)) return change
    return { ...change, records: change.records.filter(({ type }) => type === 'TXT') }
  }

  #matters(name: string): boolean {
    return this.#options.domainFilter?.(name) ?? true
  }

  /** Whether it came true in time. */
  async #until(isTrue: () => boolean, patienceMs: number): Promise<boolean> {
    const { signal } = this.#options
    if (!isTrue() && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const look = () => isTrue() && resolve()
      const end = () => resolve()
      const timer = setTimeout(end, patienceMs)
      signal.addEventListener('abort', end, { once: true })
      this.#waiting.add(look)
      await promise
      this.#waiting.delete(look)
      signal.removeEventListener('abort', end)
      clearTimeout(timer)
    }
    signal.throwIfAborted()
    return isTrue()
  }

  #wake(): void {
    for (const look of this.#waiting) look()
  }
}
