// Which names differ between two versions of a zone that were read apart: fewer than all of them when a text was
// only written anew.

import { STEP_SIZE, type Steps } from '../dns/steps.ts'
import type { ZoneBuilder } from '../zone/build.ts'

/**
 * Numbers in `after`, where names that are gone are added without records; undefined when so much differs that the
 * zone can as well be taken as a new one.
 */
export function* differingNames(before: ZoneBuilder, after: ZoneBuilder): Steps<number[] | undefined> {
  const differing: number[] = []
  const most = Math.max(FEW_NAMES, after.nameCount >> 2)
  const count = after.nameCount
  for (let name = 0; name < count && differing.length <= most; name++) {
    if (name % STEP_SIZE === 0) yield
    const offset = after.nameOffset[name]
    const old = before.findName(after.nameBytes, offset, offset + after.nameLength[name])
    if (old < 0 ? after.firstRecord[name] >= 0 : !hasSameRecords(before, old, after, name)) differing.push(name)
  }
  for (let old = 0; old < before.nameCount && differing.length <= most; old++) {
    if (old % STEP_SIZE === 0) yield
    if (before.firstRecord[old] < 0) continue
    const offset = before.nameOffset[old]
    const end = offset + before.nameLength[old]
    if (after.findName(before.nameBytes, offset, end) < 0)
      differing.push(after.internName(before.nameBytes, offset, end))
  }
  return differing.length <= most ? differing : undefined
}

const FEW_NAMES = 64

function hasSameRecords(before: ZoneBuilder, old: number, after: ZoneBuilder, name: number): boolean {
  let a = before.firstRecord[old]
  let b = after.firstRecord[name]
  while (a >= 0 && b >= 0 && isSameRecord(before, a, after, b)) {
    a = before.nextRecord[a]
    b = after.nextRecord[b]
  }
  return a < 0 && b < 0
}

function isSameRecord(before: ZoneBuilder, a: number, after: ZoneBuilder, b: number): boolean {
  const length = before.rdataLength[a]
  if (before.recordType[a] !== after.recordType[b] || before.recordTtl[a] !== after.recordTtl[b]) return false
  if (length !== after.rdataLength[b]) return false
  const [from, other] = [before.rdataOffset[a], after.rdataOffset[b]]
  for (let i = 0; i < length; i++) if (before.rdataBytes[from + i] !== after.rdataBytes[other + i]) return false
  return true
}
