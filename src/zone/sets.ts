// All sets of one name, as a node points at them: the list of (type, rrset), then the rrsets. Pointers are offsets into
// the memory written to; a block that is written elsewhere first is moved with `relocate`.

import { TYPE } from '../dns/types.ts'
import { APEX } from './build.ts'
import type { ZoneBuilder } from './build.ts'
import { RRSET, SETS, SETS_FLAG } from './layout.ts'
import { RrsetWriter } from './rrset.ts'
import type { Memory } from './rrset.ts'

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

  constructor(builder: ZoneBuilder, memory: Memory, expires: ReadonlyMap<number, number> = new Map(), unique = false) {
    this.#builder = builder
    this.#words = memory.words
    this.#writer = new RrsetWriter(builder, memory)
    this.#expires = expires
    this.#unique = unique
  }

  /** Writes the sets of a name that has records at `at`. */
  write(name: number, at: number, extraFlags = 0): WrittenSets {
    const first = this.#builder.firstRecord[name]
    // The usual name has one record.
    return this.#builder.nextRecord[first] < 0
      ? this.#writeSingle(name, first, at, extraFlags)
      : this.#writeAll(name, first, at, extraFlags)
  }

  /** The apex's SOA as negative answers carry it, with its signatures: TTL = min(TTL, MINIMUM), RFC 2308 section 5. Returns the end. */
  writeNegative(at: number): number {
    const builder = this.#builder
    const soa = builder.findRecord(APEX, TYPE.SOA)
    const minimumAt = builder.rdataOffset[soa] + builder.rdataLength[soa] - 4
    const minimum = new DataView(builder.rdataBytes.buffer).getUint32(minimumAt)
    const ttl = Math.min(builder.recordTtl[soa], minimum)
    this.#writer.records[0] = soa
    const end = this.#writer.write(at, APEX, 1, ttl, 0)
    const signatures = this.#writer.collect(builder.firstRecord[APEX], TYPE.RRSIG | (TYPE.SOA << 16))
    if (signatures === 0) return end
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
    this.#writer.records[0] = record
    const end = this.#writer.write(rrset, name, 1, -1, this.#expires.get(record) ?? 0)
    return { sets, flags, end }
  }

  #writeAll(name: number, first: number, sets: number, extraFlags: number): WrittenSets {
    const builder = this.#builder
    const words = this.#words
    const keys: number[] = []
    for (let r = first; r >= 0; r = builder.nextRecord[r]) {
      const key = builder.setKey(r)
      if (!keys.includes(key)) keys.push(key)
    }
    const at = sets >> 2
    let end = sets + (SETS.pairs + keys.length * 2) * 4
    const offsets = new Map<number, number>()
    let flags = extraFlags
    for (let i = 0; i < keys.length; i++) {
      flags |= flagOf(name, keys[i] & 0xffff)
      const count = this.#writer.collect(first, keys[i], this.#unique)
      offsets.set(keys[i], end)
      words[at + SETS.pairs + i * 2] = keys[i]
      words[at + SETS.pairs + i * 2 + 1] = end
      end = this.#writer.write(end, name, count, -1, this.#earliest(count))
    }
    words[at + SETS.count] = keys.length | ((flags & 0xff) << 16)
    for (const [key, offset] of offsets) {
      const covered = key >>> 16
      const signed = covered === 0 ? undefined : offsets.get(covered)
      if (signed !== undefined) words[(signed >> 2) + RRSET.signatures] = offset
    }
    return { sets, flags, end }
  }

  #earliest(count: number): number {
    if (this.#expires.size === 0) return 0
    let earliest = 0
    for (let i = 0; i < count; i++) {
      const expires = this.#expires.get(this.#writer.records[i])
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
