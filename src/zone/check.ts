// Whether a set of records is a zone: the rules of RFC 1034, 1035, 2181, 6672 that hold between records. What is
// wrong inside one record the zone-file reader has already said. Errors refuse the zone, warnings do not.

import { formatName } from '../dns/name.ts'
import { TYPE, typeName } from '../dns/types.ts'
import { APEX } from './build.ts'
import type { ZoneBuilder } from './build.ts'
import { checkNsec3 } from './check-nsec3.ts'

export interface ZoneFinding {
  readonly severity: 'error' | 'warning'
  /** File and line of the record concerned; undefined and 0 when the finding is about something that is missing. */
  readonly file: string | undefined
  readonly line: number
  readonly message: string
}

export interface CheckOptions {
  /** Refuse a zone without NS at its apex. CoreDNS serves such zones, so Corefiles only warn. */
  readonly requireNs?: boolean
  /** The serial in service, to notice one that went backwards. */
  readonly previousSerial?: number
}

/** Types that may stand beside a CNAME (RFC 2181 section 10.1, RFC 4034). */
const BESIDE_CNAME: ReadonlySet<number> = new Set([TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3])
const SINGLETONS: ReadonlySet<number> = new Set([TYPE.CNAME, TYPE.DNAME])
const LONGEST_SET_BYTES = 65_000
const RECORD_OVERHEAD = 12
/** Longer chains are looked at with tables. */
const FEW_RECORDS = 8

/** `record` is the one concerned, or NOWHERE. */
export type Report = (record: number, message: string) => void

/** The finding is about something that is missing. */
const NOWHERE = -1

/** Findings are in the order of the records they concern, whatever the order of names. */
export function checkZone(zone: ZoneBuilder, options: CheckOptions = {}): ZoneFinding[] {
  const found: { readonly record: number; readonly severity: ZoneFinding['severity']; readonly message: string }[] = []
  const error: Report = (record, message) => found.push({ record, severity: 'error', message })
  const warning: Report = (record, message) => found.push({ record, severity: 'warning', message })

  checkApex(zone, options, error, warning)
  const { nameCount, firstRecord, nextRecord, recordType, rdataLength } = zone
  for (let name = 0; name < nameCount; name++) {
    const first = firstRecord[name]
    if (first < 0 || !checkOwner(zone, name, error)) continue
    const type = recordType[first]
    const isAlone = nextRecord[first] < 0
    // Most names own one record of a type that depends on nothing else.
    if (isAlone && !pointsAtHost(type) && type !== TYPE.SOA && rdataLength[first] <= LONGEST_SET_BYTES) continue
    checkRecords(zone, name, error, warning)
  }
  checkNsec3(zone, error)
  checkOcclusion(zone, warning)
  found.sort((a, b) => a.record - b.record)
  return found.map(({ record, severity, message }) => {
    const at =
      record === NOWHERE ? { file: undefined, line: 0 } : { file: zone.fileOf(record), line: zone.recordLine[record] }
    return { severity, ...at, message }
  })
}

function checkRecords(zone: ZoneBuilder, name: number, error: Report, warning: Report): void {
  const first = zone.firstRecord[name]
  if (name !== APEX) {
    for (let r = first; r >= 0; r = zone.nextRecord[r])
      if (zone.recordType[r] === TYPE.SOA)
        error(r, `SOA at ${formatName(zone.name(name))}; only the apex ${formatName(zone.origin)} may have one`)
  }
  if (zone.rdataLength[first] > LONGEST_SET_BYTES)
    error(
      first,
      `${typeName(zone.recordType[first])} at ${formatName(zone.name(name))} does not fit into a DNS message`,
    )
  if (mayClash(zone, name)) checkSets(zone, name, error, warning)
  for (let r = first; r >= 0; r = zone.nextRecord[r])
    if (pointsAtHost(zone.recordType[r])) checkHost(zone, name, r, warning)
}

