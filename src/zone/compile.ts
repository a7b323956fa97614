// Writes a checked zone into the arena: nodes for every name and every empty non-terminal between it and the apex,
// rrsets in wire form, a hash table over the nodes and, for a signed zone, the order of its NSEC owners.
// Nobody sees any of it until directory.ts stores the one pointer to it.

import { compareNames } from '../dns/name.ts'
import { TYPE } from '../dns/types.ts'
import type { Arena } from './arena.ts'
import { APEX } from './build.ts'
import type { ZoneBuilder } from './build.ts'
import { LOWER, spread } from './hash.ts'
import { align4, NODE, NSEC3_LIST, SETS_FLAG, TABLE, ZONE, ZONE_FLAG, ZONE_STATE } from './layout.ts'
import { nsec3Chain, type Nsec3Entry } from './nsec3-chain.ts'
import { mostBytes, SetsWriter, SIGNED } from './sets.ts'

/** RFC 2181 section 8. */
const LONGEST_TTL = 0x7fff_ffff

export interface CompileOptions {
  readonly space: number
  readonly slot: number
  readonly fallthrough: boolean
  /** Labels `*` and `any` of a question search (SkyDNS). */
  readonly searches?: boolean
  /** TTLs of records that expire do not count down any further. */
  readonly leastTtl?: number
}

/** A zone in the arena: where its record is, and the one extent that holds all of it. */
export interface CompiledZone {
  readonly zone: number
  readonly bytes: number
}

export function compileZone(builder: ZoneBuilder, arena: Arena, options: CompileOptions): CompiledZone {
  // A builder that was edited may still know names that lost their records.
  builder.dropEmptyNames()
  const parents = addEmptyNonTerminals(builder)
  const estimate = estimateBytes(builder)
  const start = arena.allocate(estimate)
  try {
    const compiler = new Compiler(builder, arena, start, parents)
    const end = compiler.run(options)
    if (end > start + estimate) throw new RangeError(`zone took ${end - start} bytes, ${estimate} were estimated`)
    arena.shrink(start, estimate, end - start)
    return { zone: start, bytes: end - start }
  } catch (thrown) {
    arena.discard(start, estimate)
    throw thrown
  }
}

/** A zone whose file could not be read: known, so that queries get SERVFAIL rather than REFUSED. */
export function compileFailedZone(origin: Uint8Array, arena: Arena, options: CompileOptions): CompiledZone {
  const bytes = zoneRecordBytes(origin.length)
  const zone = arena.allocate(bytes)
  writeZoneRecord(arena, zone, origin, options)
  arena.words[(zone >> 2) + ZONE.state] = ZONE_STATE.failed
  return { zone, bytes }
}

/** Makes every ancestor down from the apex a name of its own (RFC 4592 section 2.2.2); returns each name's parent. */
function addEmptyNonTerminals(builder: ZoneBuilder): Int32Array {
  let parents = new Int32Array(builder.nameCount * 2)
  const apexLength = builder.nameLength[APEX]
  // nameCount grows while ancestors are added; each addition is one label nearer to the apex.
  for (let name = 1; name < builder.nameCount; name++) {
    const start = builder.nameOffset[name]
    const end = start + builder.nameLength[name]
    const parentStart = start + builder.nameBytes[start] + 1
    const parent = end - parentStart === apexLength ? APEX : builder.internName(builder.nameBytes, parentStart, end)
    if (name >= parents.length) {
      const larger = new Int32Array(parents.length * 2)
      larger.set(parents)
      parents = larger
    }
    parents[name] = parent
  }
  return parents
}

