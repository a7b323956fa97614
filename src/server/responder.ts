// One thread's answering: the query object, its counters and its log. Transports hand it packets and send what comes
// back; what the zones cannot answer stays with the transport, together with the query as it was received.

import { performance } from 'node:perf_hooks'
import { answer } from '../zone/answer.ts'
import { EdnsContext } from '../zone/edns.ts'
import { Query } from '../zone/query.ts'
import type { View } from '../zone/query.ts'
import type { LogConfig } from './config.ts'
import { QueryLog } from './query-log.ts'
import { LineBuffer } from './query-log/line-buffer.ts'
import { FAMILY, PROTO, StatsWriter } from './stats.ts'

export interface ResponderOptions {
  readonly cookieSecret: Uint8Array
  readonly tcpIdleMs: number
  /** By block; undefined where nobody reads the counters. */
  readonly stats: readonly (SharedArrayBuffer | undefined)[]
  /** By block; empty where nothing is logged. */
  readonly logs: readonly (readonly LogConfig[])[]
  readonly local: string
}

export class Responder {
  readonly query: Query = new Query(process.arch === 'x64')
  readonly edns: EdnsContext
  readonly lines: LineBuffer = new LineBuffer()
  /** The query as received: the response grows over it. Kept only where somebody needs it. */
  readonly original: Uint8Array = new Uint8Array(65_535)
  port = 0
  readonly #stats: readonly (StatsWriter | undefined)[]
  readonly #logs: readonly (QueryLog | undefined)[]
  readonly #logging: boolean

  constructor(options: ResponderOptions) {
    this.edns = new EdnsContext(options.cookieSecret, Math.round(options.tcpIdleMs / 100))
    this.#stats = options.stats.map((region) => (region === undefined ? undefined : new StatsWriter(region)))
    this.#logs = options.logs.map((config) => (config.length === 0 ? undefined : new QueryLog(config, options.local)))
    this.#logging = this.#logs.some((log) => log !== undefined)
  }

  /** Answers the packet in place; the length of the response, SILENCE or ELSEWHERE. The client's address is in `edns`. */
  respond(
    packet: Uint8Array,
    base: number,
    length: number,
    capacity: number,
    views: readonly View[],
    tcp: boolean,
  ): number {
    const { query } = this
    const keep = this.#logging || views[0].handsOver || views[0].searches || views.length > 1
    if (keep) for (let i = 0; i < length; i++) this.original[i] = packet[base + i]
    const started = this.#logging ? performance.now() : 0
    query.open(packet, base, length, capacity, tcp)
    const responseLength = answer(query, views, this.edns)
    if (responseLength > 0) {
      this.#count(length, responseLength)
      if (this.#logging)
        this.#log(length, packet.subarray(base, base + responseLength), (performance.now() - started) / 1000)
    }
    return responseLength
  }

  /** Shares a batch's duration out among its queries. */
  observe(block: number, seconds: number, queries: number): void {
    this.#stats[block]?.observeDuration(seconds / queries, queries)
  }

  /** Counts and logs a query that was answered elsewhere and later; the client's address must be set again. */
  record(block: number, request: Uint8Array, response: Uint8Array, tcp: boolean, seconds: number): void {
    const { query } = this
    const type = query.setName(request, 12, request.length)
      ? (request[12 + query.nameLength] << 8) | request[13 + query.nameLength]
      : 0
    this.#stats[block]?.count(
      0,
      tcp ? PROTO.tcp : PROTO.udp,
      this.#family(),
      type,
      response[3] & 0x0f,
      false,
      request.length,
      response.length,
    )
    this.#stats[block]?.observeDuration(seconds, 1)
    this.#logs[block]?.append(
      this.lines,
      request,
      request.length,
      response,
      response.length,
      this.#remote(),
      this.port,
      tcp ? PROTO.tcp : PROTO.udp,
      seconds,
    )
  }

  #count(length: number, responseLength: number): void {
    const { query } = this
    const stats = this.#stats[query.block]
    if (stats === undefined) return
    stats.count(
      query.zoneSlot,
      query.tcp ? PROTO.tcp : PROTO.udp,
      this.#family(),
      query.type,
      query.rcode,
      query.dnssecOk,
      length,
      responseLength,
    )
  }

  #log(length: number, response: Uint8Array, seconds: number): void {
    const { query } = this
    const proto = query.tcp ? PROTO.tcp : PROTO.udp
    this.#logs[query.block]?.append(
      this.lines,
      this.original,
      length,
      response,
      response.length,
      this.#remote(),
      this.port,
      proto,
      seconds,
    )
  }

  #family(): number {
    return this.edns.addressLength === 4 ? FAMILY.ipv4 : FAMILY.ipv6
  }

  #remote(): Uint8Array {
    return this.edns.addressLength === 4 ? this.edns.address.subarray(0, 4) : this.edns.address
  }
}
