// Where two versions of a text differ, as ranges of bytes. Made for a few changes in much text: equal stretches are
// passed over by memcmp; behind a change, the next old lines are searched for in the new text, ever further ahead.
// Hunks need not be the smallest possible, only what lies between them must be equal.

export interface Hunk {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

const STRIDE = 4096
const MAX_HUNKS = 64
/** So much may always differ. */
const FEW_BYTES = 8 * 1024
/** How far ahead the text goes on is searched for: in new bytes, and in old lines. */
const SEARCH_BYTES = 64 * 1024
const SEARCH_LINES = 1024
/** A line shorter than this is searched for together with what follows: `)` says nothing. */
const LEAST_NEEDLE_BYTES = 16
const MOST_NEEDLE_BYTES = 256
const NEWLINE = 0x0a

/** The differences in order, or undefined when they are too many to be worth telling. */
export function findHunks(before: Buffer, after: Buffer): Hunk[] | undefined {
  const most = Math.max(FEW_BYTES, Math.floor((before.length + after.length) / 3))
  const hunks: Hunk[] = []
  let changed = 0
  let oldStart = commonPrefix(before, 0, before.length, after, 0, after.length)
  let newStart = oldStart
  if (oldStart === before.length && oldStart === after.length) return hunks
  const suffix = commonSuffix(before, after, oldStart)
  const oldLimit = before.length - suffix
  const newLimit = after.length - suffix
  while (oldStart < oldLimit || newStart < newLimit) {
    const { oldEnd, newEnd } = nextMatch(before, oldStart, oldLimit, after, newStart, newLimit)
    hunks.push({ oldStart, oldEnd, newStart, newEnd })
    changed += oldEnd - oldStart + newEnd - newStart
    if (hunks.length > MAX_HUNKS || changed > most) return undefined
    const equal = commonPrefix(before, oldEnd, oldLimit, after, newEnd, newLimit)
    oldStart = oldEnd + equal
    newStart = newEnd + equal
  }
  return hunks
}

/** Length of what is equal from two positions on. */
function commonPrefix(a: Buffer, aStart: number, aEnd: number, b: Buffer, bStart: number, bEnd: number): number {
  const most = Math.min(aEnd - aStart, bEnd - bStart)
  let length = 0
  for (let next = STRIDE; next <= most; length = next, next += STRIDE)
    if (a.compare(b, bStart + length, bStart + next, aStart + length, aStart + next) !== 0) break
  while (length < most && a[aStart + length] === b[bStart + length]) length++
  return length
}

/** Length of what is equal at the ends, as far as it is not part of the common prefix. */
function commonSuffix(a: Buffer, b: Buffer, prefix: number): number {
  const most = Math.min(a.length, b.length) - prefix
  let length = 0
  for (let next = STRIDE; next <= most; length = next, next += STRIDE)
    if (a.compare(b, b.length - next, b.length - length, a.length - next, a.length - length) !== 0) break
  while (length < most && a[a.length - length - 1] === b[b.length - length - 1]) length++
  return length
}

/** Where the texts agree again, at the latest at their limits. */
function nextMatch(
  before: Buffer,
  oldStart: number,
  oldLimit: number,
  after: Buffer,
  newStart: number,
  newLimit: number,
): { oldEnd: number; newEnd: number } {
  const ahead = after.subarray(newStart, Math.min(newLimit, newStart + SEARCH_BYTES))
  let line = oldStart
  for (let skip = 1, skipped = 0; skip <= SEARCH_LINES; skip *= 2) {
    for (; skipped < skip; skipped++) {
      line = before.indexOf(NEWLINE, line) + 1
      if (line === 0 || line >= oldLimit) return { oldEnd: oldLimit, newEnd: newLimit }
    }
    // With the newline before it, so that it is found as a line.
    const found = ahead.indexOf(before.subarray(line - 1, needleEnd(before, line, oldLimit)))
    if (found < 0) continue
    let oldEnd = line - 1
    let newEnd = newStart + found
    while (oldEnd > oldStart && newEnd > newStart && before[oldEnd - 1] === after[newEnd - 1]) {
      oldEnd--
      newEnd--
    }
    return { oldEnd, newEnd }
  }
  return { oldEnd: oldLimit, newEnd: newLimit }
}

function needleEnd(text: Buffer, line: number, limit: number): number {
  const newline = text.indexOf(NEWLINE, line + LEAST_NEEDLE_BYTES)
  return Math.min(limit, line + MOST_NEEDLE_BYTES, newline < 0 ? limit : newline + 1)
}
