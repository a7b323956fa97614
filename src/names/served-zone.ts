// One zone of the catalog and what is in service of it. Up to two kinds of sources make it up: at most one text that is
// a whole zone, and parts that add names. For each name the source that comes first counts; at the apex, for each type.
//
// A part changes single names in shared memory. So does a text whose changes are known name by name; any other text is
// compiled again, in steps, and takes the old zone's place as a whole.

import { formatName, lowerName, parseName } from '../dns/name.ts'
import type { Steps } from '../dns/steps.ts'
import { TYPE, typeName } from '../dns/types.ts'
import type { Arena } from '../zone/arena.ts'
import { APEX, ZoneBuilder } from '../zone/build.ts'
import { compileFailedZone, compileZoneSteps } from '../zone/compile.ts'
import type { CompiledZone, CompileOptions } from '../zone/compile.ts'
import type { Directory } from '../zone/directory.ts'
import { PLAIN_STYLE, ZoneEdits } from '../zone/edits.ts'
import type { NameStyle } from '../zone/edits.ts'
import { canPatch } from '../zone/patch.ts'
import { fittingRecords } from './fitting-records.ts'
import type { SourceRecord } from './part.ts'
import { soaOf } from './skydns/soa.ts'

/** Names that a source adds to a zone; asked for when names of several sources must be put together. */
export interface PartNames {
  readonly rank: number
  readonly style: NameStyle
  owners(): Iterable<Uint8Array>
  records(owner: Uint8Array): readonly SourceRecord[]
}

/** The records of a text, kept as long as they are needed to put names together. */
export interface TextNames {
  readonly rank: number
  readonly builder: ZoneBuilder
}

/** Gives a zone its serial: `wanted` unless that would go backwards or stand still. */
export type Serials = (wanted: number) => number

/** Hears which names a zone has: single ones that changed, or all of them after a change of the whole. */
export interface NamesListener {
  changed(owner: Uint8Array, records: readonly SourceRecord[]): void
  /** In steps; names may change meanwhile, and be given as they were or as they are. */
  replaced(names: Iterable<NameChange>): Steps<void>
}

/** Names that are switched are written in one step, and readers wait meanwhile; more take a new version of the zone. */
const LARGEST_PATCH = 2000
const LARGEST_PATCH_RECORDS = 4000
/** Names, or records, that are written in one step. */
const NAMES_AT_ONCE = 256

export class ServedZone {
  readonly origin: string
  readonly #wire: Uint8Array
  readonly #apexKey: string
  readonly #arena: Arena
  readonly #directory: Directory
  readonly #options: () => CompileOptions
  readonly #parts: PartNames[] = []
  readonly #listener: NamesListener | undefined
  #text: TextNames | undefined
  #compiled: CompiledZone | undefined
  #serial: number | undefined
  /** A change could not be made, so what is in service lacks more than the next change says. */
  #incomplete = false
  /** What is in service is of an earlier text than the one that was read last. */
  #isBehind = false
  /** While a new version is made: names that have changed since. */
  #coming: Map<string, Uint8Array> | undefined
  #owesNames = false
  readonly #onProblem: (message: string) => void

  constructor(
    origin: string,
    arena: Arena,
    directory: Directory,
    options: () => CompileOptions,
    listener: NamesListener | undefined,
    onProblem: (message: string) => void = () => {},
  ) {
    this.#onProblem = onProblem
    this.origin = origin
    this.#wire = parseName(origin)
    this.#apexKey = keyOf(this.#wire)
    this.#arena = arena
    this.#directory = directory
    this.#options = options
    this.#listener = listener
  }

  /** Undefined while nothing good is in service. */
  get serial(): number | undefined {
    return this.#serial
  }

  /** Signed beforehand: names of parts cannot be added, since the proofs of the text deny them. */
  get isSigned(): boolean {
    return this.#serial !== undefined && this.#compiled !== undefined && !canPatch(this.#arena, this.#compiled)
  }

  /** A source will add names. */
  addPart(part: PartNames): void {
    this.#parts.push(part)
    this.#parts.sort((a, b) => a.rank - b.rank)
  }

