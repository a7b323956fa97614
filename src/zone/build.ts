// The records of one zone: names interned once, records in plain columns in file order, chained per name in the same
// order. Nothing here is an object per record, so a million of them cost tens of megabytes and no garbage.
// check.ts says whether they make a zone; compile.ts writes them into the arena; replace-records.ts edits them.

import { compareNames } from '../dns/name.ts'
import { canonicalRdata } from '../dns/rdata/rdata.ts'
import { TYPE } from '../dns/types.ts'
import { APEX, type Column, FEW_BYTES, FEW_ROWS, grow, NameTable } from './name-table.ts'

export { APEX } from './name-table.ts'

export interface BuilderMark {
  readonly names: number
  readonly rdataTop: number
}

/** What a record, or a name, takes beside its bytes, about. */
const ROW_BYTES = 32

export class ZoneBuilder extends NameTable {
  readonly origin: Uint8Array
  recordCount = 0

  // One row per record.
  recordName: Int32Array<ArrayBuffer> = new Int32Array(FEW_ROWS)
  recordType: Uint16Array<ArrayBuffer> = new Uint16Array(FEW_ROWS)
  recordTtl: Uint32Array<ArrayBuffer> = new Uint32Array(FEW_ROWS)
  recordLine: Uint32Array<ArrayBuffer> = new Uint32Array(FEW_ROWS)
  rdataOffset: Int32Array<ArrayBuffer> = new Int32Array(FEW_ROWS)
  rdataLength: Uint16Array<ArrayBuffer> = new Uint16Array(FEW_ROWS)
  nextRecord: Int32Array<ArrayBuffer> = new Int32Array(FEW_ROWS)
  rdataBytes: Uint8Array<ArrayBuffer> = new Uint8Array(FEW_BYTES)

  /** Where the records came from: each file with the number of its first record, in order. */
  readonly #files: { readonly file: string; readonly first: number }[] = []
  #lastName = APEX

  /** `mostBytes`: of names and rdata; more are refused. */
  constructor(origin: Uint8Array, mostBytes?: number) {
    super(origin, mostBytes)
    this.origin = origin
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
    this.expectRoom(rdataLength)
    const record = this.recordCount++
    if (record === this.recordType.length) this.#growRecords()
    this.recordName[record] = name
    this.recordType[record] = type
    this.recordTtl[record] = ttl
    this.recordLine[record] = line
    if (this.rdataTop + rdataLength > this.rdataBytes.length) this.#growRdata(rdataLength)
    this.rdataOffset[record] = this.rdataTop
    for (let i = 0; i < rdataLength; i++) this.rdataBytes[this.rdataTop + i] = rdata[i]
    this.rdataTop += rdataLength
    this.rdataLength[record] = rdataLength
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

  /** Keeps rdata for a record that is yet to come; returns where. */
  addRdata(rdata: Uint8Array, length: number): number {
    const at = this.rdataTop
    this.expectRoom(length)
    if (at + length > this.rdataBytes.length) this.#growRdata(length)
    this.rdataBytes.set(rdata.subarray(0, length), at)
    this.rdataTop = at + length
    return at
  }

  /** What `rewind` goes back to: the names and the rdata there are. */
  mark(): BuilderMark {
    return { names: this.nameCount, rdataTop: this.rdataTop }
  }

  /** Forgets the names and the rdata that came after the mark; no record may use them. */
  rewind(mark: BuilderMark): void {
    this.forgetNames(mark.names)
    this.rdataTop = mark.rdataTop
    this.#lastName = APEX
  }

  /** Takes out the rdata that no record uses any more. */
  packRdata(): void {
    const { recordCount, rdataOffset, rdataLength, rdataBytes } = this
    let bytes = 0
    for (let r = 0; r < recordCount; r++) bytes += rdataLength[r]
    const packed = new Uint8Array(bytes + (bytes >> 1))
    let top = 0
    for (let r = 0; r < recordCount; r++) {
      const from = rdataOffset[r]
      const length = rdataLength[r]
      for (let i = 0; i < length; i++) packed[top + i] = rdataBytes[from + i]
      rdataOffset[r] = top
      top += length
    }
    this.rdataBytes = packed
    this.rdataTop = top
  }

  /** Numbers the names anew, without those that have no records. */
  dropEmptyNames(): void {
    const numbers = this.dropNames()
    if (numbers === undefined) return
    for (let r = 0; r < this.recordCount; r++) this.recordName[r] = numbers[this.recordName[r]]
    this.#lastName = APEX
  }

  /** Makes room for so many records. */
  reserveRecords(count: number): void {
    while (this.recordType.length < count) this.#growRecords()
  }

  /** Memory held. */
  get bytes(): number {
    return this.#columns().reduce((sum, column) => sum + column.byteLength, 0)
  }

  /** Memory that is used, without room for more: about what the zone takes in the arena. */
  get usedBytes(): number {
    return this.dataBytes + (this.recordCount + this.nameCount) * ROW_BYTES
  }

  /** Gives the memory back at once, without waiting for the garbage collector. The builder is of no use afterwards. */
  release(): void {
    for (const column of this.#columns()) if (column.byteLength > FEW_BYTES) column.buffer.transfer(0)
  }

  /** The columns with one row per record. */
  recordColumns(): Column[] {
    const { recordName, recordType, recordTtl, recordLine, rdataOffset, rdataLength, nextRecord } = this
    return [recordName, recordType, recordTtl, recordLine, rdataOffset, rdataLength, nextRecord]
  }

  #columns(): Column[] {
    return [...this.nameColumns(), ...this.recordColumns(), this.rdataBytes]
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

  /** Whether a name has a signature over one of its types. */
  hasSignature(name: number, covered: number): boolean {
    for (let r = this.firstRecord[name]; r >= 0; r = this.nextRecord[r])
      if (this.setKey(r) === (TYPE.RRSIG | (covered << 16))) return true
    return false
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
    return this.nameLength[this.#lastName] === length && this.isName(this.#lastName, owner, 0, length)
  }

  #growRecords(): void {
    const size = this.recordType.length * 2
    this.recordName = new Int32Array(grow(this.recordName, size))
    this.recordType = new Uint16Array(grow(this.recordType, size))
    this.recordTtl = new Uint32Array(grow(this.recordTtl, size))
    this.recordLine = new Uint32Array(grow(this.recordLine, size))
    this.rdataOffset = new Int32Array(grow(this.rdataOffset, size))
    this.rdataLength = new Uint16Array(grow(this.rdataLength, size))
    this.nextRecord = new Int32Array(grow(this.nextRecord, size))
  }

  #growRdata(more: number): void {
    const size = Math.max(this.rdataBytes.length * 2, this.rdataTop + more)
    this.rdataBytes = new Uint8Array(grow(this.rdataBytes, size))
  }
}
