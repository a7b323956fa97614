// How long etcd's leases still last. etcd tells only when asked, and whoever holds a lease renews it without telling
// anybody; so each lease is asked about again when half of what was left has passed. Nothing is removed here: that is
// what the deletion of a key says.

import { HoldfastError } from '../../lib/errors.ts'

/** The part of the client that is needed. */
export interface LeaseClient {
  leaseTimeToLive(id: bigint, signal?: AbortSignal): Promise<{ readonly ttl: number; readonly grantedTtl: number }>
}

export interface LeasesOptions {
  readonly client: LeaseClient
  readonly signal: AbortSignal
  /** It is known now, or has moved, when a lease ends. */
  readonly onMoved: (lease: bigint) => void
}

interface LeaseState {
  /** Unix seconds; undefined before etcd has said so. */
  expiresAt: number | undefined
  askAt: number
}

const TICK_MS = 250
const SHORTEST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 60_000
/** Asked at a time. */
const MOST_QUESTIONS = 16

export class Leases {
  readonly #options: LeasesOptions
  readonly #leases = new Map<bigint, LeaseState>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: LeasesOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => clearTimeout(this.#timer), { once: true })
  }

  /** When the lease ends, as far as that is known; it is followed from now on. */
  expiryOf(lease: bigint): number | undefined {
    const state = this.#leases.get(lease)
    if (state !== undefined) return state.expiresAt
    this.#leases.set(lease, { expiresAt: undefined, askAt: 0 })
    this.#schedule(0)
    return undefined
  }

  forget(lease: bigint): void {
    this.#leases.delete(lease)
  }

  #schedule(afterMs: number): void {
    if (this.#options.signal.aborted) return
    if (this.#timer !== undefined && afterMs > 0) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#ask(), afterMs).unref()
  }

  async #ask(): Promise<void> {
    const now = Date.now()
    const due = [...this.#leases].filter(([, { askAt }]) => askAt <= now).slice(0, MOST_QUESTIONS)
    await Promise.all(due.map(([lease, state]) => this.#askFor(lease, state)))
    this.#timer = undefined
    if (this.#leases.size > 0) this.#schedule(due.length === MOST_QUESTIONS ? 1 : TICK_MS)
  }

  async #askFor(lease: bigint, state: LeaseState): Promise<void> {
    try {
      const { ttl } = await this.#options.client.leaseTimeToLive(lease, this.#options.signal)
      const now = Date.now()
      state.askAt = now + Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, (ttl * 1000) / 2))
      const expiresAt = Math.floor(now / 1000) + Math.max(0, ttl)
      // A second more or less is how the clock was read.
      if (state.expiresAt !== undefined && Math.abs(state.expiresAt - expiresAt) <= 1) return
      state.expiresAt = expiresAt
      if (this.#leases.has(lease)) this.#options.onMoved(lease)
    } catch (thrown) {
      if (!(thrown instanceof HoldfastError)) throw thrown
      // etcd is away, which its follower has said already.
      state.askAt = Date.now() + SHORTEST_WAIT_MS * 2
    }
  }
}