  /**
   * Puts a text into service. `touched`: numbers of the names that differ from the text in service, when that is known.
   * Steps that are given up before `onCommit` is called leave everything as it is.
   */
  *setText(
    text: TextNames,
    touched: readonly number[] | undefined,
    serials: Serials,
    onCommit: () => void = () => {},
  ): Steps<void> {
    const { builder } = text
    const isKnown = touched !== undefined && !this.#isBehind
    if (!isKnown || isLargeEdit(builder, touched) || !this.#canPatch() || isSigned(builder)) {
      yield* this.#rebuild(text, serials, onCommit)
      return
    }
    const owners = touched.filter((name) => name !== APEX).map((name) => builder.name(name).slice())
    this.#text = text
    this.#patch(owners, serials(builder.serial))
    onCommit()
  }

  /**
   * Names of a part have changed: all of their records are given, or asked for where several sources have a say. When
   * that takes a new version of the zone, `owesNames` says so.
   */
  setNames(part: PartNames, changes: ReadonlyMap<string, NameChange>, serials: Serials): void {
    const owners = ownersOf(changes)
    for (const owner of this.#coming === undefined ? [] : owners) this.#coming?.set(keyOf(owner), owner)
    if (this.isSigned) return
    if (!this.#canPatch() || isLargeChange(changes)) {
      this.#owesNames = true
      return
    }
    const isAlone = this.#text === undefined && this.#parts.length === 1
    this.#patch(owners, serials(this.#text?.builder.serial ?? 0), isAlone ? { part, changes } : undefined)
  }

  /** Names of parts have changed that only a new version of the zone will have. */
  get owesNames(): boolean {
    return this.#owesNames
  }

  /** A new version of the zone with everything that its sources have. */
  *rebuild(serials: Serials, onCommit: () => void = () => {}): Steps<void> {
    yield* this.#rebuild(this.#text, serials, onCommit)
  }

  /** Lets a text go whose names nobody else adds to. */
  releaseText(): void {
    this.#text = undefined
  }

  /** The text's source has gone: what parts add stays. */
  *dropText(serials: Serials, onCommit: () => void = () => {}): Steps<void> {
    yield* this.#rebuild(undefined, serials, onCommit)
  }

  /** Known but without any good content: queries get SERVFAIL. */
  fail(): void {
    if (this.#compiled !== undefined) return
    this.#publish(compileFailedZone(this.#wire, this.#arena, this.#options()))
  }

  /** Takes the zone out of service; the steps tell whoever hears of its names. */
  remove(): Steps<void> | undefined {
    if (this.#compiled !== undefined) this.#directory.remove(this.#compiled.zone)
    this.#compiled = undefined
    this.#serial = undefined
    return this.#listener?.replaced([])
  }

  /** Whether what is in service can become what the sources say by changing the names they tell about. */
  #canPatch(): boolean {
    return this.#serial !== undefined && !this.#incomplete && !this.isSigned
  }

  /**
   * A new version beside the old one: the text, then what parts add to it, then what they have changed meanwhile. Into
   * service as a whole. The old version follows its parts until then.
   */
  *#rebuild(text: TextNames | undefined, serials: Serials, onCommit: () => void): Steps<void> {
    const base = text?.builder ?? this.#empty(0)
    const coming = new Map<string, Uint8Array>()
    this.#coming = coming
    this.#isBehind = true
    let compiled: CompiledZone | undefined
    try {
      compiled = yield* compileZoneSteps(base, this.#arena, {
        ...this.#options(),
        usesReserve: text === undefined,
      })
      const takesNames = canPatch(this.#arena, compiled)
      if (takesNames) yield* this.#addParts(compiled, coming, text)
      const serial = serials(text?.builder.serial ?? 0)
      if (takesNames && (this.#parts.length > 0 || base.serial !== serial))
        this.#directory.patch(compiled, this.#edits([...coming.values()], serial, undefined, text))
      const version = compiled
      compiled = undefined
      this.#commit(version, text, takesNames ? serial : base.serial)
    } finally {
      if (compiled !== undefined) this.#directory.discard(compiled)
      if (this.#coming === coming) this.#coming = undefined
    }
    onCommit()
    if (this.#listener !== undefined) yield* this.#listener.replaced(this.#names(base))
  }

  #commit(version: CompiledZone, text: TextNames | undefined, serial: number): void {
    this.#publish(version)
    this.#text = text
    this.#serial = serial
    this.#incomplete = false
    this.#isBehind = false
    this.#owesNames = false
  }

  /** What parts have, and what they change meanwhile, but for a few names. */
  *#addParts(compiled: CompiledZone, coming: Map<string, Uint8Array>, text: TextNames | undefined): Steps<void> {
    for (const part of this.#parts) yield* this.#addNames(compiled, part.owners(), text)
    for (let owners = takeMany(coming); owners.length > 0; owners = takeMany(coming))
      yield* this.#addNames(compiled, owners, text)
  }

  /** Writes names of parts into a version that is not in service yet. */
  *#addNames(compiled: CompiledZone, owners: Iterable<Uint8Array>, text: TextNames | undefined): Steps<void> {
    const isAlone = text === undefined && this.#parts.length === 1
    let edits = new ZoneEdits(this.#wire, isAlone)
    for (const owner of owners) {
      if (keyOf(owner) === this.#apexKey) continue
      this.#addEdit(edits, owner, this.#effective(owner, text))
      if (edits.builder.nameCount <= NAMES_AT_ONCE && edits.builder.recordCount <= NAMES_AT_ONCE) continue
      this.#directory.patch(compiled, edits)
      edits = new ZoneEdits(this.#wire, isAlone)
      yield
    }
    if (edits.builder.nameCount > 1) this.#directory.patch(compiled, edits)
  }

  #publish(compiled: CompiledZone): void {
    this.#directory.publish(compiled)
    this.#compiled = compiled
  }

  #patch(owners: readonly Uint8Array[], serial: number, alone?: PartChange): void {
    if (this.#compiled === undefined) return
    this.#incomplete = true
    this.#directory.patch(this.#compiled, this.#edits(owners, serial, alone, this.#text))
    this.#serial = serial
    this.#incomplete = false
    if (this.#listener === undefined) return
    for (const owner of [this.#wire, ...owners]) this.#listener.changed(owner, this.#recordsOf(owner))
  }

  #edits(
    owners: readonly Uint8Array[],
    serial: number,
    alone: PartChange | undefined,
    text: TextNames | undefined,
  ): ZoneEdits {
    const edits = new ZoneEdits(this.#wire, alone !== undefined)
    for (const owner of owners) {
      const key = keyOf(owner)
      if (key === this.#apexKey) continue
      const wanted =
        alone === undefined
          ? this.#effective(owner, text)
          : { style: alone.part.style, records: alone.changes.get(key)?.records ?? [] }
      this.#addEdit(edits, owner, wanted)
    }
    this.#addEdit(edits, this.#wire, this.#apex(serial, text))
    return edits
  }

  #addEdit(edits: ZoneEdits, owner: Uint8Array, { style, records }: EffectiveName): void {
    edits.name(owner, style)
    for (const { type, ttl, rdata, expiresAt } of fittingRecords(records, (type, left) =>
      this.#tellCut(owner, type, left),
    ))
      edits.add(owner, type, ttl, rdata, expiresAt)
  }

  #tellCut(owner: Uint8Array, type: number, left: number): void {
    const what = `${left} of the ${typeName(type)} records of "${formatName(owner)}"`
    this.#onProblem(`Cannot serve ${what}: they do not fit into a DNS message; they are left out`)
  }

  #recordsOf(owner: Uint8Array): readonly SourceRecord[] {
    const isApex = keyOf(owner) === this.#apexKey
    return (isApex ? this.#apex(this.#serial ?? 0, this.#text) : this.#effective(owner, this.#text)).records
  }

  /** What a name has in the end: all from the first source that has any. */
  #effective(owner: Uint8Array, text: TextNames | undefined): EffectiveName {
    const ofText = text === undefined ? [] : recordsOf(text.builder, owner)
    for (const part of this.#parts) {
      if (text !== undefined && ofText.length > 0 && text.rank < part.rank) break
      const records = part.records(owner)
      if (records.length > 0) return { style: part.style, records }
    }
    return { style: PLAIN_STYLE, records: ofText }
  }

  /** The apex has what it must have, of each type from the first source with any, and the serial of the moment. */
  #apex(serial: number, text: TextNames | undefined): EffectiveName {
    const contributions = this.#parts.map((part) => {
      return { rank: part.rank, style: part.style, records: part.records(this.#wire) }
    })
    if (text !== undefined)
      contributions.push({ rank: text.rank, style: PLAIN_STYLE, records: recordsOf(text.builder, this.#wire) })
    contributions.sort((a, b) => a.rank - b.rank)
    const byType = new Map<number, readonly SourceRecord[]>()
    let services = false
    for (const { style, records } of contributions) {
      services ||= style.services && records.length > 0
      for (const [type, set] of Map.groupBy(records, (record) => record.type))
        if (!byType.has(type)) byType.set(type, set)
    }
    const [soa = soaOf(this.origin, serial)] = byType.get(TYPE.SOA) ?? []
    byType.set(TYPE.SOA, [{ ...soa, rdata: withSerial(soa.rdata, serial) }])
    return { style: { ...PLAIN_STYLE, services }, records: [...byType.values()].flat() }
  }

  #empty(serial: number): ZoneBuilder {
    const builder = new ZoneBuilder(this.#wire)
    const { type, ttl, rdata } = soaOf(this.origin, serial)
    builder.record(this.#wire, this.#wire.length, type, CLASS_IN, ttl, rdata, rdata.length, 0)
    return builder
  }

  /** Some more than once, when several sources have them. */
  *#names(base: ZoneBuilder): Iterable<NameChange> {
    for (let name = 0; name < base.nameCount; name++) {
      if (base.firstRecord[name] < 0) continue
      const owner = base.name(name).slice()
      yield { owner, records: this.#recordsOf(owner) }
    }
    if (this.isSigned) return
    for (const part of this.#parts) for (const owner of part.owners()) yield { owner, records: this.#recordsOf(owner) }
  }
}

const CLASS_IN = 1

export interface NameChange {
  readonly owner: Uint8Array
  readonly records: readonly SourceRecord[]
}

interface EffectiveName {
  readonly style: NameStyle
  readonly records: readonly SourceRecord[]
}

interface PartChange {
  readonly part: PartNames
  readonly changes: ReadonlyMap<string, NameChange>
}

/** Too much to be switched while readers wait. */
function isLargeChange(changes: ReadonlyMap<string, NameChange>): boolean {
  if (changes.size > LARGEST_PATCH) return true
  let count = 0
  for (const { records } of changes.values()) count += records.length
  return count > LARGEST_PATCH_RECORDS
}

/** The same of names of a text. */
function isLargeEdit(builder: ZoneBuilder, names: readonly number[]): boolean {
  if (names.length > LARGEST_PATCH) return true
  let count = 0
  for (const name of names)
    for (let r = builder.firstRecord[name]; r >= 0; r = builder.nextRecord[r])
      if (++count > LARGEST_PATCH_RECORDS) return true
  return false
}

/** All of them, unless they are so few that they can be written with what comes last. */
function takeMany(names: Map<string, Uint8Array>): readonly Uint8Array[] {
  if (names.size <= NAMES_AT_ONCE) return []
  const owners = [...names.values()]
  names.clear()
  return owners
}

function ownersOf(changes: ReadonlyMap<string, NameChange>): Uint8Array[] {
  return Array.from(changes.values(), ({ owner }) => owner)
}

/** Whether the zone will be one whose names are tied together by proofs. */
function isSigned(builder: ZoneBuilder): boolean {
  return (
    builder.findRecord(APEX, TYPE.NSEC) >= 0 || builder.recordType.subarray(0, builder.recordCount).includes(TYPE.NSEC3)
  )
}

/** The records of a name as the builder has them. */
function recordsOf(builder: ZoneBuilder, owner: Uint8Array): SourceRecord[] {
  const name = builder.findName(owner, 0, owner.length)
  const records: SourceRecord[] = []
  if (name < 0) return records
  for (let r = builder.firstRecord[name]; r >= 0; r = builder.nextRecord[r])
    records.push({ type: builder.recordType[r], ttl: builder.recordTtl[r], rdata: builder.rdata(r) })
  return records
}

/** The five numbers at the end of a SOA begin with the serial. */
function withSerial(rdata: Uint8Array, serial: number): Uint8Array {
  const copy = rdata.slice()
  new DataView(copy.buffer).setUint32(copy.length - 20, serial)
  return copy
}

/** Equal for names that are the same to DNS. */
export function keyOf(owner: Uint8Array): string {
  return Buffer.from(lowerName(owner)).toString('latin1')
}
