// Queries the zones do not settle, on the main thread: asks the zones once more for what they do say of them, then the
// block's resolver. An alias that leaves our zones is followed there and the two answers are joined. A question that
// searches is put to the source of its zone.

import { decodeMessage, encodeMessage } from '../dns/message.ts'
import type { Message, ResourceRecord } from '../dns/message.ts'
import { formatName, lowerName } from '../dns/name.ts'
import { RCODE, TYPE } from '../dns/types.ts'
import { answer } from '../zone/answer.ts'
import { emitOpt } from '../zone/edns.ts'
import type { EdnsContext } from '../zone/edns.ts'
import { fallsThrough } from '../zone/fallthrough.ts'
import { ZONE } from '../zone/layout.ts'
import { HANDOVER } from '../zone/query.ts'
import type { Query, View } from '../zone/query.ts'
import type { ArenaReader } from './arena-reader.ts'
import { readQuery } from '../zone/read-query.ts'
import type { LocalAnswer, Resolver, ResolverClient } from './upstream/resolver.ts'
import { OPT_BYTES, withOptions } from './upstream/wire.ts'
import type { WaitingPlaces } from './waiting-places.ts'

const LONGEST_MESSAGE = 65_535
const NO_OPTIONS: Uint8Array = new Uint8Array(0)

export interface HandoverBlock {
  readonly view: View
  readonly resolver: Resolver
}

/** What a question with `*` or `any` labels finds in a zone (SkyDNS); undefined when that cannot be told. */
export type Search = (question: {
  readonly space: number
  readonly origin: string
  readonly name: Uint8Array
  readonly type: number
}) => Promise<Found | undefined>

interface FoundRecord {
  readonly type: number
  readonly ttl: number
  readonly rdata: Uint8Array
  /** Unix seconds. */
  readonly expiresAt?: number
}

export interface Found {
  /** Some name matches, with or without data of the type. */
  readonly found: boolean
  /** Of the asked type; or an alias alone, to be followed. */
  readonly records: readonly FoundRecord[]
  readonly additional: readonly { readonly owner: Uint8Array; readonly record: FoundRecord }[]
}

/** What a search found, after its alias was followed. */
interface Followed {
  readonly rcode: number
  readonly answers: readonly ResourceRecord[]
}

interface SearchedZone {
  readonly origin: string
  /** What is not found goes on to the next step. */
  readonly fallthrough: boolean
  /** TTLs do not count down any further. */
  readonly leastTtl: number
}

export class Handover {
  readonly #query: Query
  readonly #search: Search
  readonly #edns: EdnsContext
  readonly #arena: ArenaReader
  readonly #places: WaitingPlaces
  readonly #scratch = new Uint8Array(LONGEST_MESSAGE)
  /** The zone that the last question searches. */
  #searched: SearchedZone = { origin: '', fallthrough: false, leastTtl: 0 }

  constructor(query: Query, edns: EdnsContext, arena: ArenaReader, search: Search, places: WaitingPlaces) {
    this.#places = places
    this.#query = query
    this.#search = search
    this.#edns = edns
    this.#arena = arena
  }

  /**
   * Resolves to the response; undefined when the client has too much waiting. For UDP, what the zones say is cut to
   * size; what is joined or comes from elsewhere is not. `reason` is what the zones said when they were asked first.
   */
  answer(
    packet: Uint8Array,
    reason: number,
    block: HandoverBlock,
    client: ResolverClient,
  ): Promise<Uint8Array | undefined> {
    return this.#answer(packet, reason, block, client, client.transport === 'tcp')
  }

