// Writes log lines to a file descriptor without ever holding up or failing the program. One write is under way at a
// time; what comes meanwhile waits in a bounded backlog and goes out as one piece. Lines that cannot be written (full
// disk, closed or stuck pipe) are dropped and counted; the loss is the first thing written once writing works again.

import { constants, fstatSync, openSync, write } from 'node:fs'

/** Between attempts on a stuck pipe, and after a failure: a full disk is not tried at the speed of the queries. */
const PAUSE_MS = 20
/** A reader that takes nothing for a second loses lines. */
const RETRIES = 50
const BACKLOG_BYTES = 4 << 20

export class LogSink {
  readonly #fd: number
  readonly #backlogBytes: number
  #backlog: Uint8Array[] = []
  #waitingBytes = 0
  #waitingLines = 0
  #dropped = 0
  #reported = 0
  /** The last write stopped in the middle of a line. */
  #torn = false
  #writing = false
  #idle: (() => void)[] = []

  /** `backlogBytes` may wait for the write under way; further lines are dropped. */
  constructor(fd: number, backlogBytes: number = BACKLOG_BYTES) {
    this.#fd = nonBlocking(fd)
    this.#backlogBytes = backlogBytes
  }

  /** Lines lost since the start, reported or not. */
  get droppedLines(): number {
    return this.#dropped
  }

  /** Takes a piece of whole lines, `lines` of them. The bytes must not change afterwards. */
  write(piece: Uint8Array, lines: number): void {
    if (this.#waitingBytes + piece.length > this.#backlogBytes) {
      this.#dropped += lines
      return
    }
    this.#backlog.push(piece)
    this.#waitingBytes += piece.length
    this.#waitingLines += lines
    if (!this.#writing) this.#writeBacklog()
  }

  /** Resolves when every line so far is written or dropped. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#writing) this.#idle.push(resolve)
      else resolve()
    })
  }

  #writeBacklog(): void {
    const lines = this.#waitingLines
    const pieces = this.#backlog
    this.#writing = pieces.length > 0
    if (!this.#writing) {
      for (const resolve of this.#idle.splice(0)) resolve()
      return
    }
    this.#backlog = []
    this.#waitingBytes = 0
    this.#waitingLines = 0
    const dropped = this.#dropped
    const lost = dropped - this.#reported
    if (lost > 0) pieces.unshift(Buffer.from(`[WARNING] log: ${lost} lines lost, output could not be written\n`))
    if (this.#torn) pieces.unshift(Buffer.from('\n'))
    this.#write(Buffer.concat(pieces), RETRIES, (written) => {
      if (written) {
        this.#reported = dropped
        this.#writeBacklog()
      } else {
        this.#dropped += lines
        setTimeout(() => this.#writeBacklog(), PAUSE_MS)
      }
    })
  }

  #write(bytes: Buffer, retries: number, done: (written: boolean) => void): void {
    write(this.#fd, bytes, 0, bytes.length, null, (error, count) => {
      if (error?.code === 'EAGAIN' && retries > 0) {
        setTimeout(() => this.#write(bytes, retries - 1, done), PAUSE_MS)
      } else if (error !== null) {
        done(false)
      } else if (count < bytes.length) {
        this.#torn = true
        this.#write(bytes.subarray(count), RETRIES, done)
      } else {
        this.#torn = false
        done(true)
      }
    })
  }
}

/**
 * A pipe nobody reads would hold a thread of the pool for ever, and with it the end of the process. Its own,
 * non-blocking description does not, and leaves the one shared with other processes as it is.
 */
function nonBlocking(fd: number): number {
  try {
    if (!fstatSync(fd).isFIFO()) return fd
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return fd
  }
}
