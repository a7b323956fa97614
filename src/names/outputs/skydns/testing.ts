// For tests: keys in memory, written as the store writes them into etcd.

import type { Changes, Endpoint } from '../../endpoints/endpoint.ts'
import { normalName } from '../../endpoints/normal-name.ts'
import { EntryIndex } from './entry-index.ts'
import { changesByName } from './name-changes.ts'
import { planName } from './plan-name.ts'
import { readEndpoints } from './read-endpoints.ts'

const PREFIX = '/skydns/'

export class MemoryStore {
  readonly #owner: string | undefined
  readonly #index = new EntryIndex(PREFIX)
  readonly #values = new Map<string, string>()
  #revision = 0n

  constructor(values: Readonly<Record<string, unknown>> = {}, owner?: string) {
    this.#owner = owner
    for (const [key, value] of Object.entries(values))
      this.#set(key, typeof value === 'string' ? value : JSON.stringify(value))
  }

  /** Keys and values, in the order of the keys. */
  get values(): Readonly<Record<string, unknown>> {
    const entries = [...this.#values].toSorted(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(entries.map(([key, value]) => [key, JSON.parse(value) as unknown]))
  }

  get keys(): readonly string[] {
    return Object.keys(this.values)
  }

  endpoints(name: string): Endpoint[] {
    const entries = this.#index.of(normalName(name))
    const visible = entries.filter(({ service }) => this.#owner === undefined || service.owner === this.#owner)
    return readEndpoints(visible, this.#owner !== undefined)
  }

  /** How many keys were written, and what could not be. */
  apply(changes: Partial<Changes>): { writes: number; problems: readonly string[] } {
    const { names, problems } = changesByName({ create: [], updateOld: [], updateNew: [], delete: [], ...changes })
    const messages = problems.map(({ message }) => message)
    let count = 0
    for (const [name, change] of names) {
      const around = { prefix: PREFIX, owner: this.#owner, at: (key: string) => this.#index.at(key) }
      const writes = planName(change, this.#index.of(name), around)
      if (typeof writes === 'string') messages.push(writes)
      else {
        count += writes.length
        for (const { key, value } of writes) this.#set(key, value)
      }
    }
    return { writes: count, problems: messages }
  }

  #set(text: string, written: string | undefined): void {
    const revision = ++this.#revision
    const key = Buffer.from(text)
    if (written === undefined) this.#values.delete(text)
    else this.#values.set(text, written)
    const kv = { key, createRevision: revision, modRevision: revision, version: 1n, lease: 0n }
    const value = written === undefined ? undefined : { ...kv, value: Buffer.from(written) }
    this.#index.apply([{ key, value, revision }])
  }
}

export function endpoint(
  dnsName: string,
  recordType: string,
  targets: readonly string[],
  more: Partial<Endpoint> = {},
): Endpoint {
  return { dnsName, recordType, targets, labels: {}, providerSpecific: [], ...more }
}
