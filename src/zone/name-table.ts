// Names in plain columns, each interned once. Names keep the letter case of their first appearance; letter case does
// not matter for finding them. A name stays where it is, also without records, until the empty ones are dropped.

import { LARGEST_ZONE_BYTES, tooManyBytes } from '../dns/zonefile/limits.ts'
import { hashName, LOWER, spread } from './hash.ts'

/** The origin is always the first name. */
export const APEX = 0

/** Rows of a column at first: as many as the engine keeps without a buffer of their own, as most zones are small. */
export const FEW_ROWS = 16
/** Bytes of names and of rdata at first. */
export const FEW_BYTES = 512

export class NameTable {
  nameCount = 0
  nameBytes: Uint8Array<ArrayBuffer> = new Uint8Array(FEW_BYTES)
  nameOffset: Int32Array<ArrayBuffer> = new Int32Array(FEW_ROWS)
  nameLength: Uint8Array<ArrayBuffer> = new Uint8Array(FEW_ROWS)
  nameHash: Int32Array<ArrayBuffer> = new Int32Array(FEW_ROWS)
  /** The ends of each name's chain of records, -1 without any. */
  firstRecord: Int32Array<ArrayBuffer> = new Int32Array(FEW_ROWS)
  lastRecord: Int32Array<ArrayBuffer> = new Int32Array(FEW_ROWS)

  /** Bytes of rdata, which count with those of names. */
  protected rdataTop = 0
  readonly #mostBytes: number
  #nameTop = 0
  /** Open addressing: name + 1, 0 = free. */
  #table = new Int32Array(4 * FEW_ROWS)

  constructor(origin: Uint8Array, mostBytes: number = LARGEST_ZONE_BYTES) {
    this.#mostBytes = mostBytes
    this.internName(origin, 0, origin.length)
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

  name(name: number): Uint8Array {
    const offset = this.nameOffset[name]
    return this.nameBytes.subarray(offset, offset + this.nameLength[name])
  }

  /** Whether the bytes are this name, whatever their letter case. */
  isName(name: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.nameLength[name] !== end - start) return false
    const { nameBytes } = this
    const offset = this.nameOffset[name] - start
    for (let i = start; i < end; i++) {
      const byte = bytes[i]
      const own = nameBytes[offset + i]
      if (byte !== own && LOWER[byte] !== LOWER[own]) return false
    }
    return true
  }

  /** Forgets the names that were added since there were `count`. */
  forgetNames(count: number): void {
    if (count === this.nameCount) return
    this.#nameTop = this.nameOffset[count]
    // What came last was never in the way of another, so its slot can simply be freed.
    while (this.nameCount > count) {
      const name = this.nameCount - 1
      const offset = this.nameOffset[name]
      this.#table[this.#slotOf(this.nameBytes, offset, offset + this.nameLength[name], this.nameHash[name])] = 0
      this.nameCount--
    }
  }

  /**
   * Drops every name without records but the apex. Returns the new numbers of the others, whose order stays; undefined
   * when there is none to drop.
   */
  protected dropNames(): Int32Array | undefined {
    if (!this.firstRecord.subarray(1, this.nameCount).includes(-1)) return undefined
    const numbers = new Int32Array(this.nameCount).fill(-1)
    let count = 0
    let top = 0
    for (let name = 0; name < this.nameCount; name++) {
      if (name !== APEX && this.firstRecord[name] < 0) continue
      const offset = this.nameOffset[name]
      const length = this.nameLength[name]
      this.nameBytes.copyWithin(top, offset, offset + length)
      this.nameOffset[count] = top
      this.nameLength[count] = length
      this.nameHash[count] = this.nameHash[name]
      this.firstRecord[count] = this.firstRecord[name]
      this.lastRecord[count] = this.lastRecord[name]
      top += length
      numbers[name] = count++
    }
    this.nameCount = count
    this.#nameTop = top
    this.#fillTable(this.#table.fill(0))
    return numbers
  }

  /** Bytes of names and rdata. */
  get dataBytes(): number {
    return this.#nameTop + this.rdataTop
  }

  /** Throws when so many bytes of names or rdata would be too much. */
  protected expectRoom(bytes: number): void {
    if (this.#nameTop + this.rdataTop + bytes > this.#mostBytes) throw tooManyBytes(this.#mostBytes)
  }

  protected nameColumns(): Column[] {
    const { nameBytes, nameOffset, nameLength, nameHash, firstRecord, lastRecord } = this
    return [nameBytes, nameOffset, nameLength, nameHash, firstRecord, lastRecord, this.#table]
  }

  /** The slot of a name, or the free one where it belongs. */
  #slotOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#table.length - 1
    let slot = spread(hash, mask)
    for (let entry = this.#table[slot]; entry !== 0; entry = this.#table[slot]) {
      if (this.nameHash[entry - 1] === hash && this.isName(entry - 1, bytes, start, end)) return slot
      slot = (slot + 1) & mask
    }
    return slot
  }

  #addName(bytes: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const length = end - start
    this.expectRoom(length)
    const name = this.nameCount++
    if (name === this.nameOffset.length) this.#growNames()
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
    if (this.nameCount * 3 > this.#table.length * 2) {
      this.#table = new Int32Array(this.#table.length * 4)
      this.#fillTable(this.#table)
    }
    return name
  }

  /** Enters every name into an empty table. */
  #fillTable(table: Int32Array): void {
    const mask = table.length - 1
    for (let name = 0; name < this.nameCount; name++) {
      let slot = spread(this.nameHash[name], mask)
      while (table[slot] !== 0) slot = (slot + 1) & mask
      table[slot] = name + 1
    }
  }

  #growNames(): void {
    const size = this.nameOffset.length * 2
    this.nameOffset = new Int32Array(grow(this.nameOffset, size))
    this.nameLength = new Uint8Array(grow(this.nameLength, size))
    this.nameHash = new Int32Array(grow(this.nameHash, size))
    this.firstRecord = new Int32Array(grow(this.firstRecord, size))
    this.lastRecord = new Int32Array(grow(this.lastRecord, size))
  }
}

export type Column =
  | Uint8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>

/** The column's memory with room for `length` elements. The old view is dead: nothing is copied where the system can remap. */
export function grow(column: Column, length: number): ArrayBuffer {
  return column.buffer.transfer(length * column.BYTES_PER_ELEMENT)
}