/** An upper bound; what is not used is given back. */
function estimateBytes(builder: ZoneBuilder): number {
  const { nameCount, recordCount } = builder
  let bytes = zoneRecordBytes(builder.origin.length) + 64
  for (let name = 0; name < nameCount; name++) bytes += align4(NODE.name * 4 + builder.nameLength[name]) + 4
  for (let r = 0; r < recordCount; r++) bytes += mostBytes(builder.rdataLength[r])
  bytes += 4 + nameCount * 4 // NSEC order
  if (builder.findRecord(APEX, TYPE.NSEC3PARAM) >= 0) bytes += (NSEC3_LIST.entries + nameCount * NSEC3_LIST.stride) * 4
  // The negative SOA and its signatures, once more.
  for (let r = builder.firstRecord[APEX]; r >= 0; r = builder.nextRecord[r]) bytes += mostBytes(builder.rdataLength[r])
  let slots = 8
  while (slots * 2 < nameCount * 3) slots *= 2
  return bytes + (TABLE.slots + slots * 2) * 4
}

function zoneRecordBytes(nameLength: number): number {
  return align4(ZONE.name * 4 + nameLength)
}

function writeZoneRecord(arena: Arena, zone: number, origin: Uint8Array, options: CompileOptions): void {
  const { words, bytes } = arena
  const at = zone >> 2
  words[at + ZONE.space] = options.space
  words[at + ZONE.slot] = options.slot
  words[at + ZONE.state] = ZONE_STATE.loaded
  words[at + ZONE.flags] =
    (options.fallthrough ? ZONE_FLAG.fallthrough : 0) | (options.searches === true ? ZONE_FLAG.searches : 0)
  words[at + ZONE.leastTtl] = Math.min(options.leastTtl ?? 0, LONGEST_TTL)
  words[at + ZONE.nameLength] = origin.length
  let labels = 0
  for (let i = 0; origin[i] !== 0; i += origin[i] + 1) labels++
  words[at + ZONE.labels] = labels
  for (let i = 0; i < origin.length; i++) bytes[zone + ZONE.name * 4 + i] = LOWER[origin[i]]
}

class Compiler {
  readonly #builder: ZoneBuilder
  readonly #words: Int32Array
  readonly #bytes: Uint8Array
  readonly #arena: Arena
  readonly #zone: number
  readonly #parents: Int32Array
  readonly #nodes: Int32Array
  readonly #writer: SetsWriter
  #at: number
  #flags = 0
  readonly #nsecOwners: number[] = []
  readonly #nsec3Owners: number[] = []

  constructor(builder: ZoneBuilder, arena: Arena, start: number, parents: Int32Array) {
    this.#builder = builder
    this.#arena = arena
    this.#words = arena.words
    this.#bytes = arena.bytes
    this.#zone = start
    this.#parents = parents
    this.#nodes = new Int32Array(builder.nameCount)
    this.#writer = new SetsWriter(builder, arena)
    this.#at = start + zoneRecordBytes(builder.origin.length)
  }

  /** Returns the end of what was written. */
  run(options: CompileOptions): number {
    const { nameCount } = this.#builder
    writeZoneRecord(this.#arena, this.#zone, this.#builder.origin, options)
    for (let name = 0; name < nameCount; name++) this.#writeNode(name)
    this.#link()
    const record = this.#zone >> 2
    this.#words[record + ZONE.apex] = this.#nodes[APEX]
    this.#words[record + ZONE.table] = this.#writeTable()
    this.#words[record + ZONE.negative] = this.#place(this.#writer.writeNegative(this.#at))
    if (this.#nsecOwners.length > 0 && this.#builder.findRecord(APEX, TYPE.NSEC) >= 0) {
      this.#flags |= ZONE_FLAG.nsec
      this.#words[record + ZONE.order] = this.#writeOrder()
    }
    const parameters = this.#builder.findRecord(APEX, TYPE.NSEC3PARAM)
    const chain = parameters < 0 ? [] : nsec3Chain(this.#builder, this.#nsec3Owners, this.#builder.rdata(parameters))
    if (chain.length > 0) {
      this.#flags |= ZONE_FLAG.nsec3
      this.#words[record + ZONE.nsec3] = this.#writeNsec3(this.#builder.rdata(parameters), chain)
    }
    this.#words[record + ZONE.flags] |= this.#flags
    this.#words[record + ZONE.serial] = this.#builder.serial
    return this.#at
  }

  #writeNode(name: number): void {
    const builder = this.#builder
    const node = this.#at
    const length = builder.nameLength[name]
    const from = builder.nameOffset[name]
    const to = node + NODE.name * 4
    this.#nodes[name] = node
    this.#words[(node >> 2) + NODE.nameLength] = length
    for (let i = 0; i < length; i++) this.#bytes[to + i] = LOWER[builder.nameBytes[from + i]]
    this.#at = align4(to + length)
    if (builder.firstRecord[name] < 0) return
    const { sets, flags, end } = this.#writer.write(name, this.#at)
    this.#at = end
    this.#words[(node >> 2) + NODE.sets] = sets
    if (flags === 0) return
    if ((flags & (SETS_FLAG.cut | SETS_FLAG.dname)) !== 0) this.#flags |= ZONE_FLAG.cuts
    if ((flags & SIGNED.nsec) !== 0) this.#nsecOwners.push(name)
    if ((flags & SIGNED.nsec3) !== 0) this.#nsec3Owners.push(name)
  }

  /** Takes over what the writer put at the current end. */
  #place(end: number): number {
    const offset = this.#at
    this.#at = end
    return offset
  }

