// What a source last knew, on disk, so that a server that starts while the source is away serves it again. A log:
// each batch of changes is appended, and the file is rewritten once most of it is dead.
//
//   append ──▶ one write() at the end ──▶ much of it dead? ──▶ rewritten beside, fsync, rename
//      └─ fails ──▶ entries are held in memory ──▶ tried again later
//
// A killed process leaves at most a cut last frame, which is not counted. Nothing is synced at each change: what a
// power cut takes, the source tells again.

import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { finish, type Steps } from '../dns/steps.ts'
import { reasonOf } from '../lib/errors.ts'
import { openSnapshotFile, readSnapshotFile, type SnapshotFile, type SnapshotUse } from './snapshot-file.ts'
import { type BatchEntry, type BatchHead, type FramesEnd, sourceMark } from './snapshot-frames.ts'
import type { Replay } from './snapshot-replay.ts'

export interface SnapshotEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly modRevision: bigint
  readonly lease: bigint
}

export interface SnapshotContent {
  readonly revision: bigint
  readonly clusterId: bigint
  /** By key, as latin1. */
  readonly entries: ReadonlyMap<string, SnapshotEntry>
  /** Unix milliseconds of the last batch. */
  readonly savedAt: number
}

export interface SnapshotBatch {
  readonly revision: bigint
  readonly clusterId: bigint
  readonly entries: readonly BatchEntry[]
}

/** Waited at least, and at most twice as long. */
const RETRY_MS = 30_000

export class SourceSnapshot {
  readonly #path: string
  readonly #usage: SnapshotUse
  readonly #onProblem: (message: string) => void
  #file: SnapshotFile | undefined
  /** What the file at the path has is known, although it is not open for writing. */
  #wasRead = false
  #content: SnapshotContent | undefined
  #head: BatchHead | undefined
  /** What could not be written, by key. */
  readonly #missed = new Map<string, BatchEntry>()
  #retry: NodeJS.Timeout | undefined
  /** It has been said that writing fails. */
  #failing = false
  #closed = false

  /** Never throws: whatever is wrong with the file is told to `onProblem`, and the server goes on without. */
  static open(
    directory: string,
    id: string,
    onProblem: (message: string) => void,
    damaged: SnapshotUse['damaged'] = 'use',
  ): SourceSnapshot {
    return finish(SourceSnapshot.openSteps(directory, id, onProblem, damaged))
  }

  /** The same in steps: a file of many keys takes seconds to read. */
  static *openSteps(
    directory: string,
    id: string,
    onProblem: (message: string) => void,
    damaged: SnapshotUse['damaged'],
  ): Steps<SourceSnapshot> {
    const use = { source: sourceMark(id), damaged }
    const snapshot = new SourceSnapshot(join(directory, `${id}.snapshot`), use, onProblem)
    yield* snapshot.#start()
    return snapshot
  }

  private constructor(path: string, use: SnapshotUse, onProblem: (message: string) => void) {
    this.#usage = use
    this.#path = path
    this.#onProblem = onProblem
  }

