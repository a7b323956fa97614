// The writer's side of the arena's root: which zones are in service. A zone appears, changes as a whole or goes by one
// atomic store into the directory's table, so a query sees the whole old version or the whole new one; single names
// change in place (patch.ts).

import type { Arena } from './arena.ts'
import { Blocks } from './blocks.ts'
import type { CompiledZone } from './compile.ts'
import type { ZoneEdits } from './edits.ts'
import type { Control } from './epoch.ts'
import { hashName, mixSpace, spread } from './hash.ts'
import { DIRECTORY, HEADER, REMOVED, TABLE, ZONE } from './layout.ts'
import { patchZone, retireBlocks } from './patch.ts'

export class Directory {
  readonly #arena: Arena
  readonly #control: Control
  readonly #blocks: Blocks
  /** Extents of the zones in service, by the place of their record. */
  readonly #extents = new Map<number, number>()

  /** Those among the compiled zones that have blocks beside their extent. */
  readonly #patched = new Set<number>()

  constructor(arena: Arena, control: Control) {
    this.#arena = arena
    this.#control = control
    this.#blocks = new Blocks(arena)
  }

  /** Puts a zone into service in place of its previous version, if any. When it fails, the new one is given up. */
  publish(compiled: CompiledZone): void {
    try {
      this.#makeRoom()
    } catch (thrown) {
      this.#giveBack(compiled.zone, compiled.bytes)
      throw thrown
    }
    const { words } = this.#arena
    const at = compiled.zone >> 2
    const hash = this.#hash(compiled.zone)
    const table = this.#table() >> 2
    const found = this.#find(table, compiled.zone, hash)
    this.#extents.set(compiled.zone, compiled.bytes)
    this.#addDepth(words[at + ZONE.labels])
    if (found >= 0) {
      const previous = Atomics.exchange(words, table + TABLE.slots + found * 2 + 1, compiled.zone)
      this.#retire(previous)
      return
    }
    let slot = spread(hash, words[table + TABLE.mask])
    while (words[table + TABLE.slots + slot * 2 + 1] !== 0) slot = (slot + 1) & words[table + TABLE.mask]
    words[table + TABLE.slots + slot * 2] = hash
    Atomics.store(words, table + TABLE.slots + slot * 2 + 1, compiled.zone)
    words[table + TABLE.used]++
  }

  /**
   * Changes single names of a zone, in service or not yet, that `canPatch`. All of it is seen at once. When it fails the
   * zone is as it was.
   */
  patch(compiled: CompiledZone, edits: ZoneEdits): void {
    this.#patched.add(compiled.zone)
    const isInService = this.#extents.has(compiled.zone)
    patchZone(this.#arena, this.#blocks, this.#control, compiled, edits, isInService)
  }

  /** Gives up a zone that was never put into service. */
  discard({ zone, bytes }: CompiledZone): void {
    this.#giveBack(zone, bytes)
  }

  /** Takes a zone out of service. */
  remove(zone: number): void {
    const table = this.#table() >> 2
    const found = this.#find(table, zone, this.#hash(zone))
    if (found < 0) return
    this.#retire(Atomics.exchange(this.#arena.words, table + TABLE.slots + found * 2 + 1, REMOVED))
  }

  /** Memory of earlier versions that no reader can be in any more is free again. */
  reclaim(): void {
    if (this.#arena.retiredCount + this.#blocks.retiredCount === 0) return
    const epoch = this.#control.oldestInUse()
    this.#arena.reclaim(epoch)
    this.#blocks.reclaim(epoch)
  }

  #retire(zone: number): void {
    const bytes = this.#extents.get(zone) ?? 0
    this.#extents.delete(zone)
    this.#giveBack(zone, bytes)
  }

  #giveBack(zone: number, bytes: number): void {
    const epoch = this.#control.advance()
    if (this.#patched.delete(zone)) retireBlocks(this.#arena, this.#blocks, { zone, bytes }, epoch)
    this.#arena.retire(zone, bytes, epoch)
  }

  #table(): number {
    const { words } = this.#arena
    return words[(words[HEADER.directory] >> 2) + DIRECTORY.table]
  }

  #hash(zone: number): number {
    const { words, bytes } = this.#arena
    const start = zone + ZONE.name * 4
    return mixSpace(
      hashName(bytes, start, start + words[(zone >> 2) + ZONE.nameLength]),
      words[(zone >> 2) + ZONE.space],
    )
  }

  /** The slot of the zone with the same space and origin, or -1. */
  #find(table: number, zone: number, hash: number): number {
    const { words } = this.#arena
    const mask = words[table + TABLE.mask]
    for (let slot = spread(hash, mask); ; slot = (slot + 1) & mask) {
      const other = words[table + TABLE.slots + slot * 2 + 1]
      if (other === 0) return -1
      if (other !== REMOVED && words[table + TABLE.slots + slot * 2] === hash && this.#sameOrigin(zone, other))
        return slot
    }
  }

  #sameOrigin(a: number, b: number): boolean {
    const { words, bytes } = this.#arena
    if (words[(a >> 2) + ZONE.space] !== words[(b >> 2) + ZONE.space]) return false
    const length = words[(a >> 2) + ZONE.nameLength]
    if (words[(b >> 2) + ZONE.nameLength] !== length) return false
    for (let i = 0; i < length; i++) if (bytes[a + ZONE.name * 4 + i] !== bytes[b + ZONE.name * 4 + i]) return false
    return true
  }

  #addDepth(labels: number): void {
    const { words } = this.#arena
    Atomics.or(words, (words[HEADER.directory] >> 2) + DIRECTORY.depths + (labels >> 5), 1 << (labels & 31))
  }

  /** Keeps a third of the table free; a new table takes the old one's place as a whole, without the removed slots. */
  #makeRoom(): void {
    const old = this.#table()
    const used = this.#arena.words[(old >> 2) + TABLE.used] + 1
    const slots = this.#arena.words[(old >> 2) + TABLE.mask] + 1
    if (used * 3 <= slots * 2) return
    const table = this.#arena.newTable(Math.max(64, this.#extents.size * 3))
    const { words } = this.#arena
    const mask = words[(table >> 2) + TABLE.mask]
    for (let i = 0; i < slots; i++) {
      const zone = words[(old >> 2) + TABLE.slots + i * 2 + 1]
      if (zone === 0 || zone === REMOVED) continue
      const hash = words[(old >> 2) + TABLE.slots + i * 2]
      let slot = spread(hash, mask)
      while (words[(table >> 2) + TABLE.slots + slot * 2 + 1] !== 0) slot = (slot + 1) & mask
      words[(table >> 2) + TABLE.slots + slot * 2] = hash
      words[(table >> 2) + TABLE.slots + slot * 2 + 1] = zone
      words[(table >> 2) + TABLE.used]++
    }
    Atomics.store(words, (words[HEADER.directory] >> 2) + DIRECTORY.table, table)
    this.#arena.retire(old, (TABLE.slots + slots * 2) * 4, this.#control.advance())
  }
}
