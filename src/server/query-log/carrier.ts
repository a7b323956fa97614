// Carries log lines from the threads that answer to the main thread, which writes them. A message queue has no limit
// of its own, so both ends count bytes in shared memory and the sender drops lines when too many are under way:
// logging may lose lines, it never costs memory without bound or an answer.

import type { LogSink } from '../../lib/log-sink.ts'
import type { LineBuffer } from './line-buffer.ts'

/** Each of these is written by one side only. */
const SENT_BYTES = 0
const TAKEN_BYTES = 1
const DROPPED_LINES = 2

const LIMIT_BYTES = 4 << 20

export interface LogPiece {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly lines: number
}

export function allocateLogFlow(): SharedArrayBuffer {
  return new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT)
}

export class LogSender {
  readonly #flow: Float64Array
  readonly #post: (piece: LogPiece) => void

  constructor(flow: SharedArrayBuffer, post: (piece: LogPiece) => void) {
    this.#flow = new Float64Array(flow)
    this.#post = post
  }

  /** Sends the lines of a batch, if any, and empties the buffer. */
  send(buffer: LineBuffer): void {
    const { lines } = buffer
    if (lines === 0) return
    const bytes = buffer.take()
    if (this.#flow[SENT_BYTES] - this.#flow[TAKEN_BYTES] + bytes.length > LIMIT_BYTES) {
      this.#flow[DROPPED_LINES] += lines
      return
    }
    this.#flow[SENT_BYTES] += bytes.length
    this.#post({ bytes, lines })
  }
}

export class LogReceiver {
  readonly #flow: Float64Array
  readonly #sink: LogSink

  constructor(flow: SharedArrayBuffer, sink: LogSink) {
    this.#flow = new Float64Array(flow)
    this.#sink = sink
  }

  /** Lines the sender dropped; those the sink dropped are counted there. */
  get droppedLines(): number {
    return this.#flow[DROPPED_LINES]
  }

  receive(piece: LogPiece): void {
    this.#flow[TAKEN_BYTES] += piece.bytes.length
    this.#sink.write(piece.bytes, piece.lines)
  }
}
