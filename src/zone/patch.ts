// Changes single names of a zone that is in service. What is new is written beside the old; then the pointers are
// switched between two steps of the arena's version, so that a query sees all of a change or nothing of it: a reader
// that finds the version odd, or moved by the end, answers again (answer.ts).
//
// The zone as compiled is one extent; nodes, sets and tables that came later are blocks of their own. What a change
// replaces inside the extent stays there unused until the whole zone is compiled again; a replaced block is used again.

import { TYPE } from '../dns/types.ts'
import type { Arena } from './arena.ts'
import type { Blocks } from './blocks.ts'
import { APEX } from './build.ts'
import type { CompiledZone } from './compile.ts'
import type { ZoneEdits } from './edits.ts'
import type { Control } from './epoch.ts'
import { hashName, LOWER } from './hash.ts'
import { align4, HEADER, NODE, SETS, SETS_FLAG, ZONE, ZONE_FLAG } from './layout.ts'
import { NodeTable } from './node-table.ts'
import type { Memory } from './rrset.ts'
import { mostBytes, relocateSets, relocateSignatures, SetsWriter, SIGNED } from './sets.ts'

const FIRST_SCRATCH_BYTES = 4096
const CUTS = SETS_FLAG.cut | SETS_FLAG.dname

/** A name with its new sets (0: none), and the node that will point at them. */
interface Placed {
  readonly node: number
  readonly sets: number
}

interface Change {
  readonly placed: readonly Placed[]
  readonly cuts: boolean
  /** The new SOA of negative answers, 0 when the apex stays as it is. */
  readonly negative: number
}

/** A node nobody can see yet. */
interface FreshNode {
  readonly node: number
  readonly hash: number
  readonly wildcard: boolean
}

/** Whether single names of the zone can change: the chains of proofs in a signed zone only fit it as a whole. */
export function canPatch(arena: Arena, { zone }: CompiledZone): boolean {
  return (arena.words[(zone >> 2) + ZONE.flags] & ZONE_FLAG.chained) === 0
}

/**
 * Applies edits to a zone that `canPatch`, and still could afterwards: nothing in them makes it a signed one. While it is
 * not in service yet, no reader has to wait for that.
 */
export function patchZone(
  arena: Arena,
  blocks: Blocks,
  control: Control,
  compiled: CompiledZone,
  edits: ZoneEdits,
  isInService: boolean,
): void {
  new Patch(arena, blocks, control, compiled, edits, isInService).apply()
}

/** Gives back every block of a zone that has left service; its extent is the directory's. */
export function retireBlocks(arena: Arena, blocks: Blocks, { zone, bytes }: CompiledZone, epoch: number): void {
  const { words } = arena
  const isBlock = (offset: number) => offset !== 0 && (offset < zone || offset >= zone + bytes)
  const table = words[(zone >> 2) + ZONE.table]
  for (const node of new NodeTable(arena, zone).nodes()) {
    const sets = words[(node >> 2) + NODE.sets]
    if (isBlock(sets)) blocks.retire(sets, epoch)
    if (isBlock(node)) blocks.retire(node, epoch)
  }
  const negative = words[(zone >> 2) + ZONE.negative]
  if (isBlock(negative)) blocks.retire(negative, epoch)
  if (isBlock(table)) blocks.retire(table, epoch)
}

class Patch {
  readonly #arena: Arena
  readonly #blocks: Blocks
  readonly #control: Control
  readonly #compiled: CompiledZone
  readonly #edits: ZoneEdits
  readonly #isInService: boolean
  readonly #table: NodeTable
  /** By lower-case name, as far as this change needs them. */
  readonly #fresh = new Map<string, FreshNode>()
  readonly #taken: number[] = []
  readonly #replaced: number[] = []
  readonly #pruned = new Set<number>()
  #scratch: Memory
  #writer: SetsWriter

