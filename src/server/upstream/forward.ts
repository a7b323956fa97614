// The upstreams of one `forward` or `alternate`: in which order they are tried, and until when. As CoreDNS: an
// exchange may take 2 s, all of them together 5 s and two rounds; an upstream known to be down is passed over; when
// all are, one is tried at random, since the checks may be what is broken.

import { isSubdomain, lowerName, parseName } from '../../dns/name.ts'
import { RCODE } from '../../dns/types.ts'
import { messageOf } from '../../lib/errors.ts'
import type { ForwardConfig, ForwardPolicy } from '../config.ts'
import { type Transport, Upstream } from './exchange.ts'
import { Health, type ResolverLog } from './health.ts'
import { type Query, upstreamQuery } from './query.ts'
import type { Reply } from './reply.ts'
import type { UpstreamStats } from './stats.ts'

const DEADLINE_MS = 5000
const EXCHANGE_TIMEOUT_MS = 2000
const ROUNDS = 2

/** No upstream's answer, but the rcode to answer with, and why. */
export interface Failure {
  readonly rcode: number
  readonly reason: string
}

export type Outcome = { readonly reply: Reply } | { readonly failure: Failure }

interface Candidate {
  readonly upstream: Upstream
  readonly health: Health
}

export class Forwarder {
  readonly from: Uint8Array
  readonly #config: ForwardConfig
  readonly #except: readonly Uint8Array[]
  readonly #candidates: readonly Candidate[]
  readonly #stats: UpstreamStats
  #turn = 0
  #concurrent = 0

  constructor(config: ForwardConfig, stats: UpstreamStats, log: ResolverLog) {
    this.#config = config
    this.#stats = stats
    this.from = lowerName(parseName(config.from))
    this.#except = config.except.map((name) => lowerName(parseName(name)))
    this.#candidates = config.to.map((address) => {
      const upstream = new Upstream(address, config.expireMs, stats)
      return { upstream, health: new Health(upstream, config, log) }
    })
  }

  /** An exception does not apply to `from` itself. */
  matches(name: Uint8Array): boolean {
    if (!isSubdomain(name, this.from)) return false
    return name.length === this.from.length || !this.#except.some((except) => isSubdomain(name, except))
  }

  async ask(query: Query, clientTransport: Transport): Promise<Outcome> {
    if (this.#config.maxConcurrent > 0 && this.#concurrent >= this.#config.maxConcurrent) {
      this.#stats.maxConcurrentRejects++
      return fail(RCODE.REFUSED, `more than ${this.#config.maxConcurrent} queries at once`)
    }
    this.#concurrent++
    try {
      return await this.#tryEach(upstreamQuery(query), this.#transport(clientTransport))
    } finally {
      this.#concurrent--
    }
  }

  close(): void {
    for (const { upstream, health } of this.#candidates) {
      health.close()
      upstream.close()
    }
  }

  async #tryEach(query: Uint8Array, transport: Transport): Promise<Outcome> {
    const deadline = performance.now() + DEADLINE_MS
    const order = this.#order()
    let unwelcome: Reply | undefined
    let reason = 'every upstream is down'
    for (let attempt = 0; attempt < ROUNDS * order.length; attempt++) {
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) break
      // Health may change between attempts, so it is asked each time.
      const candidate = this.#choose(order, attempt)
      if (candidate === 'skip') continue
      if (candidate === undefined) break
      try {
        const reply = await candidate.upstream.ask(query, transport, Math.min(EXCHANGE_TIMEOUT_MS, leftMs))
        if (!this.#config.failoverRcodes.includes(reply.rcode)) return { reply }
        unwelcome = reply
        if (attempt >= order.length - 1) break
      } catch (error) {
        reason = messageOf(error)
        candidate.health.exchangeFailed()
      }
    }
    return unwelcome === undefined ? fail(RCODE.SERVFAIL, reason) : { reply: unwelcome }
  }

  /** Whom to ask in this attempt; undefined when nobody is to be asked any more. */
  #choose(order: readonly Candidate[], attempt: number): Candidate | 'skip' | undefined {
    const candidate = order[attempt % order.length]
    if (!candidate.health.down) return candidate
    if (order.some((other) => !other.health.down)) return 'skip'
    this.#stats.healthcheckBroken++
    return this.#config.failfastAllUnhealthy ? undefined : order[Math.floor(Math.random() * order.length)]
  }

  #order(): readonly Candidate[] {
    const candidates = this.#candidates
    return POLICIES[this.#config.policy](candidates, this.#turn++ % candidates.length)
  }

  #transport(client: Transport): Transport {
    if (this.#config.forceTcp) return 'tcp'
    return this.#config.preferUdp ? 'udp' : client
  }
}

const POLICIES: Record<ForwardPolicy, (all: readonly Candidate[], turn: number) => readonly Candidate[]> = {
  sequential: (all) => all,
  round_robin: (all, turn) => [...all.slice(turn), ...all.slice(0, turn)],
  random: (all) => shuffle([...all]),
}

function shuffle<T>(items: T[]): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[items[i], items[j]] = [items[j], items[i]]
  }
  return items
}

function fail(rcode: number, reason: string): Outcome {
  return { failure: { rcode, reason } }
}
