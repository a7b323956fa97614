// What differs between two versions of a zone, record by record: the text may be written quite differently.

import { compareNames, lowerName } from '../dns/name.ts'
import { canonicalRdata } from '../dns/rdata/rdata.ts'
import { TYPE } from '../dns/types.ts'
import { formatRecord, type ZoneRecord } from '../dns/zonefile/format.ts'
import type { ZoneBuilder } from '../zone/build.ts'
import type { Io } from './command.ts'
import { diffLines } from './diff-lines.ts'

/** One difference: without `before` the record is new, without `after` it is gone. */
interface Difference {
  readonly before: ZoneRecord | undefined
  readonly after: ZoneRecord | undefined
}

/** In canonical order of owners. */
export type ZoneDiff = readonly Difference[]

/** Without `before` every record is new. */
export function diffZones(before: ZoneBuilder | undefined, after: ZoneBuilder | undefined): ZoneDiff {
  const gone = before === undefined ? new Map<string, ZoneRecord>() : recordsOf(before)
  const differences: { before: ZoneRecord | undefined; after: ZoneRecord | undefined }[] = []
  for (const [key, record] of after === undefined ? [] : recordsOf(after)) {
    const same = gone.get(key)
    gone.delete(key)
    if (same?.ttl !== record.ttl) differences.push({ before: same, after: record })
  }
  for (const record of gone.values()) differences.push({ before: record, after: undefined })
  differences.sort((a, b) => compareSets(recordOf(a), recordOf(b)))
  return pairUp(differences)
}

function recordsOf(zone: ZoneBuilder): Map<string, ZoneRecord> {
  const records = new Map<string, ZoneRecord>()
  zone.forEachRecord((owner, ttl, type, rdata) => {
    const key = `${setKey(owner, type)} ${Buffer.from(canonicalRdata(type, rdata)).toString('latin1')}`
    records.set(key, { owner, ttl, type, rdata })
  })
  return records
}

function setKey(owner: Uint8Array, type: number): string {
  return `${Buffer.from(lowerName(owner)).toString('latin1')} ${type}`
}

function recordOf({ before, after }: Difference): ZoneRecord {
  return (after ?? before)!
}

/** As zones are printed: the SOA record is the first of its name. */
function compareSets(a: ZoneRecord, b: ZoneRecord): number {
  const rank = ({ type }: ZoneRecord) => (type === TYPE.SOA ? 0 : type)
  return compareNames(a.owner, b.owner) || rank(a) - rank(b)
}

/** A set that lost one record and gained one has changed: that is what its author did. */
function pairUp(differences: readonly Difference[]): Difference[] {
  const sets = Map.groupBy(differences, (difference) => {
    const { owner, type } = recordOf(difference)
    return setKey(owner, type)
  })
  return [...sets.values()].flatMap((set) => {
    if (set.length !== 2) return set
    const [first, second] = set
    if (first.before !== undefined || second.after !== undefined) return set
    return [{ before: second.before, after: first.after }]
  })
}

/** `1 changed, 2 added, 0 removed` */
export function summarize(diff: ZoneDiff): string {
  const { changed, added, removed } = diffJson(diff)
  return `${changed.length} changed, ${added.length} added, ${removed.length} removed`
}

export function diffJson(diff: ZoneDiff): {
  changed: { before: string; after: string }[]
  added: string[]
  removed: string[]
} {
  const changed = diff.flatMap(({ before, after }) =>
    before === undefined || after === undefined ? [] : [{ before: text(before), after: text(after) }],
  )
  const added = diff.flatMap(({ before, after }) => (before === undefined && after !== undefined ? [text(after)] : []))
  const removed = diff.flatMap(({ before, after }) =>
    after === undefined && before !== undefined ? [text(before)] : [],
  )
  return { changed, added, removed }
}

/** A line for each record. */
export function printDiff(diff: ZoneDiff, io: Io, out: Io['stdout'] = io.stdout): void {
  const { gone, come } = diffLines(io, out)
  for (const { before, after } of diff) {
    if (before !== undefined) gone(text(before))
    if (after !== undefined) come(text(after))
  }
}

function text({ owner, ttl, type, rdata }: ZoneRecord): string {
  return formatRecord(owner, ttl, type, rdata)
}
