// For tests: a store that knows its records by a key of its own, which it gives away in label `prefix`, as SkyDNS keys
// are found again. A change of something that is not there is an error.

import type { Changes, Endpoint } from '../endpoints/endpoint.ts'
import { FORCE_UPDATE } from '../endpoints/properties.ts'

export class ModelStore {
  readonly #keepsOwner: boolean
  readonly #records = new Map<string, Endpoint>()
  #nextKey = 0

  constructor(records: readonly Endpoint[], { keepsOwner }: { readonly keepsOwner: boolean }) {
    this.#keepsOwner = keepsOwner
    for (const record of records) this.#put(`key-${this.#nextKey++}`, record)
  }

  records(): Endpoint[] {
    return [...this.#records.values()]
  }

  apply({ create, updateOld, updateNew, delete: deleted }: Changes): void {
    for (const endpoint of deleted) this.#records.delete(this.#keyOf(endpoint))
    for (const [index, endpoint] of updateNew.entries()) this.#put(this.#keyOf(updateOld[index]), endpoint)
    for (const endpoint of create) this.#put(`key-${this.#nextKey++}`, endpoint)
  }

  #keyOf({ dnsName, recordType, labels }: Endpoint): string {
    const key = labels.prefix ?? ''
    const stored = this.#records.get(key)
    if (stored?.dnsName === dnsName && stored.recordType === recordType) return key
    throw new Error(`There is no ${recordType} "${dnsName}" at "${key}"`)
  }

  #put(key: string, endpoint: Endpoint): void {
    const { owner } = endpoint.labels
    this.#records.set(key, {
      ...endpoint,
      labels: { prefix: key, ...(this.#keepsOwner && owner !== undefined && { owner }) },
      providerSpecific: endpoint.providerSpecific.filter(({ name }) => name !== FORCE_UPDATE.name),
    })
  }
}
