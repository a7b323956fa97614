// A lease (coordination.k8s.io/v1) as a lock, in the way of client-go, so that both can compete for one. Clocks need not
// agree: a holder is given up when its record has not changed for the lease's time by our own clock.

import { HoldfastError } from '../lib/errors.ts'
import type { KubeClient, ObjectName } from './client.ts'
import type { KubeObject, Resource } from './resource.ts'

export interface LeaseSpec {
  /** Empty or absent: nobody. */
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec
}

export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
}

export interface LeaseLockOptions {
  readonly client: KubeClient
  readonly lease: Required<ObjectName>
  readonly identity: string
  readonly leaseSeconds: number
}

export class LeaseLock {
  readonly #options: LeaseLockOptions
  #observed: Lease | undefined
  #observedRecord = ''
  #observedAt = 0

  constructor(options: LeaseLockOptions) {
    this.#options = options
  }

  /** Who has it, as far as we know. */
  get holder(): string | undefined {
    return this.#observed?.spec?.holderIdentity || undefined
  }

  /**
   * Takes the lease or renews it. Resolves with the moment (performance.now) that it counts from, which is before the
   * server has written it down; undefined while another has it. A conflict (KubeConflict) says that another was faster.
   */
  async acquire(signal: AbortSignal): Promise<number | undefined> {
    const { client, lease, identity, leaseSeconds } = this.#options
    const from = performance.now()
    const found: Lease | undefined = await client.get(LEASES, lease, signal)
    const now = microTime()
    const mine = { holderIdentity: identity, leaseDurationSeconds: leaseSeconds, acquireTime: now, renewTime: now }
    if (found === undefined) {
      const body = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: lease,
        spec: { ...mine, leaseTransitions: 0 },
      }
      this.#observe(await client.create(LEASES, body, signal))
      return from
    }
    this.#observe(found)
    if (this.#isHeldByAnother()) return undefined
    const { holderIdentity, acquireTime = now, leaseTransitions = 0 } = found.spec ?? {}
    const isRenewal = holderIdentity === identity
    const spec = isRenewal
      ? { ...mine, acquireTime, leaseTransitions }
      : { ...mine, leaseTransitions: leaseTransitions + 1 }
    await this.#write(found, spec, signal)
    return from
  }

  /** Others may have it at once. Does nothing when somebody else has it already. */
  async release(signal: AbortSignal): Promise<void> {
    const { identity } = this.#options
    const held = this.#observed
    if (held === undefined || this.holder !== identity) return
    const now = microTime()
    const { leaseTransitions = 0 } = held.spec ?? {}
    const spec = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions }
    try {
      await this.#write(held, spec, signal)
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== 'KubeConflict') throw error
    }
  }

  #isHeldByAnother(): boolean {
    const { identity, leaseSeconds } = this.#options
    if (this.holder === undefined || this.holder === identity) return false
    const seconds = this.#observed?.spec?.leaseDurationSeconds ?? leaseSeconds
    return performance.now() < this.#observedAt + seconds * 1000
  }

  /** With the version that was read: the server refuses it when somebody has written since. */
  async #write(lease: Lease, spec: LeaseSpec, signal: AbortSignal): Promise<void> {
    const changed: Lease = { ...lease, spec: { ...lease.spec, ...spec } }
    this.#observe(await this.#options.client.replace(LEASES, changed, signal))
  }

  #observe(lease: Lease): void {
    this.#observed = lease
    const record = JSON.stringify(lease.spec)
    if (record === this.#observedRecord) return
    this.#observedRecord = record
    this.#observedAt = performance.now()
  }
}

/** The API wants six digits. */
function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z')
}
