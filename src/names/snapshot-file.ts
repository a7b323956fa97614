// The file of a snapshot: opened and replayed, appended to, rewritten when most of it is dead. It throws what the
// system says; what to do about that is decided in snapshot.ts.

import { randomBytes } from 'node:crypto'
import {
  close,
  closeSync,
  constants,
  fstatSync,
  fsync as fsyncCallback,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { finish, type Steps } from '../dns/steps.ts'
import { type BatchEntry, type BatchHead, FrameBuilder, type FramesEnd, readFrames } from './snapshot-frames.ts'
import { Replay } from './snapshot-replay.ts'
import { rewriteFrames, writeWhole } from './snapshot-rewrite.ts'

/** A file is rewritten when its dead bytes outweigh the live ones by this much. */
const DEAD_SLACK = 16 << 20
/** How long rewriting keeps its thread busy at a time. */
const SLICE_MS = 2
const TAIL_CHUNK = 1 << 20

const fsync = promisify(fsyncCallback)

export interface OpenedSnapshot {
  readonly file: SnapshotFile
  readonly found: Replay
  /** How reading ended. A damaged file is kept as `.bad`, and a new one has what precedes the damage. */
  readonly ended: FramesEnd
}

export interface SnapshotUse {
  /** Of the source, as frames have it. */
  readonly source: Uint8Array
  /** Of a file that lacks something: what precedes the damage, or nothing, since that may be out of date. */
  readonly damaged: 'use' | 'discard'
}

/** Opens the file, or makes one with its directory. Steps that are given up close it. */
export function* openSnapshotFile(path: string, use: SnapshotUse): Steps<OpenedSnapshot> {
  const directory = dirname(path)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(directory)) if (isLeftover(name, path)) rmSync(join(directory, name))
  const { source } = use
  let fd = openFile(path)
  let file: SnapshotFile | undefined
  try {
    const { found, ended, end } = yield* replay(fd, use)
    if (ended.fault === 'torn' && end > 0) ftruncateSync(fd, end)
    else if (ended.fault !== 'none') fd = setAside(fd, path, end, source)
    file = new SnapshotFile(path, fd, found.dropDeleted(), source)
    return { file, found, ended }
  } finally {
    if (file === undefined) closeSync(fd)
  }
}

/** What a file has that cannot be written. */
export function readSnapshotFile(path: string, use: SnapshotUse): Replay {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const { found } = finish(replay(fd, use))
    found.dropDeleted()
    return found
  } finally {
    closeSync(fd)
  }
}

/** What can be used of a file, and where that ends. */
function* replay(
  fd: number,
  { source, damaged }: SnapshotUse,
): Steps<{ found: Replay; ended: FramesEnd; end: number }> {
  const found = new Replay()
  const read = yield* replayInto(found, fd, source)
  // A file without one whole batch is worth nothing.
  const ended: FramesEnd = read.fault === 'torn' && found.head === undefined ? { ...read, fault: 'damaged' } : read
  const isUnusable = ended.fault === 'other' || (ended.fault !== 'none' && damaged === 'discard')
  return isUnusable ? { found: new Replay(), ended, end: 0 } : { found, ended, end: ended.end }
}

export class SnapshotFile {
  readonly #path: string
  #fd: number | undefined
  #size: number
  #rewriteAt: number
  #rewriting = false
  readonly #builder: FrameBuilder
  readonly #source: Uint8Array

  constructor(path: string, fd: number, liveBytes: number, source: Uint8Array) {
    this.#source = source
    this.#builder = new FrameBuilder(source)
    this.#path = path
    this.#fd = fd
    this.#size = fstatSync(fd).size
    this.#rewriteAt = 2 * liveBytes + DEAD_SLACK
  }

