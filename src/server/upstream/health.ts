// Whether an upstream is up. Nothing is sent while its answers come; a failed exchange starts a loop of checks that
// ends with the first one answered. Any answer counts as health, whatever its rcode.
//
//   up ──(exchange failed)──▶ checking ──(maxFails checks failed)──▶ down (still checking)
//   ▲───────────────(check answered)──┴─────────────────────────────────┘

import { parseName } from '../../dns/name.ts'
import { CLASS, TYPE } from '../../dns/types.ts'
import { messageOf } from '../../lib/errors.ts'
import type { ForwardConfig } from '../config.ts'
import type { Transport, Upstream } from './exchange.ts'
import { encodeQuery } from './query.ts'

const CHECK_TIMEOUT_MS = 1000

export interface ResolverLog {
  warn(message: string): void
  info(message: string): void
}

export class Health {
  readonly #upstream: Upstream
  readonly #config: ForwardConfig
  readonly #log: ResolverLog
  readonly #query: Uint8Array
  #fails = 0
  #checking = false
  #closed = false
  #timer: NodeJS.Timeout | undefined

  constructor(upstream: Upstream, config: ForwardConfig, log: ResolverLog) {
    this.#upstream = upstream
    this.#config = config
    this.#log = log
    const name = parseName(config.healthCheckName)
    this.#query = encodeQuery(name, TYPE.NS, CLASS.IN, config.healthCheckRecursionDesired)
  }

  get down(): boolean {
    return this.#config.maxFails > 0 && this.#fails >= this.#config.maxFails
  }

  /** Starts the checks unless they are running, or switched off by `max_fails 0`. */
  exchangeFailed(): void {
    if (this.#checking || this.#closed || this.#config.maxFails === 0) return
    this.#checking = true
    void this.#check()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  async #check(): Promise<void> {
    const transport: Transport = this.#config.forceTcp ? 'tcp' : 'udp'
    try {
      await this.#upstream.check(this.#query, transport, CHECK_TIMEOUT_MS)
      if (this.down) this.#log.info(`Upstream ${this.#upstream.to} answers again`)
      this.#fails = 0
      this.#checking = false
    } catch (error) {
      if (this.#closed) return
      this.#upstream.stats.healthcheckFailures++
      this.#fails++
      if (this.#fails === this.#config.maxFails) {
        this.#log.warn(`Upstream ${this.#upstream.to} is down: ${messageOf(error)}`)
      }
      this.#timer = setTimeout(() => void this.#check(), this.#config.healthCheckMs)
    }
  }
}