  constructor(
    arena: Arena,
    blocks: Blocks,
    control: Control,
    compiled: CompiledZone,
    edits: ZoneEdits,
    isInService: boolean,
  ) {
    this.#arena = arena
    this.#blocks = blocks
    this.#control = control
    this.#compiled = compiled
    this.#edits = edits
    this.#isInService = isInService
    this.#table = new NodeTable(arena, compiled.zone)
    this.#scratch = newScratch(FIRST_SCRATCH_BYTES)
    this.#writer = new SetsWriter(edits.builder, this.#scratch, edits.expires, edits.unique)
  }

  apply(): void {
    try {
      const change = this.#prepare()
      const table = this.#table.enlarged(this.#fresh.size, (bytes) => this.#take(bytes))
      if (table !== 0) this.#replace((this.#compiled.zone >> 2) + ZONE.table, table)
      if (this.#isInService) this.#switchAtOnce(change)
      else this.#switch(change)
    } catch (thrown) {
      for (const block of this.#taken) this.#blocks.give(block)
      throw thrown
    }
    const epoch = this.#control.advance()
    for (const block of this.#replaced) this.#blocks.retire(block, epoch)
  }

  /** Writes everything that is new, where nobody looks yet. */
  #prepare(): Change {
    const edits = this.#edits
    const { builder } = edits
    const placed: Placed[] = []
    let flags = 0
    for (let name = edits.changesApex ? APEX : 1; name < builder.nameCount; name++) {
      const wire = builder.name(name)
      const written = this.#writeSets(name)
      flags |= written.flags
      let node = this.#table.find(wire, builder.nameHash[name])
      if (node === 0) {
        if (written.sets === 0) continue
        node = this.#freshNode(wire, 0)
      }
      placed.push({ node, sets: written.sets })
    }
    return { placed, cuts: (flags & CUTS) !== 0, negative: edits.changesApex ? this.#writeNegative() : 0 }
  }

  #switchAtOnce(change: Change): void {
    const { words } = this.#arena
    Atomics.add(words, HEADER.version, 1)
    // Plain stores may overtake the addition (arm64 before LSE), but not a load that follows it.
    const odd = Atomics.load(words, HEADER.version)
    this.#switch(change)
    Atomics.store(words, HEADER.version, odd + 1)
    Atomics.notify(words, HEADER.version)
  }

  /** From here on nothing is taken from the arena, and nothing can fail. */
  #switch({ placed, cuts, negative }: Change): void {
    const { words } = this.#arena
    const zone = this.#compiled.zone >> 2
    if (cuts) words[zone + ZONE.flags] |= ZONE_FLAG.cuts
    for (const fresh of this.#fresh.values()) this.#link(fresh)
    for (const { node, sets } of placed) this.#replace((node >> 2) + NODE.sets, sets)
    // Only now: an ancestor that looked empty may just have got something.
    for (const { node, sets } of placed) if (sets === 0) this.#prune(node)
    if (negative !== 0) {
      this.#replace(zone + ZONE.negative, negative)
      words[zone + ZONE.serial] = this.#edits.builder.serial
    }
  }

  #replace(at: number, pointer: number): void {
    const { words } = this.#arena
    if (this.#isBlock(words[at])) this.#replaced.push(words[at])
    Atomics.store(words, at, pointer)
  }

  #link({ node, hash, wildcard }: FreshNode): void {
    const { words } = this.#arena
    const parent = words[(node >> 2) + NODE.parent]
    words[(parent >> 2) + NODE.children]++
    if (wildcard) words[(parent >> 2) + NODE.wildcard] = node
    this.#table.add(node, hash)
  }

  /** Takes a node without sets and children away, and its ancestors that were only there for it. */
  #prune(leaf: number): void {
    const { words, bytes } = this.#arena
    const apex = words[(this.#compiled.zone >> 2) + ZONE.apex]
    for (let node = leaf; node !== apex; ) {
      const at = node >> 2
      if (words[at + NODE.sets] !== 0 || words[at + NODE.children] !== 0 || this.#pruned.has(node)) return
      this.#pruned.add(node)
      const name = node + NODE.name * 4
      this.#table.remove(node, hashName(bytes, name, name + words[at + NODE.nameLength]))
      const parent = words[at + NODE.parent]
      words[(parent >> 2) + NODE.children]--
      if (words[(parent >> 2) + NODE.wildcard] === node) words[(parent >> 2) + NODE.wildcard] = 0
      if (this.#isBlock(node)) this.#replaced.push(node)
      node = parent
    }
  }

  /** A node for the name from `start` on, with every ancestor that is missing. */
  #freshNode(name: Uint8Array, start: number): number {
    const key = keyOf(name, start)
    const known = this.#fresh.get(key)
    if (known !== undefined) return known.node
    const parentStart = start + name[start] + 1
    const parentHash = hashName(name, parentStart, name.length)
    const parent = this.#table.find(name.subarray(parentStart), parentHash) || this.#freshNode(name, parentStart)
    const length = name.length - start
    const node = this.#take(NODE.name * 4 + align4(length))
    const { words, bytes } = this.#arena
    words[(node >> 2) + NODE.parent] = parent
    words[(node >> 2) + NODE.nameLength] = length
    for (let i = 0; i < length; i++) bytes[node + NODE.name * 4 + i] = LOWER[name[start + i]]
    const wildcard = name[start] === 1 && name[start + 1] === 0x2a
    this.#fresh.set(key, { node, hash: hashName(name, start, name.length), wildcard })
    return node
  }

  #writeSets(name: number): { sets: number; flags: number } {
    const { builder } = this.#edits
    const first = builder.firstRecord[name]
    if (first < 0) return { sets: 0, flags: 0 }
    let most = SETS.pairs * 4
    for (let r = first; r >= 0; r = builder.nextRecord[r]) most += mostBytes(builder.rdataLength[r])
    this.#reserve(most)
    const { flags, end } = this.#writer.write(name, 0, this.#edits.flags(name))
    const signs = (flags & SIGNED.nsec3) !== 0 || (name === APEX && (flags & SIGNED.nsec) !== 0)
    if (signs) throw new RangeError('a signed name cannot change by itself')
    const sets = this.#take(end)
    relocateSets(this.#scratch.words, 0, sets)
    this.#moveOut(sets, end)
    return { sets, flags }
  }

  #writeNegative(): number {
    const { builder } = this.#edits
    let most = 0
    for (let r = builder.firstRecord[APEX]; r >= 0; r = builder.nextRecord[r])
      if (builder.recordType[r] === TYPE.SOA || builder.recordType[r] === TYPE.RRSIG)
        most += mostBytes(builder.rdataLength[r])
    this.#reserve(most)
    const end = this.#writer.writeNegative(0)
    const negative = this.#take(end)
    relocateSignatures(this.#scratch.words, 0, negative)
    this.#moveOut(negative, end)
    return negative
  }

  #take(bytes: number): number {
    const block = this.#blocks.take(bytes)
    this.#taken.push(block)
    return block
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#scratch.bytes.length) return
    this.#scratch = newScratch(2 * bytes)
    this.#writer = new SetsWriter(this.#edits.builder, this.#scratch, this.#edits.expires, this.#edits.unique)
  }

  /** To its place in the arena; the scratch memory is zero again. */
  #moveOut(to: number, length: number): void {
    const { bytes } = this.#scratch
    this.#arena.bytes.set(bytes.subarray(0, length), to)
    bytes.fill(0, 0, length)
  }

  #isBlock(offset: number): boolean {
    const { zone, bytes } = this.#compiled
    return offset !== 0 && (offset < zone || offset >= zone + bytes)
  }
}

function newScratch(bytes: number): Memory {
  const buffer = new ArrayBuffer(align4(bytes))
  return { words: new Int32Array(buffer), bytes: new Uint8Array(buffer) }
}

function keyOf(name: Uint8Array, start: number): string {
  let key = ''
  for (let i = start; i < name.length; i++) key += String.fromCharCode(LOWER[name[i]])
  return key
}