  append(head: BatchHead, entries: Iterable<BatchEntry>): void {
    const wasEmpty = this.#size === 0
    this.#builder.start(head)
    for (const entry of entries) {
      if (this.#builder.isFull) this.#write(this.#builder.finish(false))
      this.#builder.add(entry)
    }
    this.#write(this.#builder.finish(true))
    if (wasEmpty) this.#rewriteAt = 2 * this.#size + DEAD_SLACK
  }

  #write(frame: Uint8Array): void {
    writeWhole(this.#open(), frame)
    this.#size += frame.length
  }

  /** Without an index of what is alive this is a guess, true when keys are changed, too early when keys are added. */
  get wantsRewrite(): boolean {
    return this.#size > this.#rewriteAt && !this.#rewriting
  }

  /** Batches can be appended meanwhile: they go to the old file, and are copied from there at the end. */
  async rewrite(): Promise<void> {
    this.#rewriting = true
    // Should it fail, it is tried again when the file has doubled.
    this.#rewriteAt = 2 * this.#size
    try {
      await this.#rewriteTo(temporaryFor(this.#path))
    } finally {
      this.#rewriting = false
    }
  }

  async #rewriteTo(temporary: string): Promise<void> {
    const from = this.#open()
    const to = openFile(temporary)
    try {
      const { size } = fstatSync(from)
      let sliceEnd = performance.now() + SLICE_MS
      for (const _ of rewriteFrames(from, to, size, this.#source)) {
        if (performance.now() < sliceEnd) continue
        await nextTurn()
        if (this.#fd !== from) return
        sliceEnd = performance.now() + SLICE_MS
      }
      await fsync(to)
      if (this.#fd !== from) return
      const { size: liveBytes } = fstatSync(to)
      copyTail(from, to, size)
      renameSync(temporary, this.#path)
      this.#fd = to
      this.#size = fstatSync(to).size
      this.#rewriteAt = 2 * liveBytes + DEAD_SLACK
      // The last descriptor of a big file takes long to close.
      close(from, () => undefined)
    } finally {
      if (this.#fd !== to) {
        closeSync(to)
        rmSync(temporary, { force: true })
      }
    }
  }

  /** What is at its path now: the file itself, none, or another that somebody else has put in its place. */
  get atPath(): 'itself' | 'none' | 'another' {
    const there = statSync(this.#path, { throwIfNoEntry: false })
    if (there === undefined) return 'none'
    const own = fstatSync(this.#open())
    return there.ino === own.ino && there.dev === own.dev ? 'itself' : 'another'
  }

  /** Puts it back to where it was removed from. */
  restore(): void {
    const from = this.#open()
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
    this.#fd = copyTo(this.#path, from, this.#size, this.#source)
    closeSync(from)
    this.#size = fstatSync(this.#fd).size
    this.#rewriteAt = 2 * this.#size + DEAD_SLACK
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #open(): number {
    if (this.#fd === undefined) throw new Error('closed')
    return this.#fd
  }
}

function openFile(path: string): number {
  return openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
}

function temporaryFor(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`
}

/** A file that a killed process was writing. */
function isLeftover(name: string, path: string): boolean {
  return name.startsWith(`${basename(path)}.`) && name.endsWith('.tmp')
}

function* replayInto(replay: Replay, fd: number, source: Uint8Array): Steps<FramesEnd> {
  const stats = fstatSync(fd)
  if (!stats.isFile()) throw new Error('it is not a regular file')
  const frames = readFrames(fd, stats.size, source, 'bytes')
  for (;;) {
    const { done, value } = frames.next()
    if (done === true) return value
    replay.add(value)
    yield
  }
}

/** Keeps a damaged file as `.bad`, after its good part has been copied to a new one; returns the new one. */
function setAside(fd: number, path: string, end: number, source: Uint8Array): number {
  const to = copyTo(path, fd, end, source, () => renameSync(path, `${path}.bad`))
  closeSync(fd)
  return to
}

/** A new file at the path, with what counts of the first `end` bytes of another. */
function copyTo(path: string, from: number, end: number, source: Uint8Array, before?: () => void): number {
  const temporary = temporaryFor(path)
  const to = openFile(temporary)
  try {
    for (const _ of rewriteFrames(from, to, end, source));
    before?.()
    renameSync(temporary, path)
    return to
  } catch (thrown) {
    closeSync(to)
    rmSync(temporary, { force: true })
    throw thrown
  }
}

function copyTail(from: number, to: number, at: number): void {
  const chunk = Buffer.allocUnsafeSlow(TAIL_CHUNK)
  for (let position = at; ; ) {
    const count = readSync(from, chunk, 0, chunk.length, position)
    if (count === 0) return
    writeWhole(to, chunk.subarray(0, count))
    position += count
  }
}
