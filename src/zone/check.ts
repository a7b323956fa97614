// Whether a set of records is a zone: the rules of RFC 1034, 1035, 2181, 6672 that hold between records. What is
// wrong inside one record the zone-file reader has already said. Errors refuse the zone, warnings do not.

import { formatName } from '../dns/name.ts'
import { finish, Pace, STEP_SIZE, type Steps } from '../dns/steps.ts'
import { TYPE, typeName } from '../dns/types.ts'
import { APEX } from './build.ts'
import type { ZoneBuilder } from './build.ts'
import { checkNsec3 } from './check-nsec3.ts'
import { NAME_KIND, NameKinds } from './name-kinds.ts'

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
/** Sets that are shorter fit into a DNS message, whatever their name. */
const SURE_TO_FIT_BYTES = 65_000
const LONGEST_MESSAGE_BYTES = 65_535
const HEADER_AND_QUESTION_BYTES = 16
const RECORD_OVERHEAD = 12
/** Records at one name, duplicates counted. */
const MOST_RECORDS = 20_000
/** Types at one name, signatures of each counted. */
const MOST_SETS = 1024
/** Errors, and warnings, of one zone: more of them say nothing new. */
const MOST_FINDINGS = 1000
/** Longer chains are looked at with tables. */
const FEW_RECORDS = 8

/** `record` is the one concerned, or NOWHERE. */
export type Report = (record: number, message: string) => void

/** The finding is about something that is missing. */
const NOWHERE = -1

/** Findings are in the order of the records they concern, whatever the order of names. */
export function checkZone(zone: ZoneBuilder, options: CheckOptions = {}): ZoneFinding[] {
  return finish(checkZoneSteps(zone, options))
}

/** The same in steps. The zone must not change meanwhile. */
export function* checkZoneSteps(zone: ZoneBuilder, options: CheckOptions = {}): Steps<ZoneFinding[]> {
  const found: { readonly record: number; readonly severity: ZoneFinding['severity']; readonly message: string }[] = []
  const counts = { error: 0, warning: 0 }
  const reportAs =
    (severity: ZoneFinding['severity']): Report =>
    (record, message) => {
      if (++counts[severity] <= MOST_FINDINGS) found.push({ record, severity, message })
    }
  const error = reportAs('error')
  const warning = reportAs('warning')

  const isCrowded = yield* checkCrowds(zone, error)
  if (!isCrowded) yield* checkNames(zone, options, error, warning)
  found.sort((a, b) => a.record - b.record)
  return found.map(({ record, severity, message }) => {
    const at =
      record === NOWHERE ? { file: undefined, line: 0 } : { file: zone.fileOf(record), line: zone.recordLine[record] }
    return { severity, ...at, message }
  })
}

/** So many records at one name cannot be served, and looking at them again and again would take long. */
function* checkCrowds(zone: ZoneBuilder, error: Report): Steps<boolean> {
  const counts = new Uint32Array(zone.nameCount)
  let isCrowded = false
  for (let record = 0; record < zone.recordCount; record++) {
    if (record % (STEP_SIZE * 16) === 0) yield
    const name = zone.recordName[record]
    if (++counts[name] !== MOST_RECORDS + 1) continue
    error(record, `more than ${MOST_RECORDS} records at ${formatName(zone.name(name))}; expected at most so many`)
    isCrowded = true
  }
  return isCrowded
}

function* checkNames(zone: ZoneBuilder, options: CheckOptions, error: Report, warning: Report): Steps<void> {
  checkApex(zone, options, error, warning)
  const { nameCount, firstRecord, nextRecord, recordType, rdataLength } = zone
  const kinds = new NameKinds(zone)
  for (let name = 0; name < nameCount; name++) {
    if (name % STEP_SIZE === 0) yield
    const first = firstRecord[name]
    if (first < 0 || !checkOwner(zone, name, error)) continue
    const type = recordType[first]
    const isAlone = nextRecord[first] < 0
    // Most names own one record of a type that depends on nothing else.
    if (isAlone && !pointsAtHost(type) && type !== TYPE.SOA && rdataLength[first] <= SURE_TO_FIT_BYTES) continue
    yield* checkRecords(zone, name, kinds, error, warning)
  }
  yield* checkNsec3(zone, error, warning)
  yield* checkOcclusion(zone, warning)
}

function* checkRecords(zone: ZoneBuilder, name: number, kinds: NameKinds, error: Report, warning: Report): Steps<void> {
  const first = zone.firstRecord[name]
  if (name !== APEX) {
    for (let r = first; r >= 0; r = zone.nextRecord[r])
      if (zone.recordType[r] === TYPE.SOA)
        error(r, `SOA at ${formatName(zone.name(name))}; only the apex ${formatName(zone.origin)} may have one`)
  }
  if (mayClash(zone, name)) yield* checkSets(zone, name, error, warning)
  let records = 0
  for (let r = first; r >= 0; r = zone.nextRecord[r]) {
    if (++records % STEP_SIZE === 0) yield
    if (pointsAtHost(zone.recordType[r])) checkHost(zone, name, r, kinds, warning)
  }
}

