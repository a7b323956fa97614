// The main thread's handle on a thread that watches one answer (prober-worker.ts). Values are numbers written as
// addresses in 10.0.0.0/8, so that every change has its own.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { percentile } from '../statistics.ts'

/** Few enough for the memory of a bench, more than a round has. */
const KEPT = 1 << 16
const LIMIT_MS = 60_000

interface Shared {
  /** Whether to stop; the latest value seen; questions asked. */
  readonly control: Int32Array<SharedArrayBuffer>
  /** When each value was first seen, in nanoseconds of the system's monotonic clock. */
  readonly seenAt: BigInt64Array<SharedArrayBuffer>
  /** Nanoseconds between answers, the last ones. */
  readonly intervals: Float64Array<SharedArrayBuffer>
}

export interface ProberData {
  readonly port: number
  readonly question: Uint8Array
  readonly gapMicros: number
  readonly shared: Shared
}

/** How closely the answer was watched, in milliseconds. */
export interface Resolution {
  readonly median: number
  readonly p99: number
}

export class Prober {
  readonly #worker: Worker
  readonly #shared: Shared

  constructor(port: number, name: string, gapMicros: number) {
    this.#shared = {
      control: new Int32Array(new SharedArrayBuffer(12)),
      seenAt: new BigInt64Array(new SharedArrayBuffer(8 * KEPT)),
      intervals: new Float64Array(new SharedArrayBuffer(8 * KEPT)),
    }
    const workerData: ProberData = { port, question: question(name), gapMicros, shared: this.#shared }
    this.#worker = new Worker(new URL('prober-worker.ts', import.meta.url), { workerData, name: 'prober' })
  }

  /** When the value was first seen. */
  async seen(value: number): Promise<bigint> {
    const { control, seenAt } = this.#shared
    const deadline = Date.now() + LIMIT_MS
    for (let latest = Atomics.load(control, 1); latest < value; latest = Atomics.load(control, 1)) {
      if (Date.now() > deadline) throw new Error(`Cannot see change ${value}: the answer is still ${addressOf(latest)}`)
      await Atomics.waitAsync(control, 1, latest, 1000).value
    }
    return seenAt[value % seenAt.length]
  }

  async stop(): Promise<Resolution> {
    const { control, intervals } = this.#shared
    Atomics.store(control, 0, 1)
    await once(this.#worker, 'exit')
    const sorted = intervals.slice(1, Math.min(Atomics.load(control, 2), intervals.length)).toSorted()
    return { median: percentile(sorted, 50) / 1e6, p99: percentile(sorted, 99) / 1e6 }
  }
}

/** The number as an address. */
export function addressOf(value: number): string {
  return `10.${(value >> 16) & 255}.${(value >> 8) & 255}.${value & 255}`
}

/** The number that the first address of an answer stands for. */
export function valueOf(answer: Uint8Array): number | undefined {
  const isPositive = (answer[3] & 15) === 0 && answer[7] > 0
  if (!isPositive) return undefined
  const end = behindName(answer, behindName(answer, HEADER_BYTES) + QUESTION_BYTES)
  const isAddress = answer[end + 1] === TYPE_A && answer[end + FIXED_BYTES - 1] === 4
  return isAddress ? (answer[end + 11] << 16) | (answer[end + 12] << 8) | answer[end + 13] : undefined
}

const HEADER_BYTES = 12
const QUESTION_BYTES = 4
const FIXED_BYTES = 10
const TYPE_A = 1

function behindName(message: Uint8Array, start: number): number {
  let at = start
  while (message[at] !== 0) {
    if (message[at] >= 0xc0) return at + 2
    at += message[at] + 1
  }
  return at + 1
}

function question(name: string): Uint8Array {
  const labels = name.split('.').filter((label) => label !== '')
  const wire = labels.flatMap((label) => [label.length, ...Buffer.from(label)])
  return Uint8Array.of(0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...wire, 0, 0, TYPE_A, 0, 1)
}
