// Edits the records of a zone: a run of them becomes another one. Afterwards rows and chains are what they would be
// had the zone been read that way, but names keep their numbers and nothing is read again.

import type { ZoneBuilder } from './build.ts'

/** Records outside the columns of a zone. Their names and rdata are in the zone's builder already. */
export class RecordRows {
  readonly name: number[] = []
  readonly type: number[] = []
  readonly ttl: number[] = []
  readonly line: number[] = []
  readonly rdataOffset: number[] = []
  readonly rdataLength: number[] = []

  get count(): number {
    return this.name.length
  }

  add(name: number, type: number, ttl: number, line: number, rdataOffset: number, rdataLength: number): void {
    this.name.push(name)
    this.type.push(type)
    this.ttl.push(ttl)
    this.line.push(line)
    this.rdataOffset.push(rdataOffset)
    this.rdataLength.push(rdataLength)
  }
}

/** A name's chain around the run: its last record before it, and its first one behind it (-1: none). */
interface Gap {
  tail: number
  readonly next: number
}

/** The records [from, to) become `rows`; returns what they were, which undoes it. */
export function replaceRecords(zone: ZoneBuilder, from: number, to: number, rows: RecordRows): RecordRows {
  const removed = new RecordRows()
  for (let r = from; r < to; r++) {
    const { recordName, recordType, recordTtl, recordLine, rdataOffset, rdataLength } = zone
    removed.add(recordName[r], recordType[r], recordTtl[r], recordLine[r], rdataOffset[r], rdataLength[r])
  }
  const grown = rows.count - removed.count
  const gaps = new Map<number, Gap>()
  for (const name of removed.name) if (!gaps.has(name)) gaps.set(name, gapOf(zone, name, from, to, grown))
  for (const name of rows.name) if (!gaps.has(name)) gaps.set(name, gapOf(zone, name, from, to, grown))
  if (grown !== 0) moveRows(zone, to, grown)
  for (let i = 0; i < rows.count; i++) {
    const record = from + i
    zone.recordName[record] = rows.name[i]
    zone.recordType[record] = rows.type[i]
    zone.recordTtl[record] = rows.ttl[i]
    zone.recordLine[record] = rows.line[i]
    zone.rdataOffset[record] = rows.rdataOffset[i]
    zone.rdataLength[record] = rows.rdataLength[i]
    append(zone, rows.name[i], gaps.get(rows.name[i])!, record)
  }
  for (const [name, gap] of gaps) {
    if (gap.next < 0) zone.lastRecord[name] = gap.tail
    append(zone, name, gap, gap.next)
  }
  return removed
}

/** The records [from, to) are so many lines further down. */
export function moveLines(zone: ZoneBuilder, from: number, to: number, lines: number): void {
  if (lines === 0) return
  const { recordLine } = zone
  for (let r = from; r < to; r++) recordLine[r] += lines
}

function gapOf(zone: ZoneBuilder, name: number, from: number, to: number, grown: number): Gap {
  let tail = -1
  for (let r = zone.firstRecord[name]; r >= 0; r = zone.nextRecord[r]) {
    if (r >= to) return { tail, next: r + grown }
    if (r < from) tail = r
  }
  return { tail, next: -1 }
}

function append(zone: ZoneBuilder, name: number, gap: Gap, record: number): void {
  if (gap.tail < 0) zone.firstRecord[name] = record
  else zone.nextRecord[gap.tail] = record
  gap.tail = record
}

/** Moves the rows from `from` on by `by`, and every reference to them. */
function moveRows(zone: ZoneBuilder, from: number, by: number): void {
  const count = zone.recordCount
  zone.reserveRecords(count + by)
  zone.recordCount = count + by
  const { firstRecord, lastRecord, nextRecord, nameCount } = zone
  for (const column of zone.recordColumns()) column.copyWithin(from + by, from, count)
  const end = count + by
  for (let r = 0; r < end; r++) if (nextRecord[r] >= from) nextRecord[r] += by
  for (let name = 0; name < nameCount; name++) {
    if (firstRecord[name] >= from) firstRecord[name] += by
    if (lastRecord[name] >= from) lastRecord[name] += by
  }
}
