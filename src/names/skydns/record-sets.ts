// The records of one name while they are put together: one set per type, each without duplicates, with one TTL
// (RFC 2181 sections 5 and 5.2), and short enough for a DNS message.

import type { SourceRecord } from '../part.ts'
import { bytesOf } from './path.ts'
import type { Service } from './service.ts'

const LONGEST_SET_BYTES = 65_000
const RECORD_OVERHEAD = 12
/** Up to here, looking through the list is faster than hashing. */
const FEW = 8

class RecordSet {
  readonly type: number
  /** One character per byte. */
  readonly #rdata: string[] = []
  #seen: Set<string> | undefined
  #bytes = 0
  #ttl = Infinity
  #expiresAt = Infinity

  constructor(type: number) {
    this.type = type
  }

  get isFull(): boolean {
    return this.#bytes > LONGEST_SET_BYTES
  }

  add(rdata: string, service: Service): void {
    if (this.isFull || this.#has(rdata)) return
    this.#bytes += RECORD_OVERHEAD + rdata.length
    if (this.isFull) return
    this.#rdata.push(rdata)
    this.#seen?.add(rdata)
    this.#ttl = Math.min(this.#ttl, service.ttl)
    this.#expiresAt = Math.min(this.#expiresAt, service.expiresAt)
  }

  #has(rdata: string): boolean {
    if (this.#rdata.length < FEW) return this.#rdata.includes(rdata)
    this.#seen ??= new Set(this.#rdata)
    return this.#seen.has(rdata)
  }

  appendTo(records: SourceRecord[]): void {
    const { type } = this
    const ttl = this.#ttl
    const expiresAt = this.#expiresAt
    for (const text of this.#rdata) {
      const rdata = bytesOf(text)
      records.push(expiresAt === Infinity ? { type, ttl, rdata } : { type, ttl, rdata, expiresAt })
    }
  }
}

export class RecordSets {
  readonly #sets: RecordSet[] = []

  get isEmpty(): boolean {
    return this.#sets.length === 0
  }

  has(type: number): boolean {
    return this.#find(type) !== undefined
  }

  /** Whether the set takes no more records. */
  isFull(type: number): boolean {
    return this.#find(type)?.isFull ?? false
  }

  add(type: number, rdata: string, service: Service): void {
    let set = this.#find(type)
    if (set === undefined) {
      set = new RecordSet(type)
      this.#sets.push(set)
    }
    set.add(rdata, service)
  }

  records(): SourceRecord[] {
    const records: SourceRecord[] = []
    for (const set of this.#sets) set.appendTo(records)
    return records
  }

  #find(type: number): RecordSet | undefined {
    for (const set of this.#sets) if (set.type === type) return set
    return undefined
  }
}
