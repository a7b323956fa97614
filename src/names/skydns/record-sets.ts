// The records of one name while they are put together: one set per type, each without duplicates, with one TTL
// (RFC 2181 sections 5 and 5.2), and short enough for a DNS message. Rdata comes as two texts with one character per
// byte, a short head and what follows it: the latter are long-lived strings whose hash is known, so that finding
// duplicates among thousands is cheap.

import type { SourceRecord } from '../part.ts'
import type { Service } from './parse-service.ts'

const LONGEST_SET_BYTES = 65_000
const RECORD_OVERHEAD = 12
/** Up to here, looking through the list is faster than hashing. */
const FEW = 8

class RecordSet {
  readonly type: number
  readonly #heads: string[] = []
  readonly #tails: string[] = []
  /** Tails by head, once there are more than a few. */
  #seen: Map<string, Set<string>> | undefined
  #bytes = 0
  #ttl = Infinity
  #expiresAt = Infinity

  constructor(type: number) {
    this.type = type
  }

  get isFull(): boolean {
    return this.#bytes > LONGEST_SET_BYTES
  }

  add(head: string, tail: string, service: Service): void {
    if (this.isFull || this.#has(head, tail)) return
    this.#bytes += RECORD_OVERHEAD + head.length + tail.length
    if (this.isFull) return
    this.#heads.push(head)
    this.#tails.push(tail)
    if (this.#seen !== undefined) remember(this.#seen, head, tail)
    this.#ttl = Math.min(this.#ttl, service.ttl)
    this.#expiresAt = Math.min(this.#expiresAt, service.expiresAt)
  }

  #has(head: string, tail: string): boolean {
    const count = this.#heads.length
    if (count < FEW) {
      for (let i = 0; i < count; i++) if (this.#tails[i] === tail && this.#heads[i] === head) return true
      return false
    }
    if (this.#seen === undefined) {
      this.#seen = new Map()
      for (let i = 0; i < count; i++) remember(this.#seen, this.#heads[i], this.#tails[i])
    }
    return this.#seen.get(head)?.has(tail) ?? false
  }

  appendTo(records: SourceRecord[]): void {
    const { type } = this
    const ttl = this.#ttl
    const expiresAt = this.#expiresAt
    for (let i = 0; i < this.#heads.length; i++) {
      const rdata = concatenate(this.#heads[i], this.#tails[i])
      records.push(expiresAt === Infinity ? { type, ttl, rdata } : { type, ttl, rdata, expiresAt })
    }
  }
}

function remember(seen: Map<string, Set<string>>, head: string, tail: string): void {
  const tails = seen.get(head)
  if (tails === undefined) seen.set(head, new Set([tail]))
  else tails.add(tail)
}

function concatenate(head: string, tail: string): Uint8Array {
  const bytes = new Uint8Array(head.length + tail.length)
  for (let i = 0; i < head.length; i++) bytes[i] = head.charCodeAt(i)
  for (let i = 0; i < tail.length; i++) bytes[head.length + i] = tail.charCodeAt(i)
  return bytes
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

  add(type: number, head: string, tail: string, service: Service): void {
    let set = this.#find(type)
    if (set === undefined) {
      set = new RecordSet(type)
      this.#sets.push(set)
    }
    set.add(head, tail, service)
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
