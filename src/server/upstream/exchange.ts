// One upstream server: a question in, its answer out, over UDP or TCP.

import { isIPv6 } from 'node:net'
import type { UpstreamAddress } from '../config.ts'
import { describeFailure, ForgeryError } from './failure.ts'
import { type Reply, readReply } from './reply.ts'
import { countResponse, type ExchangeStats, exchangeStats, type UpstreamStats } from './stats.ts'
import { TcpClient } from './tcp.ts'
import { UdpClient } from './udp.ts'

export type Transport = 'udp' | 'tcp'

export class Upstream {
  /** `address:port`, as in metrics and messages. */
  readonly to: string
  readonly stats: ExchangeStats
  readonly #udp: UdpClient
  readonly #tcp: TcpClient

  constructor(address: UpstreamAddress, expireMs: number, stats: UpstreamStats) {
    this.to = `${isIPv6(address.host) ? `[${address.host}]` : address.host}:${address.port}`
    this.stats = exchangeStats(stats, this.to)
    this.#udp = new UdpClient(address)
    this.#tcp = new TcpClient(address, expireMs, this.stats)
  }

  /**
   * Rejects when there is no usable answer within `timeoutMs` per transport. A truncated answer by UDP is asked for
   * again by TCP; where that fails, the truncated one is returned so that the client can try for itself. So is a
   * question by UDP to which wrong answers come.
   */
  async ask(query: Uint8Array, transport: Transport, timeoutMs: number): Promise<Reply> {
    this.stats.requests++
    const start = performance.now()
    const reply = this.#parse(await this.#exchange(query, transport, timeoutMs))
    const whole = transport === 'udp' && reply.truncated ? await this.#overTcp(query, timeoutMs, reply) : reply
    countResponse(this.stats, whole.rcode, (performance.now() - start) / 1000)
    return whole
  }

  /** Any answer at all will do. */
  async check(query: Uint8Array, transport: Transport, timeoutMs: number): Promise<void> {
    await this.#exchange(query, transport, timeoutMs)
  }

  close(): void {
    this.#udp.close()
    this.#tcp.close()
  }

  async #exchange(query: Uint8Array, transport: Transport, timeoutMs: number): Promise<Uint8Array> {
    try {
      if (transport === 'tcp') return await this.#tcp.ask(query, timeoutMs)
      this.stats.connectionMisses.udp++
      return await this.#udp.ask(query, timeoutMs)
    } catch (error) {
      if (error instanceof ForgeryError) return this.#exchange(query, 'tcp', timeoutMs)
      throw new Error(describeFailure(this.to, transport, error), { cause: error })
    }
  }

  #parse(message: Uint8Array): Reply {
    const reply = readReply(message)
    if (reply === undefined) throw new Error(`${this.to}: the answer is malformed`)
    return reply
  }

  async #overTcp(query: Uint8Array, timeoutMs: number, truncated: Reply): Promise<Reply> {
    try {
      return this.#parse(await this.#exchange(query, 'tcp', timeoutMs))
    } catch {
      return truncated
    }
  }
}
