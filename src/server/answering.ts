// What the sockets of the main thread answer with. A reload puts the next generation's in its place under open
// sockets, so that neither connections nor queries are lost.

import type { View } from '../zone/query.ts'
import type { ArenaReader } from './arena-reader.ts'
import type { Responder } from './responder.ts'

export interface Answering {
  readonly views: readonly View[]
  readonly responder: Responder
  readonly arena: ArenaReader
  /** Answers what the zones cannot; undefined when the query is given up. Never rejects. */
  readonly handOver: (
    query: Uint8Array,
    block: number,
    /** One of HANDOVER. */
    reason: number,
    address: string,
    port: number,
  ) => Promise<Uint8Array | undefined>
  /** To be called when what was received has been answered. */
  readonly answered: () => void
  /** To be called with what was thrown instead of an answer, which is a defect; that query is given up. */
  readonly failed: (thrown: unknown) => void
}
