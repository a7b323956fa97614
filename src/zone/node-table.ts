// The writer's side of a zone's table of nodes: finding by name, adding, taking away, and room for more.

import type { Arena } from './arena.ts'
import { LOWER, spread } from './hash.ts'
import { NODE, REMOVED, TABLE, ZONE } from './layout.ts'

export class NodeTable {
  readonly #arena: Arena
  readonly #zone: number

  constructor(arena: Arena, zone: number) {
    this.#arena = arena
    this.#zone = zone
  }

  get #at(): number {
    return this.#arena.words[(this.#zone >> 2) + ZONE.table] >> 2
  }

  /** The node of a name, or 0. */
  find(name: Uint8Array, hash: number): number {
    const { words, bytes } = this.#arena
    const table = this.#at
    const mask = words[table + TABLE.mask]
    for (let slot = spread(hash, mask); ; slot = (slot + 1) & mask) {
      const node = words[table + TABLE.slots + slot * 2 + 1]
      if (node === 0) return 0
      if (words[table + TABLE.slots + slot * 2] !== hash || node === REMOVED) continue
      if (words[(node >> 2) + NODE.nameLength] !== name.length) continue
      let i = name.length - 1
      while (i >= 0 && bytes[node + NODE.name * 4 + i] === LOWER[name[i]]) i--
      if (i < 0) return node
    }
  }

  /** There must be room. */
  add(node: number, hash: number): void {
    const { words } = this.#arena
    const table = this.#at
    const mask = words[table + TABLE.mask]
    let slot = spread(hash, mask)
    while (words[table + TABLE.slots + slot * 2 + 1] > 0) slot = (slot + 1) & mask
    if (words[table + TABLE.slots + slot * 2 + 1] === 0) words[table + TABLE.used]++
    words[table + TABLE.slots + slot * 2] = hash
    Atomics.store(words, table + TABLE.slots + slot * 2 + 1, node)
  }

  /** The node must be there. */
  remove(node: number, hash: number): void {
    const { words } = this.#arena
    const table = this.#at
    const mask = words[table + TABLE.mask]
    let slot = spread(hash, mask)
    while (words[table + TABLE.slots + slot * 2 + 1] !== node) slot = (slot + 1) & mask
    Atomics.store(words, table + TABLE.slots + slot * 2 + 1, REMOVED)
  }

  /**
   * A larger table with the same nodes, when so many more would leave less than a third of this one free; 0 when there
   * is room. It may take the old one's place at any time.
   */
  enlarged(more: number, take: (bytes: number) => number): number {
    const old = this.#at
    const slots = this.#arena.words[old + TABLE.mask] + 1
    if ((this.#arena.words[old + TABLE.used] + more) * 3 <= slots * 2) return 0
    let live = 0
    for (let i = 0; i < slots; i++) if (this.#arena.words[old + TABLE.slots + i * 2 + 1] > 0) live++
    let room = 8
    while (room < (live + more) * 2) room *= 2
    const table = take((TABLE.slots + room * 2) * 4)
    const { words } = this.#arena
    const to = table >> 2
    words[to + TABLE.mask] = room - 1
    words[to + TABLE.used] = live
    for (let i = 0; i < slots; i++) {
      const node = words[old + TABLE.slots + i * 2 + 1]
      if (node <= 0) continue
      const hash = words[old + TABLE.slots + i * 2]
      let slot = spread(hash, room - 1)
      while (words[to + TABLE.slots + slot * 2 + 1] !== 0) slot = (slot + 1) & (room - 1)
      words[to + TABLE.slots + slot * 2] = hash
      words[to + TABLE.slots + slot * 2 + 1] = node
    }
    return table
  }

  /** Every node, also those of names that only lead to others. */
  *nodes(): Iterable<number> {
    const { words } = this.#arena
    const table = this.#at
    const mask = words[table + TABLE.mask]
    for (let slot = 0; slot <= mask; slot++) {
      const node = words[table + TABLE.slots + slot * 2 + 1]
      if (node > 0) yield node
    }
  }
}
