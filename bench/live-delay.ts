// How long after etcd has acknowledged a change the new answer is on the wire. While a put is under way one question
// after another is asked, with a millisecond between them so that asking does not become a load; what is measured is
// up to that much too long. A change that is seen before the acknowledgement has arrived counts with a negative delay.

import { createSocket, type Socket } from 'node:dgram'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeMessage, encodeMessage } from '../src/dns/message.ts'
import { parseName } from '../src/dns/name.ts'
import { TYPE } from '../src/dns/types.ts'

export interface Change {
  /** Makes the number visible: 10.77.x.y for the name below. Resolves when etcd has acknowledged it. */
  readonly put: (number: number) => Promise<unknown>
  readonly name: string
}

export interface Delays {
  readonly milliseconds: readonly number[]
  /** Median time of a question and its answer. */
  readonly resolutionMs: number
}

const CLASS_IN = 1
const ANSWER_MS = 200
const LONGEST_WAIT_MS = 20_000
/** Between questions. */
const GAP_MS = 1
/** Between changes: each is on its own. */
const PAUSE_MS = 3

export async function measureDelays(port: number, change: Change, first: number, count: number): Promise<Delays> {
  const prober = await Prober.open(port, change.name)
  const milliseconds: number[] = []
  try {
    for (let number = first; number < first + count; number++) {
      milliseconds.push(await delayOf(prober, change, number))
      await sleep(PAUSE_MS)
    }
  } finally {
    prober.close()
  }
  return { milliseconds, resolutionMs: prober.medianMs }
}

async function delayOf(prober: Prober, { put }: Change, number: number): Promise<number> {
  let acknowledgedAt = 0
  const started = performance.now()
  const done = put(number).then(() => {
    acknowledgedAt = performance.now()
  })
  for (;;) {
    const seen = await prober.ask()
    const now = performance.now()
    if (seen === number) {
      await done
      return now - acknowledgedAt
    }
    if (now - started > LONGEST_WAIT_MS) throw new Error(`Cannot see change ${number} within ${LONGEST_WAIT_MS} ms`)
    await sleep(GAP_MS)
  }
}

/** Asks for the address of one name; 10.77.x.y is the number x * 256 + y. */
export class Prober {
  readonly #socket: Socket
  readonly #question: Uint8Array
  readonly #times: number[] = []
  /** Whether the last answer had an address at all. */
  hasAddress = false
  #waiting: ((message: Uint8Array | undefined) => void) | undefined

  private constructor(socket: Socket, name: string) {
    this.#socket = socket
    this.#question = encodeMessage({
      ...{ id: 1, qr: false, opcode: 0, aa: false, tc: false, rd: false, ra: false, z: false, ad: false, cd: false },
      ...{ rcode: 0, questions: [{ name: parseName(name), type: TYPE.A, klass: CLASS_IN }] },
      ...{ answers: [], authorities: [], additionals: [] },
    })
    socket.on('message', (message) => this.#waiting?.(message))
    socket.on('error', () => this.#waiting?.(undefined))
  }

  static async open(port: number, name: string): Promise<Prober> {
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.connect(port, '127.0.0.1', () => resolve()))
    return new Prober(socket, name)
  }

  get medianMs(): number {
    return this.#times.toSorted((a, b) => a - b)[this.#times.length >> 1] ?? Number.NaN
  }

  /** The number in the answer; undefined for any other answer, or none in time. */
  async ask(): Promise<number | undefined> {
    const started = performance.now()
    const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>()
    this.#waiting = resolve
    const timer = setTimeout(resolve, ANSWER_MS, undefined)
    this.#socket.send(this.#question)
    const message = await promise
    clearTimeout(timer)
    if (message === undefined) return undefined
    this.#times.push(performance.now() - started)
    const answer = decodeMessage(message)
    this.hasAddress = typeof answer !== 'string' && answer.answers.length > 0
    if (typeof answer === 'string' || answer.answers.length !== 1) return undefined
    const [{ rdata }] = answer.answers
    return rdata[0] === 10 && rdata[1] === 77 ? rdata[2] * 256 + rdata[3] : undefined
  }

  close(): void {
    this.#socket.close()
  }
}
