// Queries on their way elsewhere, with what each server block resolves them with. Whatever goes wrong with one of
// them, the others and the server go on.

import { HoldfastError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { View } from '../zone/query.ts'
import type { ServerBlock } from './config.ts'
import { ErrorLog } from './error-log.ts'
import type { Handover, HandoverBlock } from './handover.ts'
import type { HandoverGate } from './handover-gate.ts'
import type { Responder } from './responder.ts'
import { fitUdp } from './truncate.ts'
import { addressBytes, formatAddress } from './udp/sockaddr.ts'
import type { HandedPacket } from './udp/worker-data.ts'
import { LoopDetector } from './upstream/loop.ts'
import { Resolver } from './upstream/resolver.ts'
import type { ResolverClient } from './upstream/resolver.ts'
import { createUpstreamStats } from './upstream/stats.ts'
import type { UpstreamStats } from './upstream/stats.ts'
import type { WaitingPlaces } from './waiting-places.ts'

export interface HandedQueriesOptions {
  readonly blocks: readonly ServerBlock[]
  readonly views: readonly View[]
  readonly responder: Responder
  readonly handover: Handover
  readonly gate: HandoverGate
  readonly places: WaitingPlaces
  /** Gives up everything that is under way. */
  readonly signal: AbortSignal
  readonly log: Log
  /** One query more is answered: its log line can go out. */
  readonly answered: () => void
  readonly failed: (thrown: unknown) => void
  readonly onFatal: (error: HoldfastError) => void
}

const FEW_QUEUED = 128

interface BlockState extends HandoverBlock {
  readonly upstreamStats: UpstreamStats
  readonly loop: LoopDetector | undefined
  readonly forwards: boolean
}

export class HandedQueries {
  readonly #options: HandedQueriesOptions
  readonly #blocks: readonly BlockState[]
  readonly #waiting = new Set<Promise<unknown>>()
  /** Places in the queue that are given back together. */
  #left: number[] = []

  constructor(options: HandedQueriesOptions) {
    this.#options = options
    this.#blocks = options.blocks.map((block, index) => this.#stateOf(block, options.views[index]))
  }

  /** For a query that came from a worker through the gate. Never rejects. */
  answerHanded({ saved, block, reason, place }: HandedPacket): Promise<Uint8Array | undefined> {
    this.#leaveGate(place)
    const v4 = saved.name.length === 16
    const address = formatAddress(v4 ? saved.name.subarray(4, 8) : saved.name.subarray(8, 24))
    const port = (saved.name[2] << 8) | saved.name[3]
    return this.#track(this.#answer(saved.packet, block, reason, { address, port, transport: 'udp' }))
  }

  /** For a query of the main thread; undefined when it is dropped. Never rejects. */
  answer(query: Uint8Array, block: number, reason: number, client: ResolverClient): Promise<Uint8Array | undefined> {
    return this.#track(this.#answer(query, block, reason, client))
  }

  /** Resolves when everything that waits now is answered. */
  async drained(): Promise<void> {
    await Promise.all(this.#waiting)
  }

  /** Looks for loops among the forwarders by asking ourselves. */
  probeLoops(self: { host: string; port: number }): void {
    for (const { loop } of this.#blocks) if (loop !== undefined) void loop.probe(self, this.#options.signal)
  }

  /** Undefined for a block that forwards nothing. */
  upstreamStatsOf(block: number): UpstreamStats | undefined {
    const { forwards, upstreamStats } = this.#blocks[block]
    return forwards ? upstreamStats : undefined
  }

  #stateOf(block: ServerBlock, view: View): BlockState {
    const { signal, log, places } = this.#options
    const upstreamStats = createUpstreamStats()
    const forwards = block.forwards.length > 0 || block.alternates.length > 0
    return {
      view,
      resolver: new Resolver(block, {
        signal,
        stats: upstreamStats,
        places,
        errors: block.errors ? new ErrorLog(block.errorRules ?? [], log, signal) : undefined,
        log: { warn: (message: string) => log.warning(message), info: (message: string) => log.info(message) },
      }),
      upstreamStats,
      forwards,
      loop: block.loop && forwards ? new LoopDetector(block.zones[0]) : undefined,
    }
  }

  #track<T>(answer: Promise<T>): Promise<T> {
    this.#waiting.add(answer)
    return answer.finally(() => this.#waiting.delete(answer))
  }

  /** Under load in the next turn of the event loop, so that a flood does not keep this one going. */
  #leaveGate(place: number): void {
    const { gate } = this.#options
    if (gate.queued < FEW_QUEUED) return gate.leave(place)
    if (this.#left.length === 0)
      setImmediate(() => {
        for (const each of this.#left) gate.leave(each)
        this.#left = []
      })
    this.#left.push(place)
  }

  async #answer(
    query: Uint8Array,
    block: number,
    reason: number,
    client: ResolverClient,
  ): Promise<Uint8Array | undefined> {
    try {
      const response = await this.#resolve(query, block, reason, client)
      if (response === undefined) return undefined
      return client.transport === 'tcp' ? response : fitUdp(query, response, this.#blocks[block].view.udpBytes)
    } catch (thrown) {
      this.#options.failed(thrown)
      return undefined
    }
  }

  async #resolve(
    query: Uint8Array,
    block: number,
    reason: number,
    client: ResolverClient,
  ): Promise<Uint8Array | undefined> {
    const { responder, handover, answered } = this.#options
    const state = this.#blocks[block]
    if (state.loop?.seen(query) === true) this.#reportLoop(state.loop.zone)
    const started = performance.now()
    this.#setClient(client)
    const response = await handover.answer(query, reason, state, client)
    if (response === undefined) return undefined
    this.#setClient(client)
    responder.record(block, query, response, client.transport === 'tcp', (performance.now() - started) / 1000)
    answered()
    return response
  }

  #reportLoop(zone: string): void {
    this.#options.onFatal(
      new HoldfastError(
        'ForwardingLoop',
        `Cannot serve "${zone}": its queries come back from the servers they are forwarded to; forward somewhere else`,
      ),
    )
  }

  #setClient({ address, port }: ResolverClient): void {
    const { responder } = this.#options
    const bytes = addressBytes(address)
    responder.edns.address.set(bytes)
    responder.edns.addressLength = bytes.length
    responder.edns.nowSeconds = Math.floor(Date.now() / 1000)
    responder.port = port
  }
}
