// What is known of a text that has been read: the records in it, where the entry of each one starts, and what the
// reader remembered there. With it, reading can begin anew at any record.

import { Problems, type ZoneFileProblem } from '../dns/zonefile/problem.ts'
import {
  MAX_PROBLEMS,
  type ParseOptions,
  UNKNOWN_TTL,
  ZoneFileReader,
  type ReaderState,
} from '../dns/zonefile/parse.ts'
import type { RdataBuffer } from '../dns/rdata/field.ts'
import { Pace, type Steps } from '../dns/steps.ts'
import { generatedProblem, MAX_ZONE_BYTES } from '../dns/zonefile/limits.ts'
import { byteOrderMarkLength } from '../dns/zonefile/window.ts'
import { Tokens } from '../dns/tokens.ts'
import { APEX, ZoneBuilder } from '../zone/build.ts'
import { FEW_ROWS, grow } from '../zone/name-table.ts'

/** What directives have set, for entries from byte `at` on. */
export interface Setting {
  at: number
  readonly origin: Uint8Array
  readonly defaultTtl: number
  readonly warnedOfLastTtl: boolean
}

const NO_OWNER = new Uint8Array(0)

export interface TextLimits {
  /** How many records the zone may have; no limit unless given. */
  readonly maxRecords?: number
  /** How many bytes of names and rdata; MAX_ZONE_BYTES unless given. */
  readonly maxBytes?: number
  /** Memory that texts share while they are read: 64 kB for each of many small ones would take longer than reading them. */
  readonly rdata?: RdataBuffer
}

/** Where the entry of a record starts; behind the last record it is the end of the text. */
export interface Place {
  readonly record: number
  readonly at: number
}

export class ZoneTextIndex {
  readonly builder: ZoneBuilder
  text: Buffer
  /** Start of each record's entry, in order; the records of a $GENERATE share one. */
  starts: Uint32Array<ArrayBuffer> = new Uint32Array(FEW_ROWS)
  /** In order; the first is for the beginning of the text. */
  settings: Setting[]
  /** Everything the reader had to say, in order of lines. */
  problems: readonly ZoneFileProblem[] = []
  /** Some name is written in different letter case: which one counts depends on all of the text. */
  mixedCase = false

  constructor(text: Buffer, origin: Uint8Array, maxBytes: number = MAX_ZONE_BYTES) {
    this.text = text
    this.builder = new ZoneBuilder(origin, maxBytes)
    this.settings = [{ at: 0, origin, defaultTtl: UNKNOWN_TTL, warnedOfLastTtl: false }]
  }

  static *read(text: Buffer, origin: Uint8Array, label: string, limits: TextLimits): Steps<ZoneTextIndex> {
    const { maxRecords = Infinity, maxBytes, rdata } = limits
    const index = new ZoneTextIndex(text, origin, maxBytes)
    const tooMany = yield* generatedProblem(text, label)
    if (tooMany === undefined)
      yield* index.#read({ file: label, origin, maxRecords, ...(rdata !== undefined && { rdata }) })
    else index.problems = [tooMany]
    return index
  }

  *#read(options: ParseOptions): Steps<void> {
    const { text, builder } = this
    const tokens = new Tokens(text)
    const problems = new Problems(MAX_PROBLEMS)
    const sink = {
      record: (
        owner: Uint8Array,
        ownerLength: number,
        type: number,
        klass: number,
        ttl: number,
        rdata: Uint8Array,
        rdataLength: number,
        line: number,
      ) => {
        const record = builder.recordCount
        builder.record(owner, ownerLength, type, klass, ttl, rdata, rdataLength, line)
        this.reserve(builder.recordCount)
        this.starts[record] = tokens.entryAt
        this.mixedCase ||= !isSpelled(builder, builder.recordName[record], owner)
      },
    }
    const reader = new ZoneFileReader(options, sink, problems)
    const pace = new Pace()
    for (let at = byteOrderMarkLength(text, text.length); at < text.length && !problems.full; ) {
      const start = at
      at = tokens.readEntry(at, text.length, true)
      const more = reader.readEntry(tokens)
      if (more !== undefined) yield* more
      else if (pace.isDue(at - start)) yield
      noteSetting(this.settings, this.settings[this.settings.length - 1], reader, at)
    }
    this.problems = problems.list
  }

  /** Makes room for the starts of so many records. */
  reserve(records: number): void {
    while (this.starts.length < records) this.starts = new Uint32Array(grow(this.starts, this.starts.length * 2))
  }

  /** The first record that starts at or behind a byte; the number of records when there is none. */
  recordFrom(at: number): number {
    let low = 0
    let high = this.builder.recordCount
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.starts[middle] < at) low = middle + 1
      else high = middle
    }
    return low
  }

  settingAt(at: number): Setting {
    let low = 1
    let high = this.settings.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.settings[middle].at <= at) low = middle + 1
      else high = middle
    }
    return this.settings[low - 1]
  }

  /** The first record that starts at or behind a byte. */
  placeFrom(at: number): Place {
    const record = this.recordFrom(at)
    return { record, at: record < this.builder.recordCount ? this.starts[record] : this.text.length }
  }

  /** What the reader remembered when it came to this place. */
  stateBefore({ record, at }: Place): ReaderState {
    const { builder } = this
    const { origin, defaultTtl, warnedOfLastTtl } = this.settingAt(at)
    // As long as there is no default, a record's TTL is either written there or the last one.
    const lastTtl = record === 0 || defaultTtl !== UNKNOWN_TTL ? UNKNOWN_TTL : builder.recordTtl[record - 1]
    const owner = record === 0 ? NO_OWNER : builder.name(builder.recordName[record - 1])
    return { origin, owner, defaultTtl, lastTtl, warnedOfLastTtl }
  }

  get bytes(): number {
    return this.text.byteLength + this.starts.byteLength + this.builder.bytes
  }
}

/** Whether a name is written as it was at first. The apex is written as the zone is called, whatever the text says. */
export function isSpelled(builder: ZoneBuilder, name: number, owner: Uint8Array): boolean {
  if (name === APEX) return true
  const offset = builder.nameOffset[name]
  const length = builder.nameLength[name]
  for (let i = 0; i < length; i++) if (builder.nameBytes[offset + i] !== owner[i]) return false
  return true
}

/** Adds what the reader's setting is from `at` on, if it has changed. */
export function noteSetting(settings: Setting[], last: Setting, reader: ZoneFileReader, at: number): Setting {
  const { origin, defaultTtl, warnedOfLastTtl } = reader
  if (origin === last.origin && defaultTtl === last.defaultTtl && warnedOfLastTtl === last.warnedOfLastTtl) return last
  const setting = { at, origin, defaultTtl, warnedOfLastTtl }
  settings.push(setting)
  return setting
}
