// Writes a checked zone into the arena: nodes for every name and every empty non-terminal between it and the apex,
// rrsets in wire form, a hash table over the nodes and, for a signed zone, the order of its NSEC owners.
// Nobody sees any of it until directory.ts stores the one pointer to it.

import { compareNames } from '../dns/name.ts'
import { finish, Pace, STEP_SIZE, type Steps } from '../dns/steps.ts'
import { TYPE } from '../dns/types.ts'
import type { Arena } from './arena.ts'
import { APEX } from './build.ts'
import type { ZoneBuilder } from './build.ts'
import { LOWER, spread } from './hash.ts'
import { align4, END_OF_NAMES, NODE, NSEC3_LIST, SETS_FLAG, TABLE, ZONE, ZONE_FLAG, ZONE_STATE } from './layout.ts'
import { chooseNsec3Chain, type Nsec3Chain } from './nsec3-chain.ts'
import { type RecordSets, recordSets } from './record-sets.ts'
import { sortSteps } from './sort-steps.ts'
import { mostBytes, SetsWriter, SIGNED } from './sets.ts'

/** RFC 2181 section 8. */
const LONGEST_TTL = 0x7fff_ffff

export interface CompileOptions {
  readonly space: number
  readonly slot: number
  /** Names that are not here may be asked elsewhere: all, none, or those below these (wire form). */
  readonly fallthrough: boolean | readonly Uint8Array[]
  /** The number of the source when all of the zone comes from one; 0 or nothing otherwise. */
  readonly source?: number
  /** Labels `*` and `any` of a question search (SkyDNS). */
  readonly searches?: boolean
  /** TTLs of records that expire do not count down any further. */
  readonly leastTtl?: number
  /** The zone has only a few records so far: it may use memory that whole zones leave for single names. */
  readonly usesReserve?: boolean
}

/** A zone in the arena: where its record is, and the one extent that holds all of it. */
export interface CompiledZone {
  readonly zone: number
  readonly bytes: number
}

export function compileZone(builder: ZoneBuilder, arena: Arena, options: CompileOptions): CompiledZone {
  return finish(compileZoneSteps(builder, arena, options))
}

/**
 * The same in steps. The builder must not change meanwhile; the arena may grow, which it does in place, and steps that
 * are given up leave nothing behind there.
 */
export function* compileZoneSteps(builder: ZoneBuilder, arena: Arena, options: CompileOptions): Steps<CompiledZone> {
  // A builder that was edited may still know names that lost their records.
  builder.dropEmptyNames()
  const parents = yield* addEmptyNonTerminals(builder)
  const estimate = estimateBytes(builder, options)
  yield
  const start = options.usesReserve === true ? arena.allocate(estimate) : arena.allocateZone(estimate)
  let isDone = false
  try {
    const compiler = new Compiler(builder, arena, start, parents, options)
    const end = yield* compiler.run()
    if (end > start + estimate) throw new RangeError(`zone took ${end - start} bytes, ${estimate} were estimated`)
    arena.shrink(start, estimate, end - start)
    isDone = true
    return { zone: start, bytes: end - start }
  } finally {
    if (!isDone) arena.discard(start, estimate)
  }
}

/** A zone whose file could not be read: known, so that queries get SERVFAIL rather than REFUSED. */
export function compileFailedZone(origin: Uint8Array, arena: Arena, options: CompileOptions): CompiledZone {
  const bytes = zoneRecordBytes(origin.length, options)
  const zone = arena.allocate(bytes)
  writeZoneRecord(arena, zone, origin, options)
  arena.words[(zone >> 2) + ZONE.state] = ZONE_STATE.failed
  return { zone, bytes }
}

