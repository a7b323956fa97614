// The records of one name, put together by set: once over the records, however many sets there are.

import { STEP_SIZE, type Steps } from '../dns/steps.ts'
import type { ZoneBuilder } from './build.ts'

/** By what makes records one set (`setKey`), in the order of their first records. */
export type RecordSets = ReadonlyMap<number, readonly number[]>

/** Without duplicates, which are one record (RFC 2181 section 5). `unique`: there are none, so none are looked for. */
export function* recordSets(builder: ZoneBuilder, name: number, unique: boolean): Steps<RecordSets> {
  const sets = new Map<number, number[]>()
  const seen = new Map<number, Set<string>>()
  let count = 0
  for (let r = builder.firstRecord[name]; r >= 0; r = builder.nextRecord[r]) {
    if (++count % STEP_SIZE === 0) yield
    const key = builder.setKey(r)
    const set = sets.get(key)
    if (set === undefined) sets.set(key, [r])
    else if (unique || isNew(builder, r, seenOf(builder, seen, key, set))) set.push(r)
  }
  return sets
}

function seenOf(
  builder: ZoneBuilder,
  seen: Map<number, Set<string>>,
  key: number,
  set: readonly number[],
): Set<string> {
  const known = seen.get(key)
  if (known !== undefined) return known
  const first = new Set([builder.rdataKey(set[0])])
  seen.set(key, first)
  return first
}

function isNew(builder: ZoneBuilder, record: number, seen: Set<string>): boolean {
  const before = seen.size
  return seen.add(builder.rdataKey(record)).size > before
}
