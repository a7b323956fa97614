// Whether two records of a name are one: duplicates count once (RFC 2181 section 5).

import type { ZoneBuilder } from './build.ts'
import { LOWER } from './hash.ts'

/** Up to so many records of a name are compared one by one; more are looked at with tables. */
export const FEW_RECORDS = 8

export function isSameRecord(zone: ZoneBuilder, a: number, b: number): boolean {
  const { recordType, rdataLength, rdataOffset, rdataBytes } = zone
  const length = rdataLength[a]
  if (recordType[a] !== recordType[b] || length !== rdataLength[b]) return false
  const [atA, atB] = [rdataOffset[a], rdataOffset[b]]
  // Most records differ in more than letter case, which is cheap to see.
  for (let i = 0; i < length; i++) if (LOWER[rdataBytes[atA + i]] !== LOWER[rdataBytes[atB + i]]) return false
  return zone.rdataKey(a) === zone.rdataKey(b)
}

/** Whether the name has so few records that they are compared one by one. */
export function hasFewRecords(zone: ZoneBuilder, name: number): boolean {
  const { firstRecord, nextRecord } = zone
  let count = 0
  for (let r = firstRecord[name]; r >= 0; r = nextRecord[r]) if (++count > FEW_RECORDS) return false
  return true
}
