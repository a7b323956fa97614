// All sets of one name, as a node points at them: the list of (type, rrset), then the rrsets. Pointers are offsets into
// the memory written to; a block that is written elsewhere first is moved with `relocate`.

import { finish } from '../dns/steps.ts'
import { TYPE } from '../dns/types.ts'
import { APEX } from './build.ts'
import type { ZoneBuilder } from './build.ts'
import { RRSET, SETS, SETS_FLAG } from './layout.ts'
import { type RecordSets, recordSets } from './record-sets.ts'
import { RrsetWriter } from './rrset.ts'
import type { Memory } from './rrset.ts'
import { FEW_RECORDS, hasFewRecords, isSameRecord } from './same-record.ts'

/** Beside SETS_FLAG, in the flags `write` returns: the name owns a link of a chain of proofs. */
export const SIGNED = { nsec: 0x100, nsec3: 0x200 } as const

export interface WrittenSets {
  readonly sets: number
  /** SETS_FLAG and SIGNED. */
  readonly flags: number
  readonly end: number
}

export class SetsWriter {
  readonly #builder: ZoneBuilder
  readonly #words: Int32Array
  readonly #writer: RrsetWriter
  /** When records expire, by number; for those that do. */
  readonly #expires: ReadonlyMap<number, number>
  /** No record is there twice. */
  readonly #unique: boolean
  readonly #single = [0]
  /** The keys of the sets of a name with few records, and the records of one of them. */
  readonly #keys = new Int32Array(FEW_RECORDS)
  readonly #few: number[] = []

  constructor(builder: ZoneBuilder, memory: Memory, expires: ReadonlyMap<number, number> = new Map(), unique = false) {
    this.#builder = builder
    this.#words = memory.words
    this.#writer = new RrsetWriter(builder, memory)
    this.#expires = expires
    this.#unique = unique
  }