function checkApex(zone: ZoneBuilder, options: CheckOptions, error: Report, warning: Report): void {
  const origin = formatName(zone.origin)
  const soa = zone.findRecord(APEX, TYPE.SOA)
  if (soa < 0) error(NOWHERE, `no SOA record at ${origin}; a zone has exactly one`)
  if (zone.findRecord(APEX, TYPE.NS) < 0) {
    const report = options.requireNs === false ? warning : error
    report(NOWHERE, `no NS record at ${origin}; a zone names its servers there`)
  }
  const ds = zone.findRecord(APEX, TYPE.DS)
  if (ds >= 0) error(ds, `DS at the apex ${origin}; it belongs into the parent zone (RFC 4035 section 2.4)`)
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
    if (++count > FEW_RECORDS || bytes > SURE_TO_FIT_BYTES) return true
    for (let q = firstRecord[name]; q !== r; q = nextRecord[q]) {
      if (recordType[q] === TYPE.CNAME) return true
      if (recordType[q] !== type) continue
      if (recordTtl[q] !== recordTtl[r] || type === TYPE.SOA || SINGLETONS.has(type)) return true
    }
  }
  return false
}

function* checkSets(zone: ZoneBuilder, name: number, error: Report, warning: Report): Steps<void> {
  const owner = () => formatName(zone.name(name))
  const sets = new Map<number, { first: number; count: number; bytes: number; seen: Set<string> | undefined }>()
  const pace = new Pace()
  for (let r = zone.firstRecord[name]; r >= 0; r = zone.nextRecord[r]) {
    if (pace.isDue(zone.rdataLength[r])) yield
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
  if (sets.size > MOST_SETS)
    error(zone.firstRecord[name], `${sets.size} types of records at ${owner()}; at most ${MOST_SETS} are served`)
  for (const set of sets.values()) {
    const type = zone.recordType[set.first]
    if (type === TYPE.SOA && set.count > 1)
      error(set.first, `${set.count} SOA records at ${owner()}; a zone has exactly one`)
    if (type === TYPE.NS && isWildcard(zone, name))
      error(set.first, `NS at the wildcard ${owner()}; a delegation needs a name of its own (RFC 4592 section 4.2)`)
    if (SINGLETONS.has(type) && set.count > 1)
      error(set.first, `${set.count} ${typeName(type)} records at ${owner()}; at most one is allowed`)
    if (set.bytes > LONGEST_MESSAGE_BYTES - HEADER_AND_QUESTION_BYTES - zone.nameLength[name])
      warning(
        set.first,
        `${set.count} ${typeName(type)} records at ${owner()} do not fit into a DNS message; answers are truncated, over TCP too`,
      )
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
function checkHost(zone: ZoneBuilder, name: number, record: number, kinds: NameKinds, warning: Report): void {
  const type = zone.recordType[record]
  const { rdataBytes } = zone
  const start = zone.rdataOffset[record] + (type === TYPE.NS ? 0 : type === TYPE.MX ? 2 : 6)
  const end = zone.rdataOffset[record] + zone.rdataLength[record]
  if (end - start < 2 || !isInZone(zone, rdataBytes, start, end)) return
  const host = () => formatName(rdataBytes.subarray(start, end))
  const found = zone.findName(rdataBytes, start, end)
  if (kinds.is(found, NAME_KIND.alias)) {
    warning(
      record,
      `${typeName(type)} of ${formatName(zone.name(name))} points at ${host()}, which is a CNAME (RFC 2181 section 10.3)`,
    )
  } else if (type === TYPE.NS && !kinds.is(found, NAME_KIND.address) && !belowOtherCut(zone, start, end, name, kinds)) {
    warning(
      record,
      `NS of ${formatName(zone.name(name))} points at ${host()}, which has no A or AAAA record in the zone`,
    )
  }
}

function pointsAtHost(type: number): boolean {
  return type === TYPE.NS || type === TYPE.MX || type === TYPE.SRV
}

/** A host below another delegation has its address there. */
function belowOtherCut(zone: ZoneBuilder, start: number, end: number, cut: number, kinds: NameKinds): boolean {
  const { rdataBytes } = zone
  for (let at = start; rdataBytes[at] !== 0; at += rdataBytes[at] + 1) {
    const ancestor = zone.findName(rdataBytes, at, end)
    if (ancestor > APEX && ancestor !== cut && kinds.is(ancestor, NAME_KIND.cut)) return true
  }
  return false
}

/** Data below a DNAME can never be reached (RFC 6672 section 2.4). */
function* checkOcclusion(zone: ZoneBuilder, warning: Report): Steps<void> {
  if (!zone.recordType.subarray(0, zone.recordCount).includes(TYPE.DNAME)) return
  const owners = new Set<number>()
  for (let name = 0; name < zone.nameCount; name++) {
    if (name % STEP_SIZE === 0) yield
    if (zone.findRecord(name, TYPE.DNAME) >= 0 && !(name !== APEX && zone.findRecord(name, TYPE.NS) >= 0))
      owners.add(name)
  }
  for (let name = 0; name < zone.nameCount; name++) {
    if (name % STEP_SIZE === 0) yield
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
