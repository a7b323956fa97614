// How many records a zone has for those who ask it: duplicates are one record (RFC 2181 section 5), and the compiler
// writes them once.

import { finish, Pace, type Steps } from '../dns/steps.ts'
import type { ZoneBuilder } from './build.ts'
import { FEW_RECORDS, isSameRecord } from './same-record.ts'

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
    while (q !== r && !isSameRecord(zone, q, r)) q = zone.nextRecord[q]
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
