// How many records a zone has for those who ask it: duplicates are one record (RFC 2181 section 5), and the compiler
// writes them once.

import { finish, Pace, type Steps } from '../dns/steps.ts'
import type { ZoneBuilder } from './build.ts'
import { LOWER } from './hash.ts'

/** Longer chains are looked at with tables. */
const FEW_RECORDS = 8

export function countRecords(zone: ZoneBuilder): number {
  return finish(countRecordsSteps(zone))
}

/** The same in steps. The zone must not change meanwhile. */
export function* countRecordsSteps(zone: ZoneBuilder): Steps<number> {
  const pace = new Pace()
  let count = 0
  for (let name = 0; name < zone.nameCount; name++) {
    const first = zone.firstRecord[name]
    let records = 0
    for (let r = first; r >= 0; r = zone.nextRecord[r]) {
      records++
      if (pace.isDue(zone.rdataLength[r])) yield
    }
    if (records > FEW_RECORDS) count += yield* countMany(zone, first, pace)
    else count += records < 2 ? records : countFew(zone, first)
  }
  return count
}

function countFew(zone: ZoneBuilder, first: number): number {
  let count = 0
  for (let r = first; r >= 0; r = zone.nextRecord[r]) {
    let q = first
    while (q !== r && !isSame(zone, q, r)) q = zone.nextRecord[q]
    if (q === r) count++
  }
  return count
}

function* countMany(zone: ZoneBuilder, first: number, pace: Pace): Steps<number> {
  const keys = new Set<string>()
  for (let r = first; r >= 0; r = zone.nextRecord[r]) {
    keys.add(`${zone.recordType[r]} ${zone.rdataKey(r)}`)
    if (pace.isDue(zone.rdataLength[r])) yield
  }
  return keys.size
}

function isSame(zone: ZoneBuilder, a: number, b: number): boolean {
  const { recordType, rdataLength, rdataOffset, rdataBytes } = zone
  const length = rdataLength[a]
  if (recordType[a] !== recordType[b] || length !== rdataLength[b]) return false
  // Most records differ in more than letter case, which is cheap to see.
  for (let i = 0; i < length; i++)
    if (LOWER[rdataBytes[rdataOffset[a] + i]] !== LOWER[rdataBytes[rdataOffset[b] + i]]) return false
  return zone.rdataKey(a) === zone.rdataKey(b)
}