  async #answer(
    packet: Uint8Array,
    reason: number,
    block: HandoverBlock,
    client: ResolverClient,
    tcp: boolean,
  ): Promise<Uint8Array | undefined> {
    const { view, resolver } = block
    if (reason === HANDOVER.search) return this.#answerSearch(packet, block, client)
    if (reason === HANDOVER.uncovered) {
      this.#read(packet, tcp)
      const options = this.#options(view)
      const response = await resolver.resolve(packet, client)
      return response && withOptions(response, options)
    }
    const local = this.#local(packet, view, tcp)
    const options = this.#options(view)
    if (reason === HANDOVER.alias) return this.#followAlias(packet, local, resolver, client)
    const outcome: LocalAnswer = {
      rcode: local[3] & 0x0f,
      message: local,
      fallthrough: reason === HANDOVER.fallthrough,
    }
    const response = await resolver.resolve(packet, client, outcome)
    return response && withOptions(response, options)
  }

  /** What our OPT record has to say to the query read last: NSID, cookie, keepalive. */
  #options(view: View): Uint8Array {
    const query = this.#query
    if (!query.edns) return NO_OPTIONS
    const start = query.questionEnd
    query.at = start
    emitOpt(query, view, this.#edns)
    return this.#scratch.slice(start + OPT_BYTES, query.at)
  }

  /** What the zones alone say. */
  #local(packet: Uint8Array, view: View, tcp: boolean): Uint8Array {
    return this.#scratch.slice(
      0,
      this.#ask(packet, { ...view, handsOver: false, searches: false, handoverRcodes: 0 }, tcp),
    )
  }

  #read(packet: Uint8Array, tcp: boolean): void {
    this.#scratch.set(packet)
    this.#query.open(this.#scratch, 0, packet.length, LONGEST_MESSAGE, tcp)
    readQuery(this.#query)
  }

  #ask(packet: Uint8Array, view: View, tcp: boolean): number {
    this.#scratch.set(packet)
    this.#arena.enter()
    try {
      this.#query.open(this.#scratch, 0, packet.length, LONGEST_MESSAGE, tcp)
      const length = answer(this.#query, [view], this.#edns)
      if (this.#query.handover === HANDOVER.search) this.#searched = this.#searchedZone()
      return length
    } finally {
      this.#arena.leave()
    }
  }

  #searchedZone(): SearchedZone {
    const { words, bytes, zone } = this.#query
    const start = zone + ZONE.name * 4
    return {
      origin: formatName(bytes.slice(start, start + words[(zone >> 2) + ZONE.nameLength])),
      fallthrough: fallsThrough(this.#query),
      leastTtl: words[(zone >> 2) + ZONE.leastTtl],
    }
  }

  /** What is found, under the name asked for; a search that finds nothing ends as any name that is not there. */
  async #answerSearch(
    packet: Uint8Array,
    block: HandoverBlock,
    client: ResolverClient,
  ): Promise<Uint8Array | undefined> {
    const { view, resolver } = block
    const tcp = client.transport === 'tcp'
    const length = this.#ask(packet, view, tcp)
    const { type, handover } = this.#query
    // The zone may have gone since.
    if (handover === 0) return this.#scratch.slice(0, length)
    if (handover !== HANDOVER.search) return this.#answer(packet, handover, block, client, tcp)
    const { origin, fallthrough, leastTtl } = this.#searched
    const name = this.#query.name.slice(0, this.#query.nameLength)
    const falls = fallthrough && view.handsOver
    // Before anything is waited for: options and cookie are for this client.
    const options = this.#options(view)
    const local = this.#local(packet, view, true)
    const place = this.#places.take(client, `search ${type} ${Buffer.from(name).toString('latin1')}`)
    if (place === undefined) return undefined
    const found = await this.#search({ space: view.space, origin, name, type }).finally(() => place.leave())
    const ours = decodeMessage(local)
    if (typeof ours === 'string') return local
    if (found === undefined) return encodeMessage({ ...ours, ...EMPTY_SECTIONS, rcode: RCODE.SERVFAIL })
    const owner = ours.questions[0].name
    const limits = { nowSeconds: this.#edns.nowSeconds, leastTtl }
    const records = found.records.map((record) => toRecord(owner, record, limits))
    const followed = await this.#withTargets(packet, records, block, client)
    if (followed === undefined) return undefined
    const { answers } = followed
    const authorities = answers.length > 0 ? [] : ours.authorities.filter((record) => record.type === TYPE.SOA)
    const rcode = found.found ? followed.rcode : RCODE.NXDOMAIN
    const additionals = found.additional.map((each) => toRecord(each.owner, each.record, limits))
    const message = encodeMessage({ ...ours, rcode, answers, authorities, additionals })
    if (found.found || !falls) return message
    const response = await resolver.resolve(packet, client, { rcode, message, fallthrough: true })
    return response && withOptions(response, options)
  }

  /**
   * Records of the asked type as they are; an alias with all that it leads to, or not at all when that is nothing. A
   * target that cannot be resolved is not nothing: the alias stays, and the rcode is the target's (RFC 6604 section 3).
   * Undefined when the client has too much waiting to follow the alias: an answer without it would deny what exists.
   */
  async #withTargets(
    packet: Uint8Array,
    records: readonly ResourceRecord[],
    block: HandoverBlock,
    client: ResolverClient,
  ): Promise<Followed | undefined> {
    const asIs = { rcode: RCODE.NOERROR, answers: records }
    const asked = decodeMessage(packet)
    if (typeof asked === 'string') return asIs
    const [question] = asked.questions
    const alias = records.find(({ type }) => type === TYPE.CNAME && type !== question.type)
    if (alias === undefined) return asIs
    const target = encodeMessage({ ...asked, questions: [{ ...question, name: alias.rdata }] })
    const response = await this.#answerAfresh(target, { ...block, view: { ...block.view, searches: false } }, client)
    if (response === undefined) return undefined
    const theirs = decodeMessage(response)
    if (typeof theirs === 'string') return { rcode: RCODE.SERVFAIL, answers: [alias] }
    const { rcode, answers } = theirs
    if (answers.length > 0) return { rcode, answers: [alias, ...answers] }
    if (rcode === RCODE.NOERROR || rcode === RCODE.NXDOMAIN) return { rcode: RCODE.NOERROR, answers: [] }
    // A refusal of our own: the target is in no zone here, and the client asks for it elsewhere.
    const isOurs = rcode === RCODE.REFUSED && !block.resolver.handles(lowerName(alias.rdata))
    return { rcode: isOurs ? RCODE.NOERROR : rcode, answers: [alias] }
  }

  /** For a question that the zones have not been asked yet. */
  async #answerAfresh(
    packet: Uint8Array,
    block: HandoverBlock,
    client: ResolverClient,
  ): Promise<Uint8Array | undefined> {
    const length = this.#ask(packet, block.view, true)
    const { handover } = this.#query
    return handover === 0 ? this.#scratch.slice(0, length) : this.#answer(packet, handover, block, client, true)
  }

  /** The chain of aliases so far, then what the resolver knows of its end. */
  async #followAlias(
    packet: Uint8Array,
    local: Uint8Array,
    resolver: Resolver,
    client: ResolverClient,
  ): Promise<Uint8Array | undefined> {
    const ours = decodeMessage(local)
    if (typeof ours === 'string') return local
    const last = ours.answers.findLast(({ type }) => type === TYPE.CNAME)
    if (last === undefined || !resolver.handles(lowerName(last.rdata))) return local
    const asked = decodeMessage(packet)
    if (typeof asked === 'string') return local
    const target: Message = { ...asked, rd: true, questions: [{ ...asked.questions[0], name: last.rdata }] }
    const response = await resolver.resolve(encodeMessage(target), client)
    if (response === undefined) return undefined
    const theirs = decodeMessage(response)
    if (typeof theirs === 'string') return encodeMessage({ ...ours, rcode: RCODE.SERVFAIL })
    return encodeMessage({
      ...ours,
      rcode: theirs.rcode,
      answers: [...ours.answers, ...theirs.answers],
      authorities: theirs.authorities,
      additionals: [],
    })
  }
}

const CLASS_IN = 1
const EMPTY_SECTIONS = { answers: [], authorities: [], additionals: [] } as const

/** What expires is not kept longer than until then, as in the zones themselves. */
function toRecord(
  name: Uint8Array,
  { type, ttl, rdata, expiresAt = Infinity }: FoundRecord,
  { nowSeconds, leastTtl }: { readonly nowSeconds: number; readonly leastTtl: number },
): ResourceRecord {
  const ttlSeconds = Math.min(ttl, Math.max(leastTtl, expiresAt - nowSeconds))
  return { name, type, klass: CLASS_IN, ttlSeconds, rdata }
}
