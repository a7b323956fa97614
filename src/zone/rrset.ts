// One rrset in the form answers copy it: every record with its owner as a pointer to the question name, names inside
// RFC 1035 rdata compressed against the owner, the zone's origin or an earlier name of the same set; the list of
// fixups says where those pointers are, because their values depend on the message. Names that are looked up in turn
// (aliases, and hosts whose addresses belong into the additional section) are listed as targets.

import { TYPE } from '../dns/types.ts'
import { APEX } from './build.ts'
import type { ZoneBuilder } from './build.ts'
import { hashName, LOWER } from './hash.ts'
import { align4, FIXUP, QUESTION_NAME, RRSET } from './layout.ts'

/** Where sets are written: the arena, or a piece of memory on its way there. */
export interface Memory {
  readonly words: Int32Array
  readonly bytes: Uint8Array
}

/** Pointers have 14 bits; targets inside a set stay well below so that the set can also stand late in a message. */
const LAST_BLOB_TARGET = 0x1000
/** As the length of a blob: more than a message can hold behind its header and question. */
const UNSERVABLE_BYTES = 0xffff
const MOST_RECORDS = 0xffff

export class RrsetWriter {
  readonly #builder: ZoneBuilder
  readonly #words: Int32Array
  readonly #bytes: Uint8Array
  readonly #fixups: number[] = []
  /** Triples: position in the blob, where the name starts in the builder's rdata, its length. */
  readonly #targets: number[] = []
  /** The same triples for names already written and so usable by later ones. */
  readonly #written: number[] = []
  #at = 0
  #blob = 0

  constructor(builder: ZoneBuilder, memory: Memory) {
    this.#builder = builder
    this.#words = memory.words
    this.#bytes = memory.bytes
  }

  /**
   * Writes the records of one set at `at`; the TTL of the set is its first record's unless given, and it never outlives
   * `expires` (Unix seconds, 0 = no limit). Returns the end.
   */
  write(at: number, owner: number, records: readonly number[], ttlGiven: number, expires: number): number {
    const builder = this.#builder
    const count = records.length
    const type = builder.recordType[records[0]]
    const ttl = ttlGiven >= 0 ? ttlGiven : builder.recordTtl[records[0]]
    const bytes = this.#bytes
    this.#fixups.length = 0
    this.#targets.length = 0
    this.#written.length = 0
    this.#blob = at + RRSET.blob * 4
    this.#at = this.#blob
    for (let i = 0; i < count; i++) {
      const record = records[i]
      const start = this.#at
      bytes[start] = 0xc0
      bytes[start + 1] = QUESTION_NAME
      bytes[start + 2] = type >> 8
      bytes[start + 3] = type
      bytes[start + 4] = 0
      bytes[start + 5] = 1
      bytes[start + 6] = ttl >>> 24
      bytes[start + 7] = ttl >>> 16
      bytes[start + 8] = ttl >>> 8
      bytes[start + 9] = ttl
      this.#at = start + 12
      this.#rdata(record, type, owner)
      const length = this.#at - start - 12
      bytes[start + 10] = length >> 8
      bytes[start + 11] = length
    }
    const length = this.#at - this.#blob
    if (length >= UNSERVABLE_BYTES || count > MOST_RECORDS) return this.#writeUnservable(at, type, ttl)
    const stride = count > 1 && (type === TYPE.A || type === TYPE.AAAA) ? length / count : 0
    const header = at >> 2
    const words = this.#words
    words[header + RRSET.typeCount] = type | (count << 16)
    words[header + RRSET.ttl] = ttl | 0
    words[header + RRSET.lengthFixups] = length | (this.#fixups.length << 16)
    words[header + RRSET.signatures] = 0
    words[header + RRSET.expires] = expires
    words[header + RRSET.targetsStride] = (this.#targets.length / 3) | (stride << 16)
    let end = align4(this.#at)
    for (const fixup of this.#fixups) {
      words[end >> 2] = fixup
      end += 4
    }
    return this.#writeTargets(end)
  }

  /** A set that no message can hold: its length alone makes every answer with it a truncated one. */
  #writeUnservable(at: number, type: number, ttl: number): number {
    const header = at >> 2
    this.#bytes.fill(0, this.#blob, this.#at)
    this.#words.fill(0, header, header + RRSET.blob)
    this.#words[header + RRSET.typeCount] = type
    this.#words[header + RRSET.ttl] = ttl | 0
    this.#words[header + RRSET.lengthFixups] = UNSERVABLE_BYTES
    return this.#blob
  }

  #writeTargets(at: number): number {
    const { rdataBytes } = this.#builder
    let end = at
    for (let i = 0; i < this.#targets.length; i += 3) {
      const start = this.#targets[i + 1]
      const length = this.#targets[i + 2]
      this.#words[end >> 2] = hashName(rdataBytes, start, start + length)
      this.#words[(end >> 2) + 1] = this.#targets[i] | (length << 16)
      for (let j = 0; j < length; j++) this.#bytes[end + 8 + j] = LOWER[rdataBytes[start + j]]
      end = align4(end + 8 + length)
    }
    return end
  }

  #rdata(record: number, type: number, owner: number): void {
    const start = this.#builder.rdataOffset[record]
    const end = start + this.#builder.rdataLength[record]
    switch (type) {
      case TYPE.NS:
        this.#target(start, end - start)
        return this.#name(start, end, owner)
      case TYPE.CNAME:
        this.#target(start, end - start)
        return this.#name(start, end, owner)
      case TYPE.PTR:
        return this.#name(start, end, owner)
      case TYPE.MX:
        this.#copy(start, start + 2)
        this.#target(start + 2, end - start - 2)
        return this.#name(start + 2, end, owner)
      case TYPE.SOA: {
        const second = start + this.#nameLength(start)
        this.#name(start, second, owner)
        const numbers = second + this.#nameLength(second)
        this.#name(second, numbers, owner)
        return this.#copy(numbers, end)
      }
      case TYPE.SRV:
        this.#copy(start, start + 6)
        this.#target(start + 6, end - start - 6)
        return this.#copy(start + 6, end)
      case TYPE.SVCB:
      case TYPE.HTTPS:
        this.#service(start, end)
        return
      case TYPE.DNAME:
        this.#target(start, end - start)
        return this.#copy(start, end)
      default:
        this.#copy(start, end)
    }
  }