/** Makes every ancestor down from the apex a name of its own (RFC 4592 section 2.2.2); returns each name's parent. */
function* addEmptyNonTerminals(builder: ZoneBuilder): Steps<Int32Array> {
  let parents = new Int32Array(builder.nameCount * 2)
  const apexLength = builder.nameLength[APEX]
  // nameCount grows while ancestors are added; each addition is one label nearer to the apex.
  for (let name = 1; name < builder.nameCount; name++) {
    if (name % STEP_SIZE === 0) yield
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
function estimateBytes(builder: ZoneBuilder, options: CompileOptions): number {
  const { nameCount, recordCount } = builder
  let bytes = zoneRecordBytes(builder.origin.length, options) + 64
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

/** The record ends with its name, and the names that fall through where there is a choice. */
function zoneRecordBytes(nameLength: number, { fallthrough }: CompileOptions): number {
  const listed = typeof fallthrough === 'boolean' ? 0 : fallthrough.reduce((sum, { length }) => sum + length, 1)
  return align4(ZONE.name * 4 + nameLength + listed)
}

function writeZoneRecord(arena: Arena, zone: number, origin: Uint8Array, options: CompileOptions): void {
  const { words, bytes } = arena
  const at = zone >> 2
  words[at + ZONE.space] = options.space
  words[at + ZONE.slot] = options.slot
  words[at + ZONE.state] = ZONE_STATE.loaded
  const { fallthrough } = options
  const falls = typeof fallthrough === 'boolean' ? fallthrough : fallthrough.length > 0
  words[at + ZONE.flags] = (falls ? ZONE_FLAG.fallthrough : 0) | (options.searches === true ? ZONE_FLAG.searches : 0)
  words[at + ZONE.source] = options.source ?? 0
  words[at + ZONE.fallthrough] = typeof fallthrough === 'boolean' ? 0 : ZONE.name * 4 + origin.length
  words[at + ZONE.leastTtl] = Math.min(options.leastTtl ?? 0, LONGEST_TTL)
  words[at + ZONE.nameLength] = origin.length
  let labels = 0
  for (let i = 0; origin[i] !== 0; i += origin[i] + 1) labels++
  words[at + ZONE.labels] = labels
  for (let i = 0; i < origin.length; i++) bytes[zone + ZONE.name * 4 + i] = LOWER[origin[i]]
  if (typeof fallthrough === 'boolean') return
  let end = zone + ZONE.name * 4 + origin.length
  for (const name of fallthrough) for (const byte of name) bytes[end++] = LOWER[byte]
  bytes[end] = END_OF_NAMES
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
  readonly #options: CompileOptions
  #at: number
  #flags = 0
  readonly #nsecOwners: number[] = []
  readonly #nsec3Owners: number[] = []

  constructor(builder: ZoneBuilder, arena: Arena, start: number, parents: Int32Array, options: CompileOptions) {
    this.#builder = builder
    this.#arena = arena
    this.#words = arena.words
    this.#bytes = arena.bytes
    this.#zone = start
    this.#parents = parents
    this.#nodes = new Int32Array(builder.nameCount)
    this.#writer = new SetsWriter(builder, arena)
    this.#options = options
    this.#at = start + zoneRecordBytes(builder.origin.length, options)
  }

  /** Returns the end of what was written. */
  *run(): Steps<number> {
    const { nameCount } = this.#builder
    writeZoneRecord(this.#arena, this.#zone, this.#builder.origin, this.#options)
    const pace = new Pace()
    for (let name = 0; name < nameCount; name++) {
      const start = this.#at
      this.#writeNode(name, this.#isCrowded(name) ? yield* recordSets(this.#builder, name, false) : undefined)
      if (pace.isDue(this.#at - start)) yield
    }
    yield* this.#link()
    const record = this.#zone >> 2
    const table = yield* this.#writeTable()
    this.#words[record + ZONE.apex] = this.#nodes[APEX]
    this.#words[record + ZONE.table] = table
    // Only signatures are of interest, which most zones do not have.
    const isSigned = this.#builder.hasSignature(APEX, TYPE.SOA)
    const sets: RecordSets = isSigned ? yield* recordSets(this.#builder, APEX, false) : new Map()
    this.#words[record + ZONE.negative] = this.#place(this.#writer.writeNegative(this.#at, sets))
    yield* this.#writeProofs(record)
    this.#words[record + ZONE.flags] |= this.#flags
    this.#words[record + ZONE.serial] = this.#builder.serial
    return this.#at
  }

  /** The chain that proves what does not exist. Without signatures it proves nothing (RFC 4035 section 2.2). */
  *#writeProofs(record: number): Steps<void> {
    const hasNsec = this.#builder.findRecord(APEX, TYPE.NSEC) >= 0
    if (hasNsec || this.#nsec3Owners.length > 0) this.#flags |= ZONE_FLAG.chained
    if (!this.#builder.hasSignature(APEX, TYPE.SOA)) return
    if (hasNsec) {
      this.#flags |= ZONE_FLAG.nsec
      const order = yield* this.#writeOrder()
      this.#words[record + ZONE.order] = order
    }
    const chain = yield* chooseNsec3Chain(this.#builder, this.#nsec3Owners)
    if (chain === undefined) return
    this.#flags |= ZONE_FLAG.nsec3
    const list = yield* this.#writeNsec3(chain)
    this.#words[record + ZONE.nsec3] = list
  }

  /** A name with so many records that putting them together takes more than a step. */
  #isCrowded(name: number): boolean {
    const { firstRecord, nextRecord } = this.#builder
    let count = 0
    for (let r = firstRecord[name]; r >= 0 && count <= STEP_SIZE; r = nextRecord[r]) count++
    return count > STEP_SIZE
  }

  #writeNode(name: number, recordsOf: RecordSets | undefined): void {
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
    const { sets, flags, end } = this.#writer.write(name, this.#at, 0, recordsOf)
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
  *#link(): Steps<void> {
    const builder = this.#builder
    const words = this.#words
    for (let name = 1; name < builder.nameCount; name++) {
      if (name % STEP_SIZE === 0) yield
      const parent = this.#nodes[this.#parents[name]]
      words[(this.#nodes[name] >> 2) + NODE.parent] = parent
      words[(parent >> 2) + NODE.children]++
      const at = builder.nameOffset[name]
      if (builder.nameBytes[at] === 1 && builder.nameBytes[at + 1] === 0x2a)
        words[(parent >> 2) + NODE.wildcard] = this.#nodes[name]
    }
  }

  *#writeTable(): Steps<number> {
    const { nameCount, nameHash } = this.#builder
    let slots = 8
    while (slots * 2 < nameCount * 3) slots *= 2
    const table = this.#at
    const at = table >> 2
    this.#at += (TABLE.slots + slots * 2) * 4
    this.#words[at + TABLE.mask] = slots - 1
    this.#words[at + TABLE.used] = nameCount
    const hidden = new Uint8Array(this.#nsec3Owners.length > 0 ? nameCount : 0)
    for (const name of this.#nsec3Owners) hidden[name] = 1
    for (let name = 0; name < nameCount; name++) {
      if (name % STEP_SIZE === 0) yield
      // The hashed names of NSEC3 do not exist for questions (RFC 5155 section 7.2.8).
      if (name !== APEX && hidden[name] === 1) continue
      let slot = spread(nameHash[name], slots - 1)
      while (this.#words[at + TABLE.slots + slot * 2 + 1] !== 0) slot = (slot + 1) & (slots - 1)
      this.#words[at + TABLE.slots + slot * 2] = nameHash[name]
      this.#words[at + TABLE.slots + slot * 2 + 1] = this.#nodes[name]
    }
    return table
  }

  *#writeOrder(): Steps<number> {
    const builder = this.#builder
    const owners = this.#nsecOwners
    yield* sortSteps(owners, (a, b) => compareNames(builder.name(a), builder.name(b)))
    const order = this.#at
    this.#at += (1 + owners.length) * 4
    this.#words[order >> 2] = owners.length
    for (let i = 0; i < owners.length; i++) this.#words[(order >> 2) + 1 + i] = this.#nodes[owners[i]]
    return order
  }

  /** The chain in the order of its hashes. */
  *#writeNsec3({ parameters: chosen, entries }: Nsec3Chain): Steps<number> {
    const saltLength = chosen[4]
    const list = this.#at
    const at = list >> 2
    this.#words[at + NSEC3_LIST.count] = entries.length
    this.#words[at + NSEC3_LIST.iterations] = (chosen[2] << 8) | chosen[3]
    this.#words[at + NSEC3_LIST.saltLength] = saltLength
    this.#bytes.set(chosen.subarray(5, 5 + saltLength), (at + NSEC3_LIST.salt) * 4)
    for (const [i, { name, hash }] of entries.entries()) {
      if (i % STEP_SIZE === 0) yield
      const entry = at + NSEC3_LIST.entries + i * NSEC3_LIST.stride
      this.#words.set(hash, entry)
      this.#words[entry + NSEC3_LIST.node] = this.#nodes[name]
    }
    this.#at += (NSEC3_LIST.entries + entries.length * NSEC3_LIST.stride) * 4
    return list
  }
}
