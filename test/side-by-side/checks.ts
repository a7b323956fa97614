// What the rules look at in two answers.

import { encodeMessage, type Message, type ResourceRecord } from '../../src/dns/message.ts'
import { equalNames, lowerName } from '../../src/dns/name.ts'
import { RCODE, TYPE } from '../../src/dns/types.ts'
import type { Part } from '../conformance/compare.ts'
import { recordLine } from '../conformance/response.ts'
import type { Evidence } from './evidence.ts'

export interface Case {
  readonly type: number
  readonly ours: Message
  readonly theirs: Message
  readonly origin: Uint8Array
  /** Whether a name is in the zone, and in none inside it. */
  readonly isInZone: (name: Uint8Array) => boolean
  readonly stored: Evidence
  /** The longest answer. */
  readonly udpBytes: number
}

/** Types for which aliases are followed. */
export const FOLLOWED: ReadonlySet<number> = new Set([TYPE.A, TYPE.AAAA, TYPE.TXT])
/** Another additional record may have come first, and not have fit. */
const SLACK_BYTES = 100

/** What kind of answer it is, and its records. */
export function isOutcome(part: Part): boolean {
  return 'record' in part || ['rcode', 'aa', 'ra'].includes(part.field)
}

/** No such name, or asked elsewhere because of it. */
export function isAbsence({ rcode, aa }: Message): boolean {
  return rcode === RCODE.NXDOMAIN || !aa
}

export function inBoth(part: Part, { ours, theirs }: Case, shown: (record: ResourceRecord) => string): boolean {
  if (!('record' in part)) return false
  const wanted = shown(part.record)
  return wanted !== '' && [ours, theirs].every((side) => side[part.field].some((record) => shown(record) === wanted))
}

/** Empty for all but SOA records. */
export function withoutSerial(record: ResourceRecord): string {
  return record.type === TYPE.SOA ? recordLine(record).replace(/ \d+(?= \d+ \d+ \d+ \d+$)/u, '') : ''
}

export function withoutTtl(record: ResourceRecord): string {
  return recordLine({ ...record, ttlSeconds: 0 })
}

/** TTLs apart. */
export function has(records: readonly ResourceRecord[], wanted: ResourceRecord): boolean {
  return records.some((record) => withoutTtl(record) === withoutTtl(wanted))
}

export function sameSet(records: readonly ResourceRecord[], { name, type }: ResourceRecord): ResourceRecord[] {
  return records.filter((record) => record.type === type && equalNames(lowerName(record.name), lowerName(name)))
}

/** TTLs, without those of duplicates. */
export function firstOfEach(records: readonly ResourceRecord[]): number[] {
  const first = new Map<string, number>()
  for (const record of records) if (!first.has(withoutTtl(record))) first.set(withoutTtl(record), record.ttlSeconds)
  return [...first.values()]
}

/** The answers of the one that is not truncated; of both none. */
export function fullOf(ours: Message, theirs: Message): readonly ResourceRecord[] {
  if (ours.tc === theirs.tc) return []
  return (ours.tc ? ours : theirs).answers
}

/** Names that the answers of a message point at, and those that aliases among the additional records lead to. */
function targets({ answers, additionals }: Message): Uint8Array[] {
  const at = new Map<number, number>([
    [TYPE.NS, 0],
    [TYPE.MX, 2],
    [TYPE.SRV, 6],
  ])
  const pointed = answers.flatMap(({ type, rdata }) => (at.has(type) ? [rdata.subarray(at.get(type))] : []))
  const aliased = additionals.filter(({ type }) => type === TYPE.CNAME).map(({ rdata }) => rdata)
  return [...pointed, ...aliased].map((name) => lowerName(name))
}

/**
 * An address or alias of a target. One that only we have must be of a target of ours; one that only they have, of a name
 * outside the zone or one for which we have other records, or that is no target of ours.
 */
export function isOfTarget(record: ResourceRecord, { ours, theirs, isInZone, stored, udpBytes }: Case): boolean {
  const name = lowerName(record.name)
  const isTarget = (message: Message) => targets(message).some((target) => equalNames(target, name))
  if (ours.additionals.includes(record)) return isTarget(ours)
  if (!theirs.additionals.includes(record)) return false
  return (
    !isInZone(name) ||
    !isTarget(ours) ||
    stored.isCrowded ||
    stored.isHidden(name) ||
    ours.additionals.some((other) => equalNames(lowerName(other.name), name)) ||
    encodeMessage({ ...ours, additionals: [...ours.additionals, record] }).length + SLACK_BYTES > udpBytes
  )
}

/** They truncate when additional records do not fit, we leave these out (RFC 2181 section 9). */
export function leavesOut({ type, ours, theirs }: Case): boolean {
  return !FOLLOWED.has(type) && theirs.tc && !ours.tc
}

/** Of an SRV record. */
export function portAndTarget(rdata: Uint8Array): string {
  return Buffer.from(rdata.subarray(4)).toString('latin1').toLowerCase()
}
