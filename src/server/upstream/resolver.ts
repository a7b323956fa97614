// What one server block does with a query its zones do not settle: cache, then the `forward` with the longest
// matching name, then the first `alternate` whose rcodes include the outcome so far. The same question asked by many
// at once goes upstream once, which also keeps a forwarding loop from multiplying.

import { formatName, labelCount } from '../../dns/name.ts'
import { RCODE, typeName } from '../../dns/types.ts'
import { messageOf } from '../../lib/errors.ts'
import type { ServerBlock } from '../config.ts'
import type { ErrorLog } from '../error-log.ts'
import type { WaitingPlaces } from '../waiting-places.ts'
import { Cache } from './cache.ts'
import type { Transport } from './exchange.ts'
import { Forwarder, type Outcome } from './forward.ts'
import type { ResolverLog } from './health.ts'
import { emptyAnswer, type Query, readQuery } from './query.ts'
import { encodeReply, type Reply } from './reply.ts'
import type { UpstreamStats } from './stats.ts'

/** Each question in flight may hold a socket for seconds. The places keep below this; prefetches come on top. */
const MAX_IN_FLIGHT = 10_000

export interface ResolverDeps {
  /** Closes every socket and timer. */
  readonly signal: AbortSignal
  readonly log: ResolverLog
  /** For failed questions; undefined: they are not logged. */
  readonly errors: ErrorLog | undefined
  /** Of this block alone. */
  readonly stats: UpstreamStats
  /** Of all blocks. */
  readonly places: WaitingPlaces
}

export interface ResolverClient {
  readonly address: string
  readonly port: number
  readonly transport: Transport
}

/** What the block's zones said. */
export interface LocalAnswer {
  readonly rcode: number
  /** Undefined: no zone covers the name. */
  readonly message: Uint8Array | undefined
  /** The zone lets this name go on to `forward`; otherwise only an `alternate` may replace its answer. */
  readonly fallthrough?: boolean
}

/** What asking led to: an answer with the TTL to show, or nothing but an rcode. */
type Resolved = { readonly reply: Reply; readonly ttlSeconds: number | undefined } | { readonly rcode: number }

/** Who is to be asked: a forward first, or an alternate at once because of what was said so far. */
interface Route {
  readonly forward: Forwarder | undefined
  readonly rcodes: readonly number[]
  /** Answers are shared, and kept, per question and route. */
  readonly key: string
}

interface Alternate {
  readonly rcodes: readonly number[]
  readonly forwarder: Forwarder
}

export class Resolver {
  /** Rcodes for which a zone's own answer must be shown to `resolve`, since an `alternate` may replace it. */
  readonly alternateRcodes: ReadonlySet<number>
  readonly #block: ServerBlock
  readonly #deps: ResolverDeps
  readonly #forwards: readonly Forwarder[]
  readonly #alternates: readonly Alternate[]
  readonly #cache: Cache | undefined
  readonly #inFlight = new Map<string, Promise<Resolved>>()

