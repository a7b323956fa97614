// The logs of services, line by line: the last ones, and those that come. A log is cut to nothing when it has grown
// long, after its content was copied to `x.log.1` (supervisor/rotate-log.ts); whoever follows it reads the rest from
// the copy, and goes on from the start.

import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogLine, LogOptions } from '../target.ts'
import { LOG_DIRECTORY, type Layout, rootOf } from './layout.ts'
import { isMissing } from './state-file.ts'

const LOOK_MS = 100
const CHUNK_BYTES = 1 << 16
const SUFFIX = '.log'
const NEWLINE = 0x0a

export async function* readLogs(
  layout: Layout,
  machines: readonly string[],
  { lines, follow, signal }: LogOptions,
): AsyncGenerator<LogLine> {
  const tails = new Map<string, LogTail>()
  for (let isFirst = true; ; isFirst = false) {
    for (const machine of machines) {
      for (const { service, path } of logsOf(layout, machine)) {
        const tail = tails.get(path) ?? new LogTail(path, isFirst ? lines : Infinity)
        tails.set(path, tail)
        for (const line of tail.read()) yield { machine, service, line }
        if (!follow && tail.rest !== '') yield { machine, service, line: tail.rest }
      }
    }
    if (!follow) return
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
  }
}

function logsOf(layout: Layout, machine: string): { service: string; path: string }[] {
  const directory = join(rootOf(layout, machine), LOG_DIRECTORY)
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith(SUFFIX))
    return names.toSorted().map((name) => ({ service: name.slice(0, -SUFFIX.length), path: join(directory, name) }))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** A place in a log, which stays the same place when the log is rotated. */
class LogTail {
  readonly #path: string
  #offset: number
  /** Identifies the youngest copy when we looked last: copies made since then are before it. */
  #youngest: number | undefined
  #rest = Buffer.alloc(0)

  /** At the beginning of the last `lines` lines. */
  constructor(path: string, lines: number) {
    this.#path = path
    this.#youngest = inodeOf(`${path}.1`)
    this.#offset = offsetOfLast(path, lines)
  }

  /** The beginning of a line that has no end yet. */
  get rest(): string {
    return this.#rest.toString()
  }

  *read(): Generator<string> {
    for (const copy of this.#newCopies()) {
      yield* this.#readFrom(copy)
      this.#offset = 0
    }
    yield* this.#readFrom(this.#path)
  }

  /** The oldest first. */
  #newCopies(): string[] {
    const youngest = statSync(`${this.#path}.1`, { throwIfNoEntry: false })
    if (youngest === undefined || youngest.ino === this.#youngest) return []
    // A copy comes into being before the log is cut.
    if (sizeOf(this.#path) >= youngest.size) return []
    const copies: string[] = []
    for (let age = 1; ; age++) {
      const path = `${this.#path}.${age}`
      const inode = inodeOf(path)
      if (inode === undefined || inode === this.#youngest) break
      copies.unshift(path)
    }
    this.#youngest = youngest.ino
    return copies
  }

  *#readFrom(path: string): Generator<string> {
    const fd = openIfThere(path)
    if (fd === undefined) return
    try {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      for (let count: number; (count = readSync(fd, chunk, 0, chunk.length, this.#offset)) > 0; ) {
        this.#offset += count
        yield* this.#takeLines(chunk.subarray(0, count))
      }
    } finally {
      closeSync(fd)
    }
  }

  *#takeLines(bytes: Buffer): Generator<string> {
    const whole = Buffer.concat([this.#rest, bytes])
    let start = 0
    for (let end: number; (end = whole.indexOf(NEWLINE, start)) !== -1; start = end + 1)
      yield whole.toString('utf8', start, end)
    this.#rest = whole.subarray(start)
  }
}

/** A machine may be removed while its logs are followed. */
function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Read from the end, so that a long log costs no more than a short one. */
function offsetOfLast(path: string, lines: number): number {
  const fd = openIfThere(path)
  if (fd === undefined) return 0
  try {
    const { size } = fstatSync(fd)
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    let missing = lines
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - CHUNK_BYTES)
      const count = readSync(fd, chunk, 0, end - start, start)
      for (let at = count - 1; at >= 0; at--) {
        // The newline at the very end ends the last line.
        if (chunk[at] === NEWLINE && start + at < size - 1 && --missing === 0) return start + at + 1
      }
      end = start
    }
    return lines === 0 ? size : 0
  } finally {
    closeSync(fd)
  }
}
