// Sees changes of a key as etcd's own watch tells them, without a name server.

import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../src/etcd/client.ts'

const LIMIT_MS = 10_000

export class WatchProbe {
  readonly #client: EtcdClient
  readonly #ending = new AbortController()
  readonly #watching: Promise<void>
  #waiting: ((at: bigint) => void) | undefined
  #seenAt: bigint | undefined

  constructor(endpoint: string, key: string) {
    this.#client = new EtcdClient({ endpoints: [endpoint] })
    this.#watching = this.#watch(Buffer.from(key))
  }

  /** Of the change that was put last. */
  async seen(): Promise<bigint> {
    const at = this.#seenAt ?? (await Promise.race([this.#next(), this.#tooLate()]))
    this.#seenAt = undefined
    return at
  }

  async stop(): Promise<undefined> {
    this.#ending.abort()
    await this.#watching
    this.#client.close()
    return undefined
  }

  #next(): Promise<bigint> {
    const { promise, resolve } = Promise.withResolvers<bigint>()
    this.#waiting = resolve
    return promise
  }

  async #tooLate(): Promise<never> {
    await sleep(LIMIT_MS, undefined, { ref: false })
    throw new Error('Cannot see a change: etcd tells nothing of it')
  }

  async #watch(key: Uint8Array): Promise<void> {
    const { revision } = await this.#client.status()
    try {
      for await (const news of this.#client.watch({ key, startRevision: revision + 1n }, this.#ending.signal)) {
        if (news.kind !== 'events') continue
        const at = process.hrtime.bigint()
        if (this.#waiting === undefined) this.#seenAt = at
        else this.#waiting(at)
        this.#waiting = undefined
      }
    } catch (error) {
      if (!this.#ending.signal.aborted) throw error
    }
  }
}
