// One shared buffer with every zone in it, and the allocator that only the loading thread uses. Readers see a
// buffer; when it is full, a larger one takes its place (`onGrow`), so offsets stay valid and readers switch when
// told. Memory is given back in two steps: `retire` when no pointer leads there any more, `reclaim` when no reader
// can still be looking (epoch.ts).

import { isEarlier } from './epoch.ts'
import { align4, DIRECTORY, HEADER, MAGIC, TABLE } from './layout.ts'

/** Offsets are signed 32-bit integers, the fastest index there is. */
const LARGEST_ARENA = 0x7fff_0000
/** Whole zones leave this much, so that single names can change however many zones there are. */
const RESERVED_BYTES = 64 << 20

export class ArenaFull extends Error {
  override readonly name = 'ArenaFull'
}

interface Extent {
  offset: number
  bytes: number
}

export class Arena {
  buffer: SharedArrayBuffer
  words: Int32Array
  bytes: Uint8Array
  readonly #onGrow: (buffer: SharedArrayBuffer) => void
  /** Never used so far. */
  #top: number = HEADER.bytes
  /** Holes below the top, by offset. */
  #holes: Extent[] = []
  #retired: (Extent & { epoch: number })[] = []
  #used = 0

  constructor(initialBytes: number, onGrow: (buffer: SharedArrayBuffer) => void = () => {}) {
    this.buffer = new SharedArrayBuffer(Math.min(align4(initialBytes), LARGEST_ARENA))
    this.words = new Int32Array(this.buffer)
    this.bytes = new Uint8Array(this.buffer)
    this.#onGrow = onGrow
    this.words[HEADER.magic] = MAGIC
    const directory = this.allocate(DIRECTORY.words * 4)
    this.words[(directory >> 2) + DIRECTORY.table] = this.newTable(64)
    Atomics.store(this.words, HEADER.directory, directory)
  }

  get usedBytes(): number {
    return this.#used
  }

  /** Room for a whole zone. */
  allocateZone(wanted: number): number {
    return this.allocate(wanted, LARGEST_ARENA - RESERVED_BYTES)
  }

  allocate(wanted: number, limit: number = LARGEST_ARENA): number {
    // Beyond 32 bits, aligning would wrap around.
    if (wanted > limit) throw tooLarge(wanted, limit)
    const bytes = align4(wanted)
    this.#used += bytes
    for (let i = 0; i < this.#holes.length; i++) {
      const hole = this.#holes[i]
      if (hole.bytes < bytes) continue
      const offset = hole.offset
      if (hole.bytes === bytes) this.#holes.splice(i, 1)
      else {
        hole.offset += bytes
        hole.bytes -= bytes
      }
      this.bytes.fill(0, offset, offset + bytes)
      return offset
    }
    if (this.#top + bytes > limit) {
      this.#used -= bytes
      throw tooLarge(this.#top + bytes, limit)
    }
    if (this.#top + bytes > this.buffer.byteLength) this.#grow(bytes)
    const offset = this.#top
    this.#top += bytes
    return offset
  }

  /** An empty hash table with room for `entries` at a load of at most two thirds. */
  newTable(entries: number): number {
    let slots = 8
    while (slots * 2 < entries * 3) slots *= 2
    const table = this.allocate((TABLE.slots + slots * 2) * 4)
    this.words[(table >> 2) + TABLE.mask] = slots - 1
    return table
  }

  /** Gives the end of a fresh extent back at once: nobody else knows it yet. */
  shrink(offset: number, bytes: number, keep: number): void {
    const kept = align4(keep)
    const whole = align4(bytes)
    if (kept >= whole) return
    this.#used -= whole - kept
    // Nothing was written past `keep`, so memory above the top still reads as zero.
    if (offset + whole === this.#top) this.#top = offset + kept
    else this.#addHole({ offset: offset + kept, bytes: whole - kept })
  }

  /** Gives a whole fresh extent back, whatever was written to it. */
  discard(offset: number, bytes: number): void {
    this.#used -= align4(bytes)
    this.#addHole({ offset, bytes: align4(bytes) })
  }

  /** Memory that no pointer leads to any more, but a reader may still be in. */
  retire(offset: number, bytes: number, epoch: number): void {
    this.#retired.push({ offset, bytes: align4(bytes), epoch })
  }

  /** Frees what was retired before `epoch`. */
  reclaim(epoch: number): void {
    const retired = this.#retired
    this.#retired = retired.filter((extent) => isEarlier(epoch, extent.epoch))
    for (const extent of retired) if (!isEarlier(epoch, extent.epoch)) this.discard(extent.offset, extent.bytes)
  }

  get retiredCount(): number {
    return this.#retired.length
  }

  #addHole(extent: Extent): void {
    let low = 0
    let high = this.#holes.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#holes[middle].offset < extent.offset) low = middle + 1
      else high = middle
    }
    const before = this.#holes[low - 1]
    const after = this.#holes[low]
    const joinsBefore = before !== undefined && before.offset + before.bytes === extent.offset
    const joinsAfter = after !== undefined && extent.offset + extent.bytes === after.offset
    if (joinsBefore && joinsAfter) {
      before.bytes += extent.bytes + after.bytes
      this.#holes.splice(low, 1)
    } else if (joinsBefore) before.bytes += extent.bytes
    else if (joinsAfter) {
      after.offset = extent.offset
      after.bytes += extent.bytes
    } else this.#holes.splice(low, 0, { offset: extent.offset, bytes: extent.bytes })
  }

  #grow(bytes: number): void {
    const size = Math.min(Math.max(this.buffer.byteLength * 2, this.#top + bytes * 2), LARGEST_ARENA)
    const larger = new SharedArrayBuffer(size)
    const target = new Uint8Array(larger)
    target.set(this.bytes.subarray(0, this.#top))
    this.buffer = larger
    this.bytes = target
    this.words = new Int32Array(larger)
    this.#onGrow(larger)
  }
}

function tooLarge(bytes: number, limit: number): ArenaFull {
  return new ArenaFull(`Cannot hold zones of ${bytes} bytes; at most ${limit} fit into memory`)
}