function checkApex(zone: ZoneBuilder, options: CheckOptions, error: Report, warning: Report): void {
  const origin = formatName(zone.origin)
  const soa = zone.findRecord(APEX, TYPE.SOA)
  if (soa < 0) error(NOWHERE, `no SOA record at ${origin}; a zone has exactly one`)
  if (zone.findRecord(APEX, TYPE.NS) < 0) {
    const report = options.requireNs === false ? warning : error
    report(NOWHERE, `no NS record at ${origin}; a zone names its servers there`)
  }
  if (zone.findRecord(APEX, TYPE.CNAME) >= 0) return // reported with the other CNAME clashes
  const previous = options.previousSerial
  if (soa < 0 || previous === undefined || previous === zone.serial) return
  // RFC 1982: newer when the difference modulo 2^32 is below 2^31.
  if ((zone.serial - previous) >>> 0 >= 0x8000_0000)
    warning(
      soa,
      `serial ${zone.serial} is older than ${previous}, which is in service; secondaries will not transfer it`,
    )
}

/** Nothing is outside the origin (the reader refuses that too, but other sources come straight here). */
function checkOwner(zone: ZoneBuilder, name: number, error: Report): boolean {
  const offset = zone.nameOffset[name]
  if (isInZone(zone, zone.nameBytes, offset, offset + zone.nameLength[name])) return true
  error(zone.firstRecord[name], `${formatName(zone.name(name))} is outside the zone ${formatName(zone.origin)}`)
  return false
}

/** Whether the name in bytes[start, end) is the origin or below it. */
function isInZone(zone: ZoneBuilder, bytes: Uint8Array, start: number, end: number): boolean {
  let at = start
  while (end - at > zone.origin.length) at += bytes[at] + 1
  return zone.isName(APEX, bytes, at, end)
}

/** A cheap look at a name's records: false when nothing can be wrong with their sets. */
function mayClash(zone: ZoneBuilder, name: number): boolean {
  const { firstRecord, nextRecord, recordType, recordTtl, rdataLength } = zone
  let count = 0
  let bytes = 0
  for (let r = firstRecord[name]; r >= 0; r = nextRecord[r]) {
    const type = recordType[r]
    if (type === TYPE.NS ? isWildcard(zone, name) : type === TYPE.CNAME && count > 0) return true
    bytes += rdataLength[r] + RECORD_OVERHEAD
    if (++count > FEW_RECORDS || (count > 1 && bytes > LONGEST_SET_BYTES)) return true
    for (let q = firstRecord[name]; q !== r; q = nextRecord[q]) {
      if (recordType[q] === TYPE.CNAME) return true
      if (recordType[q] !== type) continue
      if (recordTtl[q] !== recordTtl[r] || type === TYPE.SOA || SINGLETONS.has(type)) return true
    }
  }
  return false
}

function checkSets(zone: ZoneBuilder, name: number, error: Report, warning: Report): void {
  const owner = () => formatName(zone.name(name))
  const sets = new Map<number, { first: number; count: number; bytes: number; seen: Set<string> | undefined }>()
  for (let r = zone.firstRecord[name]; r >= 0; r = zone.nextRecord[r]) {
    const key = zone.setKey(r)
    const set = sets.get(key)
    if (set === undefined) {
      sets.set(key, { first: r, count: 1, bytes: zone.rdataLength[r] + RECORD_OVERHEAD, seen: undefined })
      continue
    }
    set.seen ??= new Set([zone.rdataKey(set.first)])
    const text = zone.rdataKey(r)
    if (set.seen.has(text)) continue // a duplicate is one record (RFC 2181 section 5)
    set.seen.add(text)
    set.count++
    set.bytes += zone.rdataLength[r] + RECORD_OVERHEAD
    if (zone.recordTtl[r] !== zone.recordTtl[set.first])
      warning(
        r,
        `TTL ${zone.recordTtl[r]} of ${owner()} ${typeName(zone.recordType[r])} differs from the set's; ${zone.recordTtl[set.first]} is used (RFC 2181 section 5.2)`,
      )
  }
  for (const set of sets.values()) {
    const type = zone.recordType[set.first]
    if (type === TYPE.SOA && set.count > 1)
      error(set.first, `${set.count} SOA records at ${owner()}; a zone has exactly one`)
    if (type === TYPE.NS && isWildcard(zone, name))
      error(set.first, `NS at the wildcard ${owner()}; a delegation needs a name of its own (RFC 4592 section 4.2)`)
    if (SINGLETONS.has(type) && set.count > 1)
      error(set.first, `${set.count} ${typeName(type)} records at ${owner()}; at most one is allowed`)
    if (set.bytes > LONGEST_SET_BYTES)
      error(set.first, `${set.count} ${typeName(type)} records at ${owner()} do not fit into a DNS message`)
    if (type !== TYPE.CNAME) continue
    for (const other of sets.values()) {
      const otherType = zone.recordType[other.first]
      if (otherType === TYPE.CNAME || BESIDE_CNAME.has(otherType)) continue
      error(
        Math.max(set.first, other.first),
        `CNAME and ${typeName(otherType)} at ${owner()}; a CNAME stands alone (RFC 2181 section 10.1)`,
      )
      break
    }
  }
}

