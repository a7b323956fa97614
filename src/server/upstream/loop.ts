// Finds a forwarding loop at start: a question with a random name is sent to our own address. It reaches the server
// once; when it comes a second time an upstream has sent it back. Nobody else can know the name, so that proves it.

import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { equalNames, parseName } from '../../dns/name.ts'
import { CLASS, TYPE } from '../../dns/types.ts'
import type { UpstreamAddress } from '../config.ts'
import { encodeQuery } from './query.ts'
import { UdpClient } from './udp.ts'
import { HEADER_BYTES, questionEnd, read16 } from './wire.ts'

/** How long our own server may take to answer at all; a question sent in circles may come back late. */
const START_MS = 30_000
const ANSWER_MS = 6000
const RETRY_MS = 1000
const LINGER_MS = 2000

export class LoopDetector {
  /** The first zone of the block, for the message. */
  readonly zone: string
  #name: Uint8Array | undefined
  #seen = 0

  constructor(zone: string) {
    this.zone = zone
  }

  /** Ends when the server answered and a loop would have shown, or did not answer for 30 s. Never rejects. */
  async probe(self: UpstreamAddress, signal: AbortSignal): Promise<void> {
    const client = new UdpClient(self)
    signal.addEventListener('abort', () => client.close(), { once: true })
    const deadline = performance.now() + START_MS
    try {
      while (performance.now() < deadline && !signal.aborted) {
        // A new name each time: a straggler of an earlier attempt must not count.
        this.#name = parseName(`${randomLabel()}.${randomLabel()}.${this.zone === '.' ? '' : this.zone}`)
        this.#seen = 0
        const answered = await client.ask(encodeQuery(this.#name, TYPE.HINFO, CLASS.IN, true), ANSWER_MS).then(
          () => true,
          () => false,
        )
        await sleep(answered ? LINGER_MS : RETRY_MS, undefined, { signal })
        if (answered) break
      }
    } catch {
      // Aborted while waiting.
    } finally {
      this.#name = undefined
      client.close()
    }
  }

  /** To be called with every query the resolver gets; true when it proves a loop. */
  seen(query: Uint8Array): boolean {
    if (this.#name === undefined) return false
    const end = questionEnd(query)
    if (end === undefined || read16(query, end - 4) !== TYPE.HINFO) return false
    if (!equalNames(query.subarray(HEADER_BYTES, end - 4), this.#name)) return false
    this.#seen++
    return this.#seen > 1
  }
}

function randomLabel(): string {
  return String(randomInt(2 ** 47))
}
