// How many queries may be on their way from the workers to the main thread. The message queue has no limit of its own:
// a flood would fill the memory, and everything else would wait behind it.
//
// Clients share the places fairly. They are counted by a hash of their address, in memory that all threads share.

import { randomInt } from 'node:crypto'
import { hashClient } from './client-network.ts'
import { mayTakePlace } from './fair-share.ts'

/** At some 30 µs of work each, the last one waits for about 0.1 s. */
const MOST_QUEUED = 4096
const CLIENTS = 4096

const TOTAL_AT = 0
const SEED_AT = 1
const CLIENTS_AT = 2
const DROPPED_BYTE = (CLIENTS_AT + CLIENTS) * 4
const BYTES = DROPPED_BYTE + 8

export class HandoverGate {
  readonly buffer: SharedArrayBuffer
  readonly #counts: Int32Array
  readonly #dropped: BigUint64Array

  /** Without a buffer, one for all threads is made; `seed` keeps outsiders from finding addresses that count as one. */
  constructor(buffer?: SharedArrayBuffer, seed: number = randomInt(2 ** 31)) {
    this.buffer = buffer ?? new SharedArrayBuffer(BYTES)
    this.#counts = new Int32Array(this.buffer, 0, CLIENTS_AT + CLIENTS)
    this.#dropped = new BigUint64Array(this.buffer, DROPPED_BYTE, 1)
    if (buffer === undefined) this.#counts[SEED_AT] = seed
  }

  /** A place in the queue for a query of this client, to be given back with `leave`; -1 when the query is to be dropped. */
  enter(address: Uint8Array, length: number): number {
    const counts = this.#counts
    const client = CLIENTS_AT + (hashClient(address, length, counts[SEED_AT]) & (CLIENTS - 1))
    if (!mayTakePlace(Atomics.load(counts, client), Atomics.load(counts, TOTAL_AT), MOST_QUEUED)) {
      Atomics.add(this.#dropped, 0, 1n)
      return -1
    }
    Atomics.add(counts, TOTAL_AT, 1)
    Atomics.add(counts, client, 1)
    return client
  }

  leave(place: number): void {
    Atomics.sub(this.#counts, place, 1)
    Atomics.sub(this.#counts, TOTAL_AT, 1)
  }

  get queued(): number {
    return Atomics.load(this.#counts, TOTAL_AT)
  }

  get droppedTotal(): number {
    return Number(Atomics.load(this.#dropped, 0))
  }
}
