// The records of one zone while it is read: names interned once, records in plain columns, chained per name in file
// order. Nothing here is an object per record, so a million of them cost tens of megabytes and no garbage.
// check.ts says whether they make a zone; compile.ts writes them into the arena.

import { compareNames } from '../dns/name.ts'
import { canonicalRdata } from '../dns/rdata/rdata.ts'
import { TYPE } from '../dns/types.ts'
import { hashName, LOWER, spread } from './hash.ts'

/** The origin is always the first name. */
export const APEX = 0

export class ZoneBuilder {
  readonly origin: Uint8Array
  recordCount = 0
  nameCount = 0

  // One row per name. Names keep the letter case of their first appearance.
  nameBytes: Uint8Array<ArrayBuffer> = new Uint8Array(4096)
  nameOffset: Int32Array<ArrayBuffer> = new Int32Array(64)
  nameLength: Uint8Array<ArrayBuffer> = new Uint8Array(64)
  nameHash: Int32Array<ArrayBuffer> = new Int32Array(64)
  firstRecord: Int32Array<ArrayBuffer> = new Int32Array(64)
  lastRecord: Int32Array<ArrayBuffer> = new Int32Array(64)

  // One row per record.
  recordType: Uint16Array<ArrayBuffer> = new Uint16Array(64)
  recordTtl: Uint32Array<ArrayBuffer> = new Uint32Array(64)
  recordLine: Uint32Array<ArrayBuffer> = new Uint32Array(64)
  rdataOffset: Int32Array<ArrayBuffer> = new Int32Array(64)
  rdataLength: Uint16Array<ArrayBuffer> = new Uint16Array(64)
  nextRecord: Int32Array<ArrayBuffer> = new Int32Array(64)
  rdataBytes: Uint8Array<ArrayBuffer> = new Uint8Array(4096)

  /** Where the records came from: each file with the number of its first record, in order. */
  readonly #files: { readonly file: string; readonly first: number }[] = []
  #nameTop = 0
  #rdataTop = 0
  /** Open addressing: name + 1, 0 = free. */
  #table = new Int32Array(256)
  #lastName = APEX

  constructor(origin: Uint8Array) {
    this.origin = origin
    this.internName(origin, 0, origin.length)
  }

