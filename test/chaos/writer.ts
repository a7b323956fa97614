// Writes to etcd all the time, at a given rate, and knows for each key in which order its values were stored, whatever
// happens to etcd meanwhile. Each lane writes to keys of its own, one write at a time, only if the key is as it was last
// seen. After a write of unknown outcome the lane changes its fence, which every write of the lane compares, so that what
// is still under way somewhere can no longer be stored, and looks what there is.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Compare, EtcdClient, KeyValue, TxnResult } from '../../src/etcd/client.ts'
import { HoldfastError } from '../../src/lib/errors.ts'
import { Random } from '../fuzz/random.ts'
import type { Write } from './history.ts'
import { type Proposal, seqOf, type StoredKey } from './stored-key.ts'

export interface WriterOptions {
  readonly client: EtcdClient
  readonly seed: number
  readonly kinds: readonly WrittenKeys[]
  /** Ends it at once, whatever is open. */
  readonly signal: AbortSignal
}

/** Keys that are written to equally often. */
export interface WrittenKeys {
  readonly keys: readonly StoredKey[]
  /** Of all of them together. */
  readonly changesPerSecond: number
}

const LANES = 8
const LEASE_SECONDS = 5
/** A lane that was held up does not make up for more than this. */
const BACKLOG_MS = 500

export class Writer {
  readonly #lanes: readonly Lane[]
  readonly #signal: AbortSignal
  readonly #stopping = new AbortController()
  #prepared = 0
  #running: Promise<unknown> = Promise.resolve()

  constructor(options: WriterOptions) {
    this.#signal = options.signal
    let seq = 0
    const context: LaneContext = { ...options, nextSeq: () => ++seq }
    this.#lanes = Array.from({ length: LANES }, (_, i) => new Lane(i, context))
  }

  /** Stored since the start. */
  get changes(): number {
    return this.#lanes.reduce((sum, lane) => sum + lane.changes, 0) - this.#prepared
  }