  /** Parents, and wildcard children of parents. */
  #link(): void {
    const builder = this.#builder
    const words = this.#words
    for (let name = 1; name < builder.nameCount; name++) {
      const parent = this.#nodes[this.#parents[name]]
      words[(this.#nodes[name] >> 2) + NODE.parent] = parent
      words[(parent >> 2) + NODE.children]++
      const at = builder.nameOffset[name]
      if (builder.nameBytes[at] === 1 && builder.nameBytes[at + 1] === 0x2a)
        words[(parent >> 2) + NODE.wildcard] = this.#nodes[name]
    }
  }

  #writeTable(): number {
    const { nameCount, nameHash } = this.#builder
    let slots = 8
    while (slots * 2 < nameCount * 3) slots *= 2
    const table = this.#at
    const at = table >> 2
    this.#at += (TABLE.slots + slots * 2) * 4
    this.#words[at + TABLE.mask] = slots - 1
    this.#words[at + TABLE.used] = nameCount
    const hidden = new Set(this.#nsec3Owners)
    for (let name = 0; name < nameCount; name++) {
      // The hashed names of NSEC3 do not exist for questions (RFC 5155 section 7.2.8).
      if (name !== APEX && hidden.has(name)) continue
      let slot = spread(nameHash[name], slots - 1)
      while (this.#words[at + TABLE.slots + slot * 2 + 1] !== 0) slot = (slot + 1) & (slots - 1)
      this.#words[at + TABLE.slots + slot * 2] = nameHash[name]
      this.#words[at + TABLE.slots + slot * 2 + 1] = this.#nodes[name]
    }
    return table
  }

  #writeOrder(): number {
    const builder = this.#builder
    const owners = this.#nsecOwners.sort((a, b) => compareNames(builder.name(a), builder.name(b)))
    const order = this.#at
    this.#at += (1 + owners.length) * 4
    this.#words[order >> 2] = owners.length
    for (let i = 0; i < owners.length; i++) this.#words[(order >> 2) + 1 + i] = this.#nodes[owners[i]]
    return order
  }

  /** The chain in the order of its hashes. */
  #writeNsec3(chosen: Uint8Array, entries: readonly Nsec3Entry[]): number {
    const saltLength = chosen[4]
    const list = this.#at
    const at = list >> 2
    this.#words[at + NSEC3_LIST.count] = entries.length
    this.#words[at + NSEC3_LIST.iterations] = (chosen[2] << 8) | chosen[3]
    this.#words[at + NSEC3_LIST.saltLength] = saltLength
    this.#bytes.set(chosen.subarray(5, 5 + saltLength), (at + NSEC3_LIST.salt) * 4)
    for (const [i, { name, hash }] of entries.entries()) {
      const entry = at + NSEC3_LIST.entries + i * NSEC3_LIST.stride
      this.#words.set(hash, entry)
      this.#words[entry + NSEC3_LIST.node] = this.#nodes[name]
    }
    this.#at += (NSEC3_LIST.entries + entries.length * NSEC3_LIST.stride) * 4
    return list
  }
}
