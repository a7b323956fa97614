// Puts edits of a text into the records and the index made from it, and takes them back when the zone they make is
// refused. What the index knows of the text itself changes only once the zone is accepted.

import type { ZoneFileProblem } from '../dns/zonefile/problem.ts'
import type { ZoneBuilder } from '../zone/build.ts'
import { moveLines, type RecordRows, replaceRecords } from '../zone/replace-records.ts'
import type { TextEdit } from './zone-text-edits.ts'
import type { Setting, ZoneTextIndex } from './zone-text-index.ts'

/** Returns the records that were replaced, by edit. */
export function applyEdits(zone: ZoneBuilder, edits: readonly TextEdit[]): RecordRows[] {
  // From the last to the first, so that the numbers of records in the edits stay right.
  const replaced = edits.toReversed().map(({ from, to, rows }) => replaceRecords(zone, from, to, rows))
  forEachRest(edits, zone.recordCount, (from, to, { movedLines }) => moveLines(zone, from, to, movedLines))
  return replaced.reverse()
}

export function revertEdits(zone: ZoneBuilder, edits: readonly TextEdit[], replaced: readonly RecordRows[]): void {
  forEachRest(edits, zone.recordCount, (from, to, { movedLines }) => moveLines(zone, from, to, -movedLines))
  for (const [i, { from, rows }] of edits.entries()) replaceRecords(zone, from, from + rows.count, replaced[i])
}

/** Names whose records differ between what was replaced and what replaced it. */
export function touchedNames(
  zone: ZoneBuilder,
  edits: readonly TextEdit[],
  replaced: readonly RecordRows[],
): Set<number> {
  const touched = new Set<number>()
  for (const [i, { rows }] of edits.entries()) {
    const old = replaced[i]
    const shorter = Math.min(old.count, rows.count)
    let head = 0
    while (head < shorter && isSame(zone, old, head, rows, head)) head++
    let tail = 0
    while (tail < shorter - head && isSame(zone, old, old.count - tail - 1, rows, rows.count - tail - 1)) tail++
    for (const name of old.name.slice(head, old.count - tail)) touched.add(name)
    for (const name of rows.name.slice(head, rows.count - tail)) touched.add(name)
  }
  return touched
}

/** Makes the index one of the new text, whose records are applied already. */
export function commitEdits(index: ZoneTextIndex, text: Buffer, edits: readonly TextEdit[]): void {
  index.problems = mergedProblems(index.problems, edits)
  index.settings = mergedSettings(index.settings, edits)
  const { recordCount } = index.builder
  let count = recordCount
  for (const { from, to, rows } of edits) count += to - from - rows.count
  index.reserve(recordCount)
  const { starts } = index
  for (const edit of edits.toReversed()) {
    const end = edit.from + edit.rows.count
    if (end !== edit.to) starts.copyWithin(end, edit.to, count)
    starts.set(edit.starts, edit.from)
    count += end - edit.to
  }
  forEachRest(edits, recordCount, (from, to, { movedBytes }) => {
    if (movedBytes !== 0) for (let r = from; r < to; r++) starts[r] += movedBytes
  })
  index.text = text
}

/** The reader's problems with the new text, in order of lines. */
export function mergedProblems(known: readonly ZoneFileProblem[], edits: readonly TextEdit[]): ZoneFileProblem[] {
  const merged: ZoneFileProblem[] = []
  let endLine = 0
  let movedLines = 0
  const keep = (before: number) => {
    for (const problem of known)
      if (problem.line >= endLine && problem.line < before)
        merged.push(movedLines === 0 ? problem : { ...problem, line: problem.line + movedLines })
  }
  for (const edit of edits) {
    keep(edit.firstLine)
    merged.push(...edit.problems)
    endLine = edit.endLine
    movedLines = edit.movedLines
  }
  keep(Infinity)
  return merged
}

/** A setting is made by the entry before it. */
function mergedSettings(known: readonly Setting[], edits: readonly TextEdit[]): Setting[] {
  const merged: Setting[] = []
  let next = 0
  let movedBytes = 0
  const keep = (last: number) => {
    for (; next < known.length && known[next].at <= last; next++) {
      known[next].at += movedBytes
      merged.push(known[next])
    }
  }
  for (const edit of edits) {
    keep(edit.start)
    merged.push(...edit.settings)
    while (next < known.length && known[next].at <= edit.end) next++
    movedBytes = edit.movedBytes
  }
  keep(Infinity)
  return merged
}

/** Calls with the new records between an edit and the next one. */
function forEachRest(
  edits: readonly TextEdit[],
  recordCount: number,
  visit: (from: number, to: number, edit: TextEdit) => void,
): void {
  let grown = 0
  for (const [i, edit] of edits.entries()) {
    const end = edit.from + grown + edit.rows.count
    grown += edit.rows.count - (edit.to - edit.from)
    visit(end, i + 1 < edits.length ? edits[i + 1].from + grown : recordCount, edit)
  }
}

function isSame(zone: ZoneBuilder, a: RecordRows, i: number, b: RecordRows, j: number): boolean {
  const length = a.rdataLength[i]
  if (a.name[i] !== b.name[j] || a.type[i] !== b.type[j] || a.ttl[i] !== b.ttl[j] || length !== b.rdataLength[j])
    return false
  const { rdataBytes } = zone
  for (let k = 0; k < length; k++)
    if (rdataBytes[a.rdataOffset[i] + k] !== rdataBytes[b.rdataOffset[j] + k]) return false
  return true
}
