// One of several replicas leads: the one that has a lease. Others wait until it gives the lease back, or has not renewed it
// for its whole time. The leader stops well before that, when it could not renew:
//
//   renewed ──── renewSeconds: the leader's signal aborts ──── leaseSeconds: another may lead

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../lib/errors.ts'
import type { KubeClient } from './client.ts'
import { LeaseLock } from './lease-lock.ts'

/** As client-go has them, in seconds. */
export interface LeaseTiming {
  readonly leaseSeconds: number
  readonly renewSeconds: number
  readonly retrySeconds: number
}

export interface LeaderState {
  readonly leading: boolean
  /** Who leads, as far as is known. */
  readonly holder: string | undefined
  /** Why the lease cannot be asked for at the moment. */
  readonly error: HoldfastError | undefined
}

export interface LeadOptions {
  readonly client: KubeClient
  readonly namespace: string
  readonly name: string
  /** Different for every replica, and for every start of one. */
  readonly identity: string
  readonly signal: AbortSignal
  readonly timing?: LeaseTiming
  /**
   * Begins to lead, until the signal aborts. `leads` is asked before every write: after this process stood still, it
   * knows at once that the time is over, before the signal tells.
   */
  readonly onStartedLeading: (signal: AbortSignal, leads: () => boolean) => Promise<void> | void
  /** What `onStartedLeading` began has ended. */
  readonly onStoppedLeading: () => void
  readonly onState: (state: LeaderState) => void
}

const TIMING: LeaseTiming = { leaseSeconds: 15, renewSeconds: 10, retrySeconds: 2 }
const RELEASE_MS = 3000

/** Runs until the signal aborts, and gives the lease back then. Rejects only with what a callback throws. */
export async function lead(options: LeadOptions): Promise<void> {
  const candidate = new Candidate(options)
  while (!options.signal.aborted) {
    const from = await candidate.wait()
    if (from !== undefined) await candidate.lead(from)
  }
}

class Candidate {
  readonly #options: LeadOptions
  readonly #timing: LeaseTiming
  readonly #lock: LeaseLock
  #told: LeaderState | undefined

  constructor(options: LeadOptions) {
    const { client, namespace, name, identity, timing = TIMING } = options
    this.#options = options
    this.#timing = timing
    this.#lock = new LeaseLock({ client, lease: { namespace, name }, identity, leaseSeconds: timing.leaseSeconds })
  }

  /** Until the lease is ours, from the moment that it resolves with; undefined when aborted before. */
  async wait(): Promise<number | undefined> {
    const { signal } = this.#options
    while (!signal.aborted) {
      const from = await this.#try(false, signal)
      if (typeof from === 'number') return from
      await this.#pause(signal)
    }
    return undefined
  }

  async lead(from: number): Promise<void> {
    const { signal, onStartedLeading, onStoppedLeading } = this.#options
    const term = new Term(from, this.#timing.renewSeconds * 1000, signal)
    const work = Promise.resolve().then(() => onStartedLeading(term.signal, () => term.isOn()))
    work.catch(() => term.end())
    try {
      await this.#renew(term)
      await work
    } finally {
      term.end()
      await this.#release()
      this.#tell({ leading: false, error: undefined })
      onStoppedLeading()
    }
  }

  /** Until the term is over. */
  async #renew(term: Term): Promise<void> {
    this.#tell({ leading: true, error: undefined })
    while (term.isOn()) {
      await this.#pause(term.signal)
      const from = await this.#try(true, term.signal)
      if (typeof from === 'number') term.extend(from)
      else if (from === 'held') term.end()
    }
  }

  async #try(leading: boolean, signal: AbortSignal): Promise<number | 'held' | 'failed'> {
    try {
      const from = await this.#lock.acquire(signal)
      this.#tell({ leading: from !== undefined, error: undefined })
      return from ?? 'held'
    } catch (error) {
      if (signal.aborted) return 'failed'
      if (!(error instanceof HoldfastError)) throw error
      // Another was faster, as happens; the next attempt sees who.
      if (error.code !== 'KubeConflict') this.#tell({ leading, error })
      return 'failed'
    }
  }

  /** Where this fails the lease runs out by itself. */
  async #release(): Promise<void> {
    await this.#lock.release(AbortSignal.timeout(RELEASE_MS)).catch(() => {})
  }

  #tell({ leading, error }: Pick<LeaderState, 'leading' | 'error'>): void {
    const state = { leading, holder: this.#lock.holder, error }
    const isSame =
      state.leading === this.#told?.leading &&
      state.holder === this.#told.holder &&
      error?.message === this.#told.error?.message
    if (isSame) return
    this.#told = state
    this.#options.onState(state)
  }

  /** Longer at random, so that candidates do not come all at once. */
  async #pause(signal: AbortSignal): Promise<void> {
    const pauseMs = this.#timing.retrySeconds * 1000 * (1 + Math.random() / 5)
    await sleep(pauseMs, undefined, { signal }).catch(() => {})
  }
}

/** The time for which we lead. */
class Term {
  readonly #renewMs: number
  readonly #controller = new AbortController()
  #until = 0
  #timer: NodeJS.Timeout | undefined

  constructor(from: number, renewMs: number, signal: AbortSignal) {
    this.#renewMs = renewMs
    this.extend(from)
    signal.addEventListener('abort', () => this.end(), { once: true, signal: this.signal })
    if (signal.aborted) this.end()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  isOn(): boolean {
    return !this.signal.aborted && performance.now() < this.#until
  }

  extend(from: number): void {
    this.#until = from + this.#renewMs
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.end(), this.#until - performance.now())
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#controller.abort()
  }
}
