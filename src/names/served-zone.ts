// One zone of the catalog and what is in service of it. Up to two kinds of sources make it up: at most one text that is
// a whole zone, and parts that add names. For each name the source that comes first counts; at the apex, for each type.
//
// A part changes single names in shared memory. So does a text whose changes are known name by name; any other text is
// compiled anew and takes the old zone's place as a whole.

import { lowerName, parseName } from '../dns/name.ts'
import { TYPE } from '../dns/types.ts'
import type { Arena } from '../zone/arena.ts'
import { APEX, ZoneBuilder } from '../zone/build.ts'
import { compileFailedZone, compileZone } from '../zone/compile.ts'
import type { CompiledZone, CompileOptions } from '../zone/compile.ts'
import type { Directory } from '../zone/directory.ts'
import { PLAIN_STYLE, ZoneEdits } from '../zone/edits.ts'
import type { NameStyle } from '../zone/edits.ts'
import { canPatch } from '../zone/patch.ts'
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
  replaced(names: Iterable<NameChange>): void
}

/** Readers wait while names are switched; so many at once are better put into service as a new zone. */
const LARGEST_PATCH = 10_000

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

  constructor(
    origin: string,
    arena: Arena,
    directory: Directory,
    options: () => CompileOptions,
    listener: NamesListener | undefined,
  ) {
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

  /** Puts a text into service. `touched`: numbers of the names that differ from the text in service, when that is known. */
  setText(text: TextNames, touched: readonly number[] | undefined, serials: Serials): void {
    const { builder } = text
    const serial = serials(builder.serial)
    this.#text = text
    if (touched === undefined || !this.#canPatch() || isSigned(builder)) return this.#compile(builder, serial)
    const owners = touched.filter((name) => name !== APEX).map((name) => builder.name(name).slice())
    this.#patch(owners, serial)
  }

  /** Names of a part have changed: all of their records are given, or asked for where several sources have a say. */
  setNames(part: PartNames, changes: ReadonlyMap<string, NameChange>, serials: Serials): void {
    if (this.isSigned) return
    const serial = serials(this.#text?.builder.serial ?? 0)
    const isAlone = this.#text === undefined && this.#parts.length === 1 && !this.#incomplete
    const alone = isAlone ? { part, changes } : undefined
    if (this.#canPatch() && changes.size <= LARGEST_PATCH) this.#patch(ownersOf(changes), serial, alone)
    else if (this.#canPatch()) this.#compile(this.#text?.builder ?? this.#empty(serial), serial)
    else this.#compile(this.#text?.builder ?? this.#empty(serial), serial, alone)
  }

  /** Lets a text go whose names nobody else adds to. */
  releaseText(): void {
    this.#text = undefined
  }

  /** The text's source has gone: what parts add stays. */
  dropText(serials: Serials): void {
    this.#text = undefined
    const serial = serials(0)
    this.#compile(this.#empty(serial), serial)
  }

  /** Known but without any good content: queries get SERVFAIL. */
  fail(): void {
    if (this.#compiled !== undefined) return
    this.#publish(compileFailedZone(this.#wire, this.#arena, this.#options()))
  }

  remove(): void {
    if (this.#compiled !== undefined) this.#directory.remove(this.#compiled.zone)
    this.#compiled = undefined
    this.#serial = undefined
    this.#listener?.replaced([])
  }

  /** Whether what is in service can become what the sources say by changing the names they tell about. */
  #canPatch(): boolean {
    return this.#serial !== undefined && !this.#incomplete && !this.isSigned
  }

  /** A new version beside the old one: the base, then everything that differs from it, then into service as a whole. */
  #compile(base: ZoneBuilder, serial: number, alone?: PartChange): void {
    this.#incomplete = true
    const compiled = compileZone(base, this.#arena, this.#options())
    const owners = alone === undefined ? this.#partOwners() : ownersOf(alone.changes)
    const changes = (owners.length > 0 || base.serial !== serial) && canPatch(this.#arena, compiled)
    if (changes) this.#directory.patch(compiled, this.#edits(owners, serial, alone))
    this.#publish(compiled)
    this.#serial = changes ? serial : base.serial
    this.#incomplete = false
    this.#listener?.replaced(this.#names(base, changes ? owners : []))
  }

  #partOwners(): Uint8Array[] {
    const owners = new Map<string, Uint8Array>()
    for (const part of this.#parts) for (const owner of part.owners()) owners.set(keyOf(owner), owner)
    return [...owners.values()]
  }

  #publish(compiled: CompiledZone): void {
    this.#directory.publish(compiled)
    this.#compiled = compiled
  }

  #patch(owners: readonly Uint8Array[], serial: number, alone?: PartChange): void {
    if (this.#compiled === undefined) return
    this.#incomplete = true
    this.#directory.patch(this.#compiled, this.#edits(owners, serial, alone))
    this.#serial = serial
    this.#incomplete = false
    if (this.#listener === undefined) return
    for (const owner of [this.#wire, ...owners]) this.#listener.changed(owner, this.#recordsOf(owner))
  }

  #edits(owners: readonly Uint8Array[], serial: number, alone?: PartChange): ZoneEdits {
    const edits = new ZoneEdits(this.#wire, alone !== undefined)
    for (const owner of owners) {
      const key = keyOf(owner)
      if (key === this.#apexKey) continue
      const { style, records } =
        alone === undefined
          ? this.#effective(owner)
          : { style: alone.part.style, records: alone.changes.get(key)?.records ?? [] }
      edits.name(owner, style)
      for (const { type, ttl, rdata, expiresAt } of records) edits.add(owner, type, ttl, rdata, expiresAt)
    }
    const { style, records } = this.#apex(serial)
    edits.name(this.#wire, style)
    for (const { type, ttl, rdata, expiresAt } of records) edits.add(this.#wire, type, ttl, rdata, expiresAt)
    return edits
  }

  #recordsOf(owner: Uint8Array): readonly SourceRecord[] {
    const isApex = keyOf(owner) === this.#apexKey
    return (isApex ? this.#apex(this.#serial ?? 0) : this.#effective(owner)).records
  }

  /** What a name has in the end: all from the first source that has any. */
  #effective(owner: Uint8Array): { style: NameStyle; records: readonly SourceRecord[] } {
    const text = this.#text
    const ofText = text === undefined ? [] : recordsOf(text.builder, owner)
    for (const part of this.#parts) {
      if (text !== undefined && ofText.length > 0 && text.rank < part.rank) break
      const records = part.records(owner)
      if (records.length > 0) return { style: part.style, records }
    }
    return { style: PLAIN_STYLE, records: ofText }
  }

  /** The apex has what it must have, of each type from the first source with any, and the serial of the moment. */
  #apex(serial: number): { style: NameStyle; records: readonly SourceRecord[] } {
    const text = this.#text
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

  *#names(base: ZoneBuilder, owners: readonly Uint8Array[]): Iterable<NameChange> {
    for (let name = 0; name < base.nameCount; name++) {
      const owner = base.name(name).slice()
      if (base.firstRecord[name] >= 0) yield { owner, records: this.#recordsOf(owner) }
    }
    for (const owner of owners) yield { owner, records: this.#recordsOf(owner) }
  }
}

const CLASS_IN = 1

export interface NameChange {
  readonly owner: Uint8Array
  readonly records: readonly SourceRecord[]
}

interface PartChange {
  readonly part: PartNames
  readonly changes: ReadonlyMap<string, NameChange>
}

function ownersOf(changes: ReadonlyMap<string, NameChange>): Uint8Array[] {
  return Array.from(changes.values(), ({ owner }) => owner)
}

/** Whether the zone will be one whose names are tied together by proofs. */
function isSigned(builder: ZoneBuilder): boolean {
  return builder.findRecord(APEX, TYPE.NSEC) >= 0 || builder.findRecord(APEX, TYPE.NSEC3PARAM) >= 0
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