  /** RFC 9460 section 2.5: "." stands for the owner itself, in an alias for nothing. */
  #service(start: number, end: number): void {
    const { rdataBytes } = this.#builder
    const isAlias = rdataBytes[start] === 0 && rdataBytes[start + 1] === 0
    this.#copy(start, start + 2)
    const length = this.#nameLength(start + 2)
    if (length > 1 || !isAlias) this.#target(start + 2, length)
    this.#copy(start + 2, end)
  }

  #target(start: number, length: number): void {
    this.#targets.push(this.#at - this.#blob, start, length)
  }

  #copy(start: number, end: number): void {
    const { rdataBytes } = this.#builder
    for (let i = start; i < end; i++) this.#bytes[this.#at++] = rdataBytes[i]
  }

  #nameLength(start: number): number {
    const { rdataBytes } = this.#builder
    let at = start
    while (rdataBytes[at] !== 0) at += rdataBytes[at] + 1
    return at + 1 - start
  }

  /** A compressible name: labels until the rest is the owner, the origin, or a name written before in this set. */
  #name(start: number, end: number, owner: number): void {
    const builder = this.#builder
    const { rdataBytes } = builder
    const ownerLength = builder.nameLength[owner]
    const originLength = builder.nameLength[APEX]
    const nameAt = this.#at - this.#blob
    // A wildcard's owner is replaced by the question's name, so its own letters never stand in a message.
    const wildcard =
      builder.nameBytes[builder.nameOffset[owner]] === 1 && builder.nameBytes[builder.nameOffset[owner] + 1] === 0x2a
    for (let at = start; rdataBytes[at] !== 0; at += rdataBytes[at] + 1) {
      const length = end - at
      if (length === ownerLength && !wildcard && this.#isName(owner, at, length)) {
        return this.#pointer(FIXUP.owner, 0)
      }
      if (length === originLength && this.#isName(APEX, at, length)) {
        return this.#pointer(FIXUP.origin, 0)
      }
      for (let i = 0; i < this.#written.length; i += 3) {
        const before = this.#written[i + 1]
        if (this.#written[i + 2] !== length || !this.#sameRdata(before, at, length)) continue
        return this.#pointer(FIXUP.blob, this.#written[i])
      }
      if (at === start && nameAt < LAST_BLOB_TARGET && this.#written.length < 96)
        this.#written.push(nameAt, start, length)
      this.#copy(at, at + rdataBytes[at] + 1)
    }
    this.#bytes[this.#at++] = 0
  }

  #pointer(kind: number, target: number): void {
    this.#fixups.push((this.#at - this.#blob) | (target << 16) | (kind << 30))
    this.#at += 2
  }

  #isName(name: number, at: number, length: number): boolean {
    const { nameBytes, nameOffset, rdataBytes } = this.#builder
    const from = nameOffset[name]
    for (let i = 0; i < length; i++) if (LOWER[nameBytes[from + i]] !== LOWER[rdataBytes[at + i]]) return false
    return true
  }

  #sameRdata(a: number, b: number, length: number): boolean {
    const { rdataBytes } = this.#builder
    for (let i = 0; i < length; i++) if (LOWER[rdataBytes[a + i]] !== LOWER[rdataBytes[b + i]]) return false
    return true
  }
}
