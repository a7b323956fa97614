// How long etcd's leases still last. etcd tells only when asked, and whoever holds a lease renews it without telling
// anybody; so each lease is asked about again when half of what was left has passed. Nothing is removed here: that is
// what the deletion of a key says.

import { HoldfastError, messageOf } from '../../lib/errors.ts'

/** The part of the client that is needed. */
export interface LeaseClient {
  leaseTimeToLive(id: bigint, signal?: AbortSignal): Promise<{ readonly ttl: number; readonly grantedTtl: number }>
}

export interface LeasesOptions {
  readonly client: LeaseClient
  readonly signal: AbortSignal
  /** It is known now, or has moved, when a lease ends. */
  readonly onMoved: (lease: bigint) => void
  readonly onProblem: (message: string) => void
}

interface LeaseState {
  /** Unix seconds; undefined before etcd has said so. */
  expiresAt: number | undefined
  /** Until it is asked about again. */
  timer: NodeJS.Timeout | undefined
}

const SHORTEST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 60_000
/** Nothing is asked for so long after a question that was not answered, and at most twice as long. */
const PAUSE_MS = 1500
/** Asked at a time. */
const MOST_QUESTIONS = 16

export class Leases {
  readonly #options: LeasesOptions
  readonly #leases = new Map<bigint, LeaseState>()
  /** Those to be asked about, in their order. */
  readonly #due = new Set<bigint>()
  #asking = 0
  #pause: NodeJS.Timeout | undefined

  constructor(options: LeasesOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => this.#stop(), { once: true })
  }

  /** When the lease ends, as far as that is known; it is followed from now on. */
  expiryOf(lease: bigint): number | undefined {
    const state = this.#leases.get(lease)
    if (state !== undefined) return state.expiresAt
    this.#leases.set(lease, { expiresAt: undefined, timer: undefined })
    this.#ask(lease)
    return undefined
  }

  forget(lease: bigint): void {
    clearTimeout(this.#leases.get(lease)?.timer)
    this.#leases.delete(lease)
    this.#due.delete(lease)
  }

  #stop(): void {
    clearTimeout(this.#pause)
    for (const lease of [...this.#leases.keys()]) this.forget(lease)
  }

  #ask(lease: bigint): void {
    this.#due.add(lease)
    this.#askDue()
  }

  #askDue(): void {
    while (this.#asking < MOST_QUESTIONS && this.#pause === undefined) {
      const [lease] = this.#due
      if (lease === undefined) return
      this.#due.delete(lease)
      void this.#askAbout(lease)
    }
  }

  /** Never rejects. */
  async #askAbout(lease: bigint): Promise<void> {
    const { client, signal, onProblem } = this.#options
    this.#asking++
    try {
      const { ttl } = await client.leaseTimeToLive(lease, signal)
      this.#know(lease, ttl)
    } catch (thrown) {
      if (signal.aborted) return
      // That etcd is away its follower has said already.
      if (!(thrown instanceof HoldfastError))
        onProblem(`Cannot follow a lease: ${messageOf(thrown)}; this is a defect, please report it`)
      if (this.#leases.has(lease)) this.#due.add(lease)
      this.#pause ??= setTimeout(
        () => {
          this.#pause = undefined
          this.#askDue()
        },
        PAUSE_MS * (1 + Math.random()),
      ).unref()
    } finally {
      this.#asking--
      this.#askDue()
    }
  }

  #know(lease: bigint, ttl: number): void {
    const state = this.#leases.get(lease)
    if (state === undefined) return
    const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, (ttl * 1000) / 2))
    clearTimeout(state.timer)
    state.timer = setTimeout(() => this.#ask(lease), waitMs).unref()
    const expiresAt = Math.floor(Date.now() / 1000) + Math.max(0, ttl)
    // A second more or less is how the clock was read.
    if (state.expiresAt !== undefined && Math.abs(state.expiresAt - expiresAt) <= 1) return
    state.expiresAt = expiresAt
    this.#options.onMoved(lease)
  }
}