  record(
    owner: Uint8Array,
    ownerLength: number,
    type: number,
    _klass: number,
    ttl: number,
    rdata: Uint8Array,
    rdataLength: number,
    line: number,
  ): void {
    const name = this.#isLastName(owner, ownerLength) ? this.#lastName : this.internName(owner, 0, ownerLength)
    this.#lastName = name
    const record = this.recordCount++
    if (record === this.recordType.length) this.#growRecords()
    if (this.#rdataTop + rdataLength > this.rdataBytes.length) this.#growRdata(rdataLength)
    this.recordType[record] = type
    this.recordTtl[record] = ttl
    this.recordLine[record] = line
    this.rdataOffset[record] = this.#rdataTop
    this.rdataLength[record] = rdataLength
    for (let i = 0; i < rdataLength; i++) this.rdataBytes[this.#rdataTop + i] = rdata[i]
    this.#rdataTop += rdataLength
    this.nextRecord[record] = -1
    if (this.firstRecord[name] < 0) this.firstRecord[name] = record
    else this.nextRecord[this.lastRecord[name]] = record
    this.lastRecord[name] = record
  }

  /** The records that follow are from this file. */
  file(file: string): void {
    this.#files.push({ file, first: this.recordCount })
  }

  fileOf(record: number): string | undefined {
    return this.#files.findLast(({ first }) => first <= record)?.file
  }

  /** The number of the name in bytes[start, end), which is added when it is new. */
  internName(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashName(bytes, start, end)
    const slot = this.#slotOf(bytes, start, end, hash)
    const entry = this.#table[slot]
    return entry === 0 ? this.#addName(bytes, start, end, hash, slot) : entry - 1
  }

  /** The number of a name, or -1. */
  findName(bytes: Uint8Array, start: number, end: number): number {
    return this.#table[this.#slotOf(bytes, start, end, hashName(bytes, start, end))] - 1
  }

  /** The slot of a name, or the free one where it belongs. */
  #slotOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#table.length - 1
    let slot = spread(hash, mask)
    for (let entry = this.#table[slot]; entry !== 0; entry = this.#table[slot]) {
      if (this.nameHash[entry - 1] === hash && this.#equals(entry - 1, bytes, start, end)) return slot
      slot = (slot + 1) & mask
    }
    return slot
  }

  /** Gives the memory back at once, without waiting for the garbage collector. The builder is of no use afterwards. */
  release(): void {
    for (const column of this.#columns()) column.buffer.transfer(0)
  }

  #columns(): Column[] {
    const names = [this.nameBytes, this.nameOffset, this.nameLength, this.nameHash, this.firstRecord, this.lastRecord]
    const records = [
      this.recordType,
      this.recordTtl,
      this.recordLine,
      this.rdataOffset,
      this.rdataLength,
      this.nextRecord,
    ]
    return [...names, ...records, this.rdataBytes, this.#table]
  }

  name(name: number): Uint8Array {
    const offset = this.nameOffset[name]
    return this.nameBytes.subarray(offset, offset + this.nameLength[name])
  }

  rdata(record: number): Uint8Array {
    const offset = this.rdataOffset[record]
    return this.rdataBytes.subarray(offset, offset + this.rdataLength[record])
  }

  /** The first record of a type at a name, or -1. */
  findRecord(name: number, type: number): number {
    for (let r = this.firstRecord[name]; r >= 0; r = this.nextRecord[r]) if (this.recordType[r] === type) return r
    return -1
  }

  /** The SOA's serial; 0 without one. */
  get serial(): number {
    const soa = this.findRecord(APEX, TYPE.SOA)
    if (soa < 0 || this.rdataLength[soa] < 20) return 0
    const at = this.rdataOffset[soa] + this.rdataLength[soa] - 20
    return new DataView(this.rdataBytes.buffer).getUint32(at)
  }

  /** Every record in canonical order of owner, then type, then file order; SOA first. Duplicates are left out. */
  forEachRecord(visit: (owner: Uint8Array, ttl: number, type: number, rdata: Uint8Array) => void): void {
    const names = Array.from({ length: this.nameCount }, (_, n) => n).filter((n) => this.firstRecord[n] >= 0)
    names.sort((a, b) => compareNames(this.name(a), this.name(b)))
    for (const name of names) {
      const records: number[] = []
      for (let r = this.firstRecord[name]; r >= 0; r = this.nextRecord[r]) records.push(r)
      const rank = (r: number) => (this.recordType[r] === TYPE.SOA ? -1 : this.recordType[r])
      records.sort((a, b) => rank(a) - rank(b) || a - b)
      const seen = new Set<string>()
      for (const r of records) {
        const key = `${this.recordType[r]} ${this.rdataKey(r)}`
        if (seen.has(key)) continue
        seen.add(key)
        const set = this.setKey(r)
        const first = records.find((other) => this.setKey(other) === set) ?? r
        visit(this.name(name), this.recordTtl[first], this.recordType[r], this.rdata(r))
      }
    }
  }

  /** Equal for records that are the same one: the letter case of names in old types does not count (RFC 4034 section 6.2). */
  rdataKey(record: number): string {
    const rdata = canonicalRdata(this.recordType[record], this.rdata(record))
    let text = ''
    for (let i = 0; i < rdata.length; i++) text += String.fromCharCode(rdata[i])
    return text
  }

  /** What makes records one set: the type, and for signatures the type they cover (RFC 2181 section 5). */
  setKey(record: number): number {
    const type = this.recordType[record]
    if (type !== TYPE.RRSIG) return type
    const at = this.rdataOffset[record]
    return type | (((this.rdataBytes[at] << 8) | this.rdataBytes[at + 1]) << 16)
  }

  #isLastName(owner: Uint8Array, length: number): boolean {
    return this.nameLength[this.#lastName] === length && this.#equals(this.#lastName, owner, 0, length)
  }

  #equals(name: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.nameLength[name] !== end - start) return false
    const offset = this.nameOffset[name] - start
    for (let i = start; i < end; i++) if (LOWER[bytes[i]] !== LOWER[this.nameBytes[offset + i]]) return false
    return true
  }

  #addName(bytes: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const name = this.nameCount++
    if (name === this.nameOffset.length) this.#growNames()
    const length = end - start
    if (this.#nameTop + length > this.nameBytes.length) {
      // An ancestor is interned from our own buffer, which is about to move.
      const own = bytes === this.nameBytes
      this.nameBytes = new Uint8Array(grow(this.nameBytes, this.nameBytes.length * 2))
      if (own) bytes = this.nameBytes
    }
    for (let i = 0; i < length; i++) this.nameBytes[this.#nameTop + i] = bytes[start + i]
    this.nameOffset[name] = this.#nameTop
    this.nameLength[name] = length
    this.nameHash[name] = hash
    this.firstRecord[name] = -1
    this.lastRecord[name] = -1
    this.#nameTop += length
    this.#table[slot] = name + 1
    if (this.nameCount * 3 > this.#table.length * 2) this.#growTable()
    return name
  }

  #growTable(): void {
    const table = new Int32Array(this.#table.length * 4)
    const mask = table.length - 1
    for (let name = 0; name < this.nameCount; name++) {
      let slot = spread(this.nameHash[name], mask)
      while (table[slot] !== 0) slot = (slot + 1) & mask
      table[slot] = name + 1
    }
    this.#table = table
  }

  #growNames(): void {
    const size = this.nameOffset.length * 2
    this.nameOffset = new Int32Array(grow(this.nameOffset, size))
    this.nameLength = new Uint8Array(grow(this.nameLength, size))
    this.nameHash = new Int32Array(grow(this.nameHash, size))
    this.firstRecord = new Int32Array(grow(this.firstRecord, size))
    this.lastRecord = new Int32Array(grow(this.lastRecord, size))
  }

  #growRecords(): void {
    const size = this.recordType.length * 2
    this.recordType = new Uint16Array(grow(this.recordType, size))
    this.recordTtl = new Uint32Array(grow(this.recordTtl, size))
    this.recordLine = new Uint32Array(grow(this.recordLine, size))
    this.rdataOffset = new Int32Array(grow(this.rdataOffset, size))
    this.rdataLength = new Uint16Array(grow(this.rdataLength, size))
    this.nextRecord = new Int32Array(grow(this.nextRecord, size))
  }

  #growRdata(more: number): void {
    const size = Math.max(this.rdataBytes.length * 2, this.#rdataTop + more)
    this.rdataBytes = new Uint8Array(grow(this.rdataBytes, size))
  }
}

type Column = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Int32Array<ArrayBuffer>

/** The column's memory with room for `length` elements. The old view is dead: nothing is copied where the system can remap. */
function grow(column: Column, length: number): ArrayBuffer {
  return column.buffer.transfer(length * column.BYTES_PER_ELEMENT)
}
