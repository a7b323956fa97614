// Queries on their way elsewhere, with what each server block resolves them with. Whatever goes wrong with one of
// them, the others and the server go on.

import { lowerName, parseName } from '../dns/name.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { View } from '../zone/query.ts'
import type { ServerBlock } from './config.ts'
import type { Handover, HandoverBlock } from './handover.ts'
import type { HandoverLimit } from './handover-limit.ts'
import type { Responder } from './responder.ts'
import { fitUdp } from './truncate.ts'
import { addressBytes, formatAddress } from './udp/sockaddr.ts'
import type { HandedPacket } from './udp/worker-data.ts'
import { LoopDetector } from './upstream/loop.ts'
import { Resolver } from './upstream/resolver.ts'
import type { ResolverClient } from './upstream/resolver.ts'
import { createUpstreamStats } from './upstream/stats.ts'
import type { UpstreamStats } from './upstream/stats.ts'

export interface HandedQueriesOptions {
  readonly blocks: readonly ServerBlock[]
  readonly views: readonly View[]
  readonly responder: Responder
  readonly handover: Handover
  readonly limit: HandoverLimit
  /** Gives up everything that is under way. */
  readonly signal: AbortSignal
  readonly log: Log
  /** One query more is answered: its log line can go out. */
  readonly answered: () => void
  readonly failed: (thrown: unknown) => void
  readonly onFatal: (error: HoldfastError) => void
}

interface BlockState extends HandoverBlock {
  readonly upstreamStats: UpstreamStats
  readonly loop: LoopDetector | undefined
  readonly forwards: boolean
}

export class HandedQueries {
  readonly #options: HandedQueriesOptions
  readonly #blocks: readonly BlockState[]
  readonly #waiting = new Set<Promise<unknown>>()

  constructor(options: HandedQueriesOptions) {
    this.#options = options
    this.#blocks = options.blocks.map((block, index) => this.#stateOf(block, options.views[index]))
  }

  /** For a query that a worker counted when it handed it over. Never rejects. */
  answerHanded({ saved, block }: HandedPacket): Promise<Uint8Array | undefined> {
    const v4 = saved.name.length === 16
    const address = formatAddress(v4 ? saved.name.subarray(4, 8) : saved.name.subarray(8, 24))
    const port = (saved.name[2] << 8) | saved.name[3]
    return this.#track(this.#answer(saved.packet, block, { address, port, transport: 'udp' }))
  }

  /** For a query of the main thread; undefined when it is dropped. Never rejects. */
  async answer(query: Uint8Array, block: number, client: ResolverClient): Promise<Uint8Array | undefined> {
    const { limit } = this.#options
    if (!limit.admits()) return undefined
    limit.add(1)
    return this.#track(this.#answer(query, block, client))
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
    const { signal, log } = this.#options
    const upstreamStats = createUpstreamStats()
    const forwards = block.forwards.length > 0 || block.alternates.length > 0
    return {
      view,
      resolver: new Resolver(block, {
        signal,
        stats: upstreamStats,
        log: { warn: (message: string) => log.warning(message), info: (message: string) => log.info(message) },
      }),
      upstreamStats,
      forwards,
      loop: block.loop && forwards ? new LoopDetector(block.zones[0]) : undefined,
      fallthrough: [...block.files, ...block.autos, ...block.skydns, ...block.etcdZones].flatMap(({ fallthrough }) =>
        fallthrough.map((name) => lowerName(parseName(name))),
      ),
    }
  }

  #track<T>(answer: Promise<T>): Promise<T> {
    this.#waiting.add(answer)
    return answer.finally(() => {
      this.#waiting.delete(answer)
      this.#options.limit.answered()
    })
  }

  async #answer(query: Uint8Array, block: number, client: ResolverClient): Promise<Uint8Array | undefined> {
    try {
      const response = await this.#resolve(query, block, client)
      return client.transport === 'tcp' ? response : fitUdp(query, response, this.#blocks[block].view.udpBytes)
    } catch (thrown) {
      this.#options.failed(thrown)
      return undefined
    }
  }

  async #resolve(query: Uint8Array, block: number, client: ResolverClient): Promise<Uint8Array> {
    const { responder, handover, answered } = this.#options
    const state = this.#blocks[block]
    if (state.loop?.seen(query) === true) this.#reportLoop(state.loop.zone)
    const started = performance.now()
    this.#setClient(client)
    const response = await handover.answer(query, state, client)
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