  constructor(block: ServerBlock, deps: ResolverDeps) {
    this.#block = block
    this.#deps = deps
    this.#forwards = block.forwards
      .map((config) => new Forwarder(config, deps.stats, deps.log))
      .toSorted((a, b) => labelCount(b.from) - labelCount(a.from))
    // `original` needs no care: queries are never rewritten here, so the original is what is sent.
    this.#alternates = block.alternates.map(({ rcodes, forward }) => ({
      rcodes,
      forwarder: new Forwarder(forward, deps.stats, deps.log),
    }))
    this.alternateRcodes = new Set(block.alternates.flatMap(({ rcodes }) => rcodes))
    this.#cache = block.cache && new Cache(block.cache, block.zones, deps.stats.cache)
    deps.signal.addEventListener('abort', () => this.#close(), { once: true })
  }

  /** Whether a forward or alternate takes this name (lower case, wire form). */
  handles(name: Uint8Array): boolean {
    return (
      this.#forwards.some((forwarder) => forwarder.matches(name)) ||
      this.#alternates.some(({ forwarder }) => forwarder.matches(name))
    )
  }

  /**
   * The answer to `query`, with the client's id, question and an OPT record when it sent one. It may exceed what the
   * client takes by UDP: the caller truncates. Undefined when the client has too much waiting: the query is dropped.
   * Never rejects; where nothing answers the rcode is SERVFAIL.
   */
  async resolve(query: Uint8Array, client: ResolverClient, local?: LocalAnswer): Promise<Uint8Array | undefined> {
    // The caller may receive the next query into the same buffer.
    query = new Uint8Array(query)
    const parsed = readQuery(query)
    if (typeof parsed === 'number') return local?.message ?? this.#empty(query, parsed)
    try {
      const route = this.#route(parsed, local)
      if (route === undefined) return local?.message ?? this.#empty(query, RCODE.REFUSED)
      const resolved = await this.#recall(parsed, client, route)
      if (resolved === undefined) return undefined
      if ('rcode' in resolved) return this.#empty(query, resolved.rcode)
      return encodeReply(resolved.reply, parsed, this.#block.udpBytes, resolved.ttlSeconds)
    } catch (error) {
      this.#deps.errors?.report(`Cannot resolve ${describe(parsed)}`, messageOf(error))
      return this.#empty(query, RCODE.SERVFAIL)
    }
  }

  #route(query: Query, local: LocalAnswer | undefined): Route | undefined {
    const said = local?.message === undefined ? undefined : local.rcode
    const settled = said !== undefined && local?.fallthrough !== true
    const forward = settled ? undefined : this.#forwards.find((forwarder) => forwarder.matches(query.name))
    // With nobody responsible CoreDNS says SERVFAIL where other servers refuse: rules for either are meant.
    const rcodes: number[] = settled ? [] : [RCODE.SERVFAIL, RCODE.REFUSED]
    if (said !== undefined) rcodes.push(said)
    if (forward === undefined && this.#alternate(query, rcodes) === undefined) return undefined
    return { forward, rcodes, key: query.key + String.fromCharCode(settled ? 1 : 0, said ?? 0xffff) }
  }

  #alternate(query: Query, rcodes: readonly number[]): Forwarder | undefined {
    return this.#alternates.find(
      (rule) => rcodes.some((rcode) => rule.rcodes.includes(rcode)) && rule.forwarder.matches(query.name),
    )?.forwarder
  }

  /** What is in the cache needs no place to wait. */
  async #recall(query: Query, client: ResolverClient, route: Route): Promise<Resolved | undefined> {
    const { transport } = client
    const hit = this.#cache?.covers(query.name) ? this.#cache.lookup(route.key) : undefined
    if (hit === undefined) return this.#wait(query, client, route)
    if (hit.stale && this.#block.cache?.serveStaleVerify) {
      const verified = await this.#wait(query, client, route)
      if (verified !== undefined && isData(verified)) return verified
    } else if ((hit.stale || hit.prefetch) && !this.#inFlight.has(route.key)) {
      this.#deps.stats.cache.prefetches++
      void this.#ask(query, transport, route).catch(() => undefined)
    }
    if (hit.stale) this.#deps.stats.cache.servedStale++
    return { reply: hit.reply, ttlSeconds: hit.ttlSeconds }
  }

  /** Undefined when the client has no place left. */
  async #wait(query: Query, client: ResolverClient, route: Route): Promise<Resolved | undefined> {
    const place = this.#deps.places.take(client, route.key)
    try {
      return place && (await this.#ask(query, client.transport, route))
    } finally {
      place?.leave()
    }
  }

  /** Joins the same question in flight, if there is one. */
  #ask(query: Query, transport: Transport, route: Route): Promise<Resolved> {
    const joined = this.#inFlight.get(route.key)
    if (joined !== undefined) return joined
    if (this.#inFlight.size >= MAX_IN_FLIGHT) return Promise.resolve({ rcode: RCODE.SERVFAIL })
    const asked = this.#askUpstreams(query, transport, route).finally(() => this.#inFlight.delete(route.key))
    this.#inFlight.set(route.key, asked)
    return asked
  }

  async #askUpstreams(query: Query, transport: Transport, route: Route): Promise<Resolved> {
    const first = await route.forward?.ask(query, transport)
    const alternate = this.#alternate(query, first === undefined ? route.rcodes : [rcodeOf(first)])
    const outcome = (await alternate?.ask(query, transport)) ?? first
    // A route has a forward or an alternate.
    if (outcome === undefined) return { rcode: RCODE.REFUSED }
    if ('failure' in outcome) {
      this.#deps.errors?.report(`Cannot resolve ${describe(query)}`, outcome.failure.reason)
      return { rcode: outcome.failure.rcode }
    }
    const { reply } = outcome
    return {
      reply,
      ttlSeconds: this.#cache?.covers(query.name) ? this.#cache.store(route.key, query.name, reply) : undefined,
    }
  }

  #empty(query: Uint8Array, rcode: number): Uint8Array {
    return emptyAnswer(query, rcode, this.#block.udpBytes)
  }

  #close(): void {
    for (const forwarder of this.#forwards) forwarder.close()
    for (const { forwarder } of this.#alternates) forwarder.close()
  }
}

function rcodeOf(outcome: Outcome): number {
  return 'failure' in outcome ? outcome.failure.rcode : outcome.reply.rcode
}

/** Good enough to replace a stale answer (RFC 8767 section 4). */
function isData(resolved: Resolved): boolean {
  if ('rcode' in resolved || resolved.reply.truncated) return false
  return resolved.reply.rcode === RCODE.NOERROR || resolved.reply.rcode === RCODE.NXDOMAIN
}

function describe(query: Query): string {
  return `"${formatName(query.name)} ${typeName(query.type)}"`
}
