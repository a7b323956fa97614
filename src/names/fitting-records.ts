// Records of a name that fit into an answer. A set that no DNS message can carry is served as far as it fits: sources
// that many can write to have no other limit, and leaving the name out would help nobody.

import type { SourceRecord } from './part.ts'

/** As zones that are texts have it (zone/check.ts). */
const LONGEST_SET_BYTES = 65_000
const RECORD_OVERHEAD = 12

/** The records as they are, or without those of each type that do not fit; `onCut` hears how many that are. */
export function fittingRecords(
  records: readonly SourceRecord[],
  onCut: (type: number, left: number) => void,
): readonly SourceRecord[] {
  let bytes = 0
  for (const { rdata } of records) bytes += rdata.length + RECORD_OVERHEAD
  if (bytes <= LONGEST_SET_BYTES) return records
  const sizes = new Map<number, number>()
  const left = new Map<number, number>()
  const fitting = records.filter(({ type, rdata }) => {
    const size = (sizes.get(type) ?? 0) + rdata.length + RECORD_OVERHEAD
    if (size > LONGEST_SET_BYTES) left.set(type, (left.get(type) ?? 0) + 1)
    else sizes.set(type, size)
    return size <= LONGEST_SET_BYTES
  })
  for (const [type, count] of left) onCut(type, count)
  return fitting
}