  /** Writes of unknown outcome, and how many of them had been stored. */
  get doubts(): { readonly all: number; readonly stored: number } {
    const all = this.#lanes.reduce((sum, lane) => sum + lane.doubts, 0)
    return { all, stored: this.#lanes.reduce((sum, lane) => sum + lane.doubtsStored, 0) }
  }

  /** Gives every key its first value. */
  async prepare(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.prepare()))
    this.#prepared = this.changes
  }

  start(): void {
    const signal = AbortSignal.any([this.#stopping.signal, this.#signal])
    this.#running = Promise.all(this.#lanes.map((lane) => lane.run(signal)))
    this.#running.catch(() => undefined)
  }

  /** Rejects when a lane fails for another reason than etcd. */
  failure(): Promise<never> {
    return this.#running.then(() => new Promise<never>(() => {}))
  }

  /** Ends with values that every server can follow to. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await Promise.all(this.#lanes.map((lane) => lane.finish()))
  }
}

interface LaneContext extends WriterOptions {
  readonly nextSeq: () => number
}

class Lane {
  changes = 0
  doubts = 0
  doubtsStored = 0
  readonly #context: LaneContext
  readonly #random: Random
  readonly #kinds: readonly WrittenKeys[]
  readonly #changesPerSecond: number
  readonly #fence: { readonly key: Uint8Array; revision: bigint }

  constructor(number: number, context: LaneContext) {
    this.#context = context
    this.#random = new Random(context.seed, number)
    this.#fence = { key: Buffer.from(`/fence/${number}`), revision: 0n }
    this.#kinds = context.kinds.map(({ keys, changesPerSecond }) => {
      const own = keys.filter((_, i) => i % LANES === number)
      return { keys: own, changesPerSecond: (changesPerSecond * own.length) / keys.length }
    })
    this.#changesPerSecond = this.#kinds.reduce((sum, kind) => sum + kind.changesPerSecond, 0)
  }

  async prepare(): Promise<void> {
    for (const { keys } of this.#kinds) for (const key of keys) await this.#change(key)
  }

  async run(signal: AbortSignal): Promise<void> {
    const pauseMs = 1000 / this.#changesPerSecond
    for (let due = performance.now(); !signal.aborted; due += pauseMs) {
      const now = performance.now()
      if (due > now) await sleep(due - now, undefined, { signal }).catch(() => undefined)
      else due = Math.max(due, now - BACKLOG_MS)
      if (!signal.aborted) await this.#change(this.#pick())
    }
  }

  async finish(): Promise<void> {
    for (const { keys } of this.#kinds)
      for (const key of keys) while (await this.#write(key, (seq) => key.proposeLast(seq)));
  }

  #pick(): StoredKey {
    let at = (this.#random.next() / 2 ** 32) * this.#changesPerSecond
    const kind = this.#kinds.find(({ changesPerSecond }) => (at -= changesPerSecond) < 0) ?? this.#kinds[0]
    return this.#random.pick(kind.keys)
  }

  #change(key: StoredKey): Promise<boolean> {
    return this.#write(key, (seq) => key.propose(this.#random, seq))
  }

  /** Tries once; afterwards it is known what is stored. False when there is nothing to write. */
  async #write(key: StoredKey, propose: (seq: number) => Proposal | undefined): Promise<boolean> {
    const seq = this.#context.nextSeq()
    const proposal = propose(seq)
    if (proposal === undefined) return false
    const lease = proposal.leased === true ? await this.#grant() : 0n
    const write = key.history.begin({ ...proposal, seq })
    try {
      const { succeeded, revision } = await this.#store(key, proposal, lease)
      if (!succeeded) await this.#lookUp(key, undefined)
      else this.#confirm(key, write, revision, proposal.kind === 'gone' ? undefined : { modRevision: revision, lease })
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      this.doubts++
      await this.#lookUp(key, { write, lease })
    }
    return true
  }

  async #grant(): Promise<bigint> {
    const { client } = this.#context
    return (await this.#persist(() => client.leaseGrant(LEASE_SECONDS))).id
  }

  #store({ key, modRevision }: StoredKey, { value }: Proposal, lease: bigint): Promise<TxnResult> {
    const bytes = Buffer.from(key)
    const compare: Compare[] = [
      { key: bytes, target: 'mod', revision: modRevision },
      { key: this.#fence.key, target: 'mod', revision: this.#fence.revision },
    ]
    const put = { key: bytes, value: Buffer.from(value ?? ''), ...(lease !== 0n && { lease }) }
    return this.#context.client.txn(compare, [value === undefined ? { delete: { key: bytes } } : { put }])
  }

  #confirm(key: StoredKey, write: Write, revision: bigint | undefined, stored: Stored | undefined): void {
    this.changes++
    key.history.confirm(write, revision)
    this.#note(key, stored)
  }

  #note(key: StoredKey, stored: Stored | undefined): void {
    key.modRevision = stored?.modRevision ?? 0n
    key.isLeased = stored !== undefined && stored.lease !== 0n
    // From now on it may be gone at any time.
    if (key.isLeased) key.history.begin(key.lapse())
  }

  /** Finds out what came of the writes that are open; of `doubtful` nobody said that it was not stored. */
  async #lookUp(
    key: StoredKey,
    doubtful: { readonly write: Write; readonly lease: bigint } | undefined,
  ): Promise<void> {
    const stored = await this.#read(key)
    const seq = stored === undefined ? undefined : seqOf(Buffer.from(stored.value).toString())
    const { history } = key
    if (stored === undefined && doubtful !== undefined && doubtful.lease !== 0n) {
      // Never stored, or stored and gone with its lease.
      for (const write of history.open()) write.outcome = 'possible'
      this.#confirm(key, history.begin(key.lapse()), undefined, undefined)
      return
    }
    const found = history.open().find((write) => (write.kind === 'gone' ? seq === undefined : write.seq === seq))
    if (found !== undefined) history.confirm(found, stored?.modRevision)
    if (found !== undefined && found === doubtful?.write) {
      this.changes++
      this.doubtsStored++
    }
    for (const write of history.open()) history.refute(write)
    this.#note(key, stored)
  }

  #read(key: StoredKey): Promise<KeyValue | undefined> {
    const { client } = this.#context
    return this.#persist(async () => {
      this.#fence.revision = (await client.put(this.#fence.key, Buffer.from('closed'))).revision
      return (await client.range({ key: Buffer.from(key.key) })).kvs.at(0)
    })
  }

  async #persist<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error
        await sleep(100 + this.#random.below(200), undefined, { signal: this.#context.signal })
      }
    }
  }
}

type Stored = Pick<KeyValue, 'modRevision' | 'lease'>
