// Questions with `*` or `any` as a label, which SkyDNS takes as "every label here": the keys that match, and everything
// below them, answer together.

import { TYPE } from '../../dns/types.ts'
import type { SourceRecord } from '../part.ts'
import { addServices, compatibleRecords, MAX_SERVICES } from './compatible.ts'
import { isAtOrBelow, nameOf, pathOfName } from './path.ts'
import { RecordSets } from './record-sets.ts'
import type { ServiceList } from './service-list.ts'

export interface SearchResult {
  /** Whether there was anything to search: no data rather than no such name. */
  readonly found: boolean
  /** Of the asked type; or an alias alone, to be followed. */
  readonly records: readonly SourceRecord[]
  /** Addresses of the targets inside the zone, aliases on the way included. */
  readonly additional: readonly { readonly owner: Uint8Array; readonly record: SourceRecord }[]
}

/** How many services are compared with the question, in key order. */
const MAX_COMPARED = 16_384
/** How many records of targets are looked at for the additional section. */
const MAX_TARGET_RECORDS = 2048
const LONGEST_CHAIN = 8

const ANY_LABEL = /^(?:\*|any)$/u
const HAS_ANY_LABEL = /(?:^|\/)(?:\*|any)(?:\/|$)/u
const FOLLOWED: ReadonlySet<number> = new Set([TYPE.A, TYPE.AAAA, TYPE.TXT])
/** Where the target sits in the rdata. */
const TARGET_AT: ReadonlyMap<number, number> = new Map([
  [TYPE.MX, 2],
  [TYPE.SRV, 6],
])

/** Whether the labels below the zone's origin make a name that is searched for, and never served as it stands. */
export function isSearched(path: string, zone: string): boolean {
  return HAS_ANY_LABEL.test(path.slice(zone.length))
}

export function searchRecords(list: ServiceList, zone: string, path: string, type: number): SearchResult {
  const labels = path.split('/')
  const first = labels.findIndex((label) => ANY_LABEL.test(label))
  const base = labels.slice(0, first < 0 ? labels.length : first).join('/')
  const pattern = labels.map((label) => (ANY_LABEL.test(label) ? '[^/]+' : RegExp.escape(label))).join('/')
  const expression = new RegExp(`^${pattern}(?:/|$)`, 'u')
  const matching = list.matching(base, (service) => expression.test(service.path), MAX_SERVICES, MAX_COMPARED)
  const sets = new RecordSets()
  addServices(sets, path, matching)
  const all = sets.records()
  const asked = all.filter((record) => record.type === type)
  const records = asked.length === 0 && FOLLOWED.has(type) ? all.filter(isAlias) : asked
  return { found: list.has(base), records, additional: addressesOfTargets(list, zone, records) }
}

function isAlias({ type }: SourceRecord): boolean {
  return type === TYPE.CNAME
}

function addressesOfTargets(
  list: ServiceList,
  zone: string,
  records: readonly SourceRecord[],
): SearchResult['additional'] {
  const additional: { owner: Uint8Array; record: SourceRecord }[] = []
  const seen = new Set<string>()
  let left = MAX_TARGET_RECORDS
  for (const { type, rdata } of records) {
    const at = TARGET_AT.get(type)
    let target = at === undefined ? undefined : pathOfName(rdata.subarray(at))
    for (let i = 0; i < LONGEST_CHAIN && left > 0; i++) {
      if (target === undefined || !isAtOrBelow(target, zone) || seen.has(target)) break
      seen.add(target)
      const owner = nameOf(target)
      const found = compatibleRecords(list, target, target === zone).records
      left -= 1 + found.length
      const addresses = found.filter((record) => record.type === TYPE.A || record.type === TYPE.AAAA)
      const shown = addresses.length > 0 ? addresses : found.filter(isAlias)
      for (const record of shown) additional.push({ owner, record })
      target = addresses.length > 0 || shown.length === 0 ? undefined : pathOfName(shown[0].rdata)
    }
  }
  return additional
}