  /** Writes the sets of a name that has records at `at`; `sets` where its records have been put together already. */
  write(name: number, at: number, extraFlags = 0, sets?: RecordSets): WrittenSets {
    const first = this.#builder.firstRecord[name]
    // The usual name has one record.
    if (this.#builder.nextRecord[first] < 0) return this.#writeSingle(name, first, at, extraFlags)
    if (sets === undefined && hasFewRecords(this.#builder, name)) return this.#writeFew(name, first, at, extraFlags)
    return this.#writeAll(name, sets ?? finish(recordSets(this.#builder, name, this.#unique)), at, extraFlags)
  }

  /** The apex's SOA as negative answers carry it, with its signatures: TTL = min(TTL, MINIMUM), RFC 2308 section 5. Returns the end. */
  writeNegative(at: number, sets?: RecordSets): number {
    const builder = this.#builder
    const soa = builder.findRecord(APEX, TYPE.SOA)
    const minimumAt = builder.rdataOffset[soa] + builder.rdataLength[soa] - 4
    const minimum = new DataView(builder.rdataBytes.buffer).getUint32(minimumAt)
    const ttl = Math.min(builder.recordTtl[soa], minimum)
    const end = this.#writer.write(at, APEX, [soa], ttl, 0)
    const known = sets ?? finish(recordSets(builder, APEX, this.#unique))
    const signatures = known.get(TYPE.RRSIG | (TYPE.SOA << 16))
    if (signatures === undefined) return end
    this.#words[(at >> 2) + RRSET.signatures] = end
    return this.#writer.write(end, APEX, signatures, ttl, 0)
  }

  #writeSingle(name: number, record: number, sets: number, extraFlags: number): WrittenSets {
    const words = this.#words
    const flags = flagOf(name, this.#builder.recordType[record]) | extraFlags
    const rrset = sets + (SETS.pairs + 2) * 4
    words[(sets >> 2) + SETS.count] = 1 | ((flags & 0xff) << 16)
    words[(sets >> 2) + SETS.pairs] = this.#builder.setKey(record)
    words[(sets >> 2) + SETS.pairs + 1] = rrset
    this.#single[0] = record
    const end = this.#writer.write(rrset, name, this.#single, -1, this.#expires.get(record) ?? 0)
    return { sets, flags, end }
  }

  /** The same as `#writeAll` without tables, which would take longer to make than a few records to compare. */
  #writeFew(name: number, first: number, sets: number, extraFlags: number): WrittenSets {
    const words = this.#words
    const keys = this.#keys
    const count = this.#collectKeys(first)
    const pairs = (sets >> 2) + SETS.pairs
    let end = sets + (SETS.pairs + count * 2) * 4
    let flags = extraFlags
    for (let i = 0; i < count; i++) {
      flags |= flagOf(name, keys[i] & 0xffff)
      words[pairs + i * 2] = keys[i]
      words[pairs + i * 2 + 1] = end
      this.#collect(first, keys[i])
      end = this.#writer.write(end, name, this.#few, -1, this.#earliest(this.#few))
    }
    words[(sets >> 2) + SETS.count] = count | ((flags & 0xff) << 16)
    for (let i = 0; i < count; i++) {
      const covered = keys[i] >>> 16
      if (covered === 0) continue
      for (let k = 0; k < count; k++)
        if (keys[k] === covered) words[(words[pairs + k * 2 + 1] >> 2) + RRSET.signatures] = words[pairs + i * 2 + 1]
    }
    return { sets, flags, end }
  }

  /** Puts the keys of the sets of a chain into `#keys`, in the order of their first records; returns how many. */
  #collectKeys(first: number): number {
    const { nextRecord } = this.#builder
    const keys = this.#keys
    let count = 0
    for (let r = first; r >= 0; r = nextRecord[r]) {
      const key = this.#builder.setKey(r)
      let i = 0
      while (i < count && keys[i] !== key) i++
      if (i === count) keys[count++] = key
    }
    return count
  }

  /** Puts the records of one set into `#few`, without duplicates. */
  #collect(first: number, key: number): void {
    const builder = this.#builder
    const records = this.#few
    records.length = 0
    for (let r = first; r >= 0; r = builder.nextRecord[r]) {
      if (builder.setKey(r) !== key) continue
      let i = this.#unique ? records.length : 0
      while (i < records.length && !isSameRecord(builder, records[i], r)) i++
      if (i === records.length) records.push(r)
    }
  }

  #writeAll(name: number, recordsOf: RecordSets, sets: number, extraFlags: number): WrittenSets {
    const words = this.#words
    const at = sets >> 2
    let end = sets + (SETS.pairs + recordsOf.size * 2) * 4
    const offsets = new Map<number, number>()
    let flags = extraFlags
    for (const [key, records] of recordsOf) {
      flags |= flagOf(name, key & 0xffff)
      words[at + SETS.pairs + offsets.size * 2] = key
      words[at + SETS.pairs + offsets.size * 2 + 1] = end
      offsets.set(key, end)
      end = this.#writer.write(end, name, records, -1, this.#earliest(records))
    }
    words[at + SETS.count] = recordsOf.size | ((flags & 0xff) << 16)
    for (const [key, offset] of offsets) {
      const covered = key >>> 16
      const signed = covered === 0 ? undefined : offsets.get(covered)
      if (signed !== undefined) words[(signed >> 2) + RRSET.signatures] = offset
    }
    return { sets, flags, end }
  }

  #earliest(records: readonly number[]): number {
    if (this.#expires.size === 0) return 0
    let earliest = 0
    for (const record of records) {
      const expires = this.#expires.get(record)
      if (expires !== undefined && (earliest === 0 || expires < earliest)) earliest = expires
    }
    return earliest
  }
}

/** An upper bound for one record: a set of its own with its pair, and a fixup or a target with its name. */
export function mostBytes(rdataLength: number): number {
  return 8 + (RRSET.blob + 4) * 4 + 12 + 3 * rdataLength + 24
}

/** Makes the pointers of sets that were written at `sets`, as if memory began there, right for their place at `offset`. */
export function relocateSets(words: Int32Array, sets: number, offset: number): void {
  const at = sets >> 2
  const count = words[at + SETS.count] & 0xffff
  for (let i = 0; i < count; i++) {
    const pair = at + SETS.pairs + i * 2 + 1
    relocateSignatures(words, words[pair], offset)
    words[pair] += offset
  }
}

/** The same for a single rrset. */
export function relocateSignatures(words: Int32Array, rrset: number, offset: number): void {
  if (words[(rrset >> 2) + RRSET.signatures] !== 0) words[(rrset >> 2) + RRSET.signatures] += offset
}

function flagOf(name: number, type: number): number {
  if (type === TYPE.NSEC) return SIGNED.nsec
  if (type === TYPE.NSEC3) return SIGNED.nsec3
  if (type === TYPE.CNAME) return SETS_FLAG.cname
  if (type === TYPE.NS && name !== APEX) return SETS_FLAG.cut
  return type === TYPE.DNAME ? SETS_FLAG.dname : 0
}