function isWildcard(zone: ZoneBuilder, name: number): boolean {
  const at = zone.nameOffset[name]
  return zone.nameBytes[at] === 1 && zone.nameBytes[at + 1] === 0x2a
}

/** In-zone hosts that NS, MX and SRV point at should exist and have addresses. */
function checkHost(zone: ZoneBuilder, name: number, record: number, warning: Report): void {
  const type = zone.recordType[record]
  const { rdataBytes } = zone
  const start = zone.rdataOffset[record] + (type === TYPE.NS ? 0 : type === TYPE.MX ? 2 : 6)
  const end = zone.rdataOffset[record] + zone.rdataLength[record]
  if (end - start < 2 || !isInZone(zone, rdataBytes, start, end)) return
  const host = () => formatName(rdataBytes.subarray(start, end))
  const found = zone.findName(rdataBytes, start, end)
  if (found >= 0 && zone.findRecord(found, TYPE.CNAME) >= 0) {
    warning(
      record,
      `${typeName(type)} of ${formatName(zone.name(name))} points at ${host()}, which is a CNAME (RFC 2181 section 10.3)`,
    )
  } else if (type === TYPE.NS && !hasAddress(zone, found) && !belowOtherCut(zone, start, end, name)) {
    warning(
      record,
      `NS of ${formatName(zone.name(name))} points at ${host()}, which has no A or AAAA record in the zone`,
    )
  }
}

function pointsAtHost(type: number): boolean {
  return type === TYPE.NS || type === TYPE.MX || type === TYPE.SRV
}

function hasAddress(zone: ZoneBuilder, name: number): boolean {
  return name >= 0 && (zone.findRecord(name, TYPE.A) >= 0 || zone.findRecord(name, TYPE.AAAA) >= 0)
}

/** A host below another delegation has its address there. */
function belowOtherCut(zone: ZoneBuilder, start: number, end: number, cut: number): boolean {
  const { rdataBytes } = zone
  for (let at = start; rdataBytes[at] !== 0; at += rdataBytes[at] + 1) {
    const ancestor = zone.findName(rdataBytes, at, end)
    if (ancestor > APEX && ancestor !== cut && zone.findRecord(ancestor, TYPE.NS) >= 0) return true
  }
  return false
}

/** Data below a DNAME can never be reached (RFC 6672 section 2.4). */
function checkOcclusion(zone: ZoneBuilder, warning: Report): void {
  if (!zone.recordType.subarray(0, zone.recordCount).includes(TYPE.DNAME)) return
  const owners = new Set<number>()
  for (let name = 0; name < zone.nameCount; name++)
    if (zone.findRecord(name, TYPE.DNAME) >= 0 && !(name !== APEX && zone.findRecord(name, TYPE.NS) >= 0))
      owners.add(name)
  for (let name = 0; name < zone.nameCount; name++) {
    const wire = zone.name(name)
    if (zone.firstRecord[name] < 0 || wire.length === 1) continue
    for (let at = wire[0] + 1; at < wire.length; at += wire[at] + 1) {
      const ancestor = zone.findName(wire, at, wire.length)
      if (ancestor >= 0 && owners.has(ancestor)) {
        warning(
          zone.firstRecord[name],
          `${formatName(wire)} is hidden by the DNAME at ${formatName(zone.name(ancestor))} (RFC 6672 section 2.4)`,
        )
        break
      }
      if (wire[at] === 0) break
    }
  }
}