  *#start(): Steps<void> {
    try {
      this.#use(yield* this.#open())
    } catch (thrown) {
      this.#fail(thrown)
      this.#use(this.#readOnly())
    }
  }

  #use({ head, entries }: Pick<Replay, 'head' | 'entries'>): void {
    this.#head = head
    if (head !== undefined) this.#content = { ...head, entries }
  }

  /** Of a file that cannot be written, as on a disk that the system made read-only after a fault. */
  #readOnly(): Pick<Replay, 'head' | 'entries'> {
    try {
      const found = readSnapshotFile(this.#path, this.#usage)
      this.#wasRead = true
      return found
    } catch {
      return { head: undefined, entries: new Map() }
    }
  }

  /** What was found; undefined when there was nothing. */
  get content(): SnapshotContent | undefined {
    return this.#content
  }

  /** Lets the memory of `content` go. */
  release(): void {
    this.#content = undefined
  }

  append(batch: SnapshotBatch): void {
    if (this.#closed) return
    this.#head = successor(this.#head, batch)
    if (!this.#failing) {
      try {
        this.#write(this.#head, batch.entries)
        return
      } catch (thrown) {
        this.#fail(thrown)
      }
    }
    for (const entry of batch.entries) this.#missed.set(Buffer.from(entry.key).toString('latin1'), entry)
  }

  close(): void {
    if (this.#failing) this.#catchUp()
    this.#closed = true
    clearTimeout(this.#retry)
    this.#file?.close()
  }

  #catchUp(): void {
    this.#retry = undefined
    try {
      if (this.#head !== undefined) this.#write(this.#head, this.#missed.values())
      this.#missed.clear()
      this.#failing = false
    } catch (thrown) {
      this.#fail(thrown)
    }
  }

  #write(head: BatchHead, entries: Iterable<BatchEntry>): void {
    // What is written to a file that nobody can find any more is lost.
    const there = this.#file?.atPath
    if (there === 'none') this.#file?.restore()
    if (there === 'another') {
      this.#file?.close()
      this.#file = undefined
      this.#wasRead = true
    }
    if (this.#file === undefined) {
      // Where nobody was told what the file had when it could not be opened, it is not known what of it is gone by now.
      if (!this.#wasRead) rmSync(this.#path, { force: true })
      finish(this.#open())
    }
    this.#file?.append(head, entries)
    this.#rewriteWhenDue()
  }

  *#open(): Steps<Replay> {
    const { file, found, ended } = yield* openSnapshotFile(this.#path, this.#usage)
    this.#file = file
    this.#report(ended, found)
    this.#rewriteWhenDue()
    return found
  }

  #report({ fault, end }: FramesEnd, { head }: Replay): void {
    const path = `"${this.#path}"`
    switch (fault) {
      case 'none':
        return
      case 'foreign':
        return this.#onProblem(`Cannot use ${path}: it is no snapshot; it is kept as .bad`)
      case 'other':
        return this.#onProblem(`Cannot use ${path}: it is the snapshot of another source; it is kept as .bad`)
      case 'torn':
      case 'damaged': {
        const what = fault === 'torn' ? 'the last change in it is cut' : 'it is damaged'
        const isKept = fault === 'torn' && head !== undefined
        const kept = isKept ? '' : ', and the file is kept as .bad'
        return this.#onProblem(`Cannot use all of ${path}: ${what} at byte ${end}; ${this.#used(head)}${kept}`)
      }
    }
  }

  #used(head: BatchHead | undefined): string {
    if (head !== undefined) return 'what precedes that is used'
    if (this.#usage.damaged === 'use') return 'nothing before that is complete'
    return 'nothing of it is used, since it may be out of date'
  }

  #rewriteWhenDue(): void {
    if (this.#file?.wantsRewrite !== true) return
    this.#file.rewrite().catch((thrown: unknown) => {
      const later = 'it goes on growing, and is tried again when it has doubled'
      this.#onProblem(`Cannot rewrite "${this.#path}": ${reasonOf(thrown)}; ${later}`)
    })
  }

  #fail(thrown: unknown): void {
    if (!this.#failing) {
      const later = 'changes are kept in memory and it is tried again every minute'
      this.#onProblem(`Cannot write "${this.#path}": ${reasonOf(thrown)}; ${later}`)
    }
    this.#failing = true
    this.#retry = setTimeout(() => this.#catchUp(), RETRY_MS * (1 + Math.random())).unref()
  }
}

/** A batch of another cluster, or of an earlier revision, says that the source began anew. */
function successor(previous: BatchHead | undefined, { revision, clusterId: id }: SnapshotBatch): BatchHead {
  const clusterId = BigInt.asUintN(64, id)
  const anew = previous !== undefined && (clusterId !== previous.clusterId || revision < previous.revision)
  return { epoch: (previous?.epoch ?? 0) + (anew ? 1 : 0), revision, clusterId, savedAt: Date.now() }
}

/** The name of a source's snapshot: readable by its first and last part, distinct by a digest of all. */
export function snapshotId(parts: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12)
  const readable = [parts.at(0), parts.at(-1)]
    .map((part = '') =>
      part
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/gu, '-')
        .replaceAll(/^-|-$/gu, '')
        .slice(0, 40),
    )
    .filter((part) => part !== '')
  return [...readable, digest].join('-')
}
