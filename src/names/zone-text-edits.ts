// Reads what is new in a text: each hunk is widened to whole entries and read with what the reader remembered there.
// It ends at the first old record behind it where the reader remembers again what it did then; from there on the rest
// of the text means what it meant before. Whatever else can happen leads to reading the whole text.

import { finish } from '../dns/steps.ts'
import { Tokens } from '../dns/tokens.ts'
import { MAX_PROBLEMS, UNKNOWN_TTL, ZoneFileReader } from '../dns/zonefile/parse.ts'
import { Problems, type ZoneFileProblem } from '../dns/zonefile/problem.ts'
import { byteOrderMarkLength } from '../dns/zonefile/window.ts'
import { RecordRows } from '../zone/replace-records.ts'
import type { Hunk } from './zone-text-hunks.ts'
import { isSpelled, noteSetting, type Place, type Setting, type ZoneTextIndex } from './zone-text-index.ts'

/** So many can always be read once more. */
const FEW_RECORDS = 64

export interface TextEdit {
  /** The old records [from, to), the old bytes [start, end) and the old lines [firstLine, endLine) that are replaced. */
  readonly from: number
  readonly to: number
  readonly start: number
  readonly end: number
  readonly firstLine: number
  readonly endLine: number
  /** What replaces them, with lines and bytes of the new text. */
  readonly rows: RecordRows
  readonly starts: readonly number[]
  readonly settings: readonly Setting[]
  readonly problems: readonly ZoneFileProblem[]
  /** How far everything up to the next edit is moved. */
  readonly movedBytes: number
  readonly movedLines: number
}

/**
 * The edits in order, or undefined when the whole text has to be read. Names and rdata of new records are in the
 * builder already; its records are untouched.
 */
export function readEdits(
  index: ZoneTextIndex,
  text: Buffer,
  hunks: readonly Hunk[],
  label: string,
): TextEdit[] | undefined {
  return new EditReader(index, text, hunks, label).read()
}

class EditReader {
  readonly #index: ZoneTextIndex
  readonly #text: Buffer
  readonly #hunks: readonly Hunk[]
  readonly #tokens: Tokens
  readonly #problems = new Problems(MAX_PROBLEMS)
  readonly #reader: ZoneFileReader
  readonly #mostRecords: number
  #records = 0
  #hunk = 0
  #mixedCase = false
  #rows = new RecordRows()
  #starts: number[] = []

  constructor(index: ZoneTextIndex, text: Buffer, hunks: readonly Hunk[], label: string) {
    this.#index = index
    this.#text = text
    this.#hunks = hunks
    this.#tokens = new Tokens(text)
    this.#mostRecords = Math.max(FEW_RECORDS, Math.floor(index.builder.recordCount / 3))
    const options = { file: label, origin: index.builder.origin, maxRecords: this.#mostRecords + 1 }
    this.#reader = new ZoneFileReader(options, this, this.#problems)
  }

  read(): TextEdit[] | undefined {
    const edits: TextEdit[] = []
    let movedLines = 0
    for (; this.#hunk < this.#hunks.length; this.#hunk++) {
      const edit = this.#readEdit(movedLines)
      if (edit === undefined) return undefined
      edits.push(edit)
      movedLines = edit.movedLines
    }
    return edits
  }

  /** From the sink of records. */
  record(
    owner: Uint8Array,
    ownerLength: number,
    type: number,
    _klass: number,
    ttl: number,
    rdata: Uint8Array,
    rdataLength: number,
    line: number,
  ): void {
    const { builder } = this.#index
    const name = builder.internName(owner, 0, ownerLength)
    this.#mixedCase ||= !isSpelled(builder, name, owner)
    this.#rows.add(name, type, ttl, line, builder.addRdata(rdata, rdataLength), rdataLength)
    this.#starts.push(this.#tokens.entryAt)
    this.#records++
  }

  #readEdit(movedLines: number): TextEdit | undefined {
    const index = this.#index
    const { recordLine } = index.builder
    const { oldStart, newStart } = this.#hunks[this.#hunk]
    const begin = this.#beginning(oldStart)
    const firstLine = begin.at === 0 ? 1 : recordLine[begin.record]
    const rows = (this.#rows = new RecordRows())
    const starts: number[] = (this.#starts = [])
    const settings: Setting[] = []
    const problemsBefore = this.#problems.list.length
    let setting = index.settingAt(begin.at)
    this.#reader.resume(index.stateBefore(begin))
    this.#tokens.nextLine = firstLine + movedLines
    let at = begin.at === 0 ? byteOrderMarkLength(this.#text, this.#text.length) : begin.at + newStart - oldStart
    let end = index.placeFrom(this.#hunks[this.#hunk].oldEnd)
    for (;;) {
      end = this.#absorbHunks(end)
      const target = end.at + this.#moved
      if (at === target && this.#remembers(end)) break
      if (at >= target) end = index.placeFrom(end.at + 1)
      else {
        at = this.#tokens.readEntry(at, this.#text.length, true)
        const more = this.#reader.readEntry(this.#tokens)
        if (more !== undefined) finish(more)
        if (this.#mixedCase || this.#records > this.#mostRecords || this.#problems.list.some(isError)) return undefined
        setting = noteSetting(settings, setting, this.#reader, at)
      }
    }
    const atEnd = end.record === index.builder.recordCount
    const endLine = atEnd ? Infinity : recordLine[end.record]
    return {
      from: begin.record,
      to: end.record,
      start: begin.at,
      end: end.at,
      firstLine,
      endLine,
      rows,
      starts,
      settings,
      problems: this.#problems.list.slice(problemsBefore),
      movedBytes: this.#moved,
      movedLines: atEnd ? 0 : this.#tokens.nextLine - endLine,
    }
  }

  /** The entry that a byte of the old text belongs to, or is behind. */
  #beginning(at: number): Place {
    const index = this.#index
    const behind = index.recordFrom(at + 1)
    return behind === 0 ? { record: 0, at: 0 } : index.placeFrom(index.starts[behind - 1])
  }

  /** Between hunks the text is the old one, so many bytes further on. */
  get #moved(): number {
    const { oldEnd, newEnd } = this.#hunks[this.#hunk]
    return newEnd - oldEnd
  }

  /** An edit that does not end before the next hunk begins goes on to the end of that one. */
  #absorbHunks(place: Place): Place {
    const index = this.#index
    let end = place
    while (this.#hunk + 1 < this.#hunks.length) {
      const next = this.#hunks[this.#hunk + 1]
      if (end.record < index.builder.recordCount && end.at <= next.oldStart) break
      this.#hunk++
      end = index.placeFrom(next.oldEnd)
    }
    return end
  }

  /** Whether the reader is in the state it was in at this place of the old text. */
  #remembers(place: Place): boolean {
    if (place.record === this.#index.builder.recordCount) return true
    const old = this.#index.stateBefore(place)
    const { origin, owner, defaultTtl, lastTtl, warnedOfLastTtl } = this.#reader
    return (
      defaultTtl === old.defaultTtl &&
      (defaultTtl !== UNKNOWN_TTL || lastTtl === old.lastTtl) &&
      warnedOfLastTtl === old.warnedOfLastTtl &&
      Buffer.compare(origin, old.origin) === 0 &&
      Buffer.compare(owner, old.owner) === 0
    )
  }
}

function isError({ severity }: ZoneFileProblem): boolean {
  return severity === 'error'
}
