// The head of a zone of virtual machines: SOA, the name server `ns` and its addresses, in the very words of
// KubeSecondaryDNS, which reads its serial back from them. The records to be served are read from the same text.

import { isIP } from 'node:net'
import { formatName, MAX_NAME_LENGTH, parseName } from '../../dns/name.ts'
import { textSource } from '../../dns/zonefile/format.ts'
import { parseZoneFile } from '../../dns/zonefile/parse.ts'
import { HoldfastError } from '../../lib/errors.ts'
import type { SourceRecord } from '../part.ts'
import { parseAddress } from './published-address.ts'

export interface ZoneApex {
  /** Without the final dot. */
  readonly zone: string
  /** Of the name server; without any, the zone names none. */
  readonly nameServerAddresses: readonly string[]
  /** Of these records. */
  readonly ttlSeconds: number
  readonly refreshSeconds: number
  readonly retrySeconds: number
  readonly expireSeconds: number
  /** How long it may be remembered that a name does not exist. */
  readonly minimumSeconds: number
}

export const APEX_DEFAULTS = {
  nameServerAddresses: [],
  ttlSeconds: 3600,
  refreshSeconds: 3600,
  retrySeconds: 3600,
  expireSeconds: 1_209_600,
  minimumSeconds: 3600,
} as const

/** The records of one name. */
export interface ApexRecords {
  readonly owner: Uint8Array
  readonly records: readonly SourceRecord[]
}

/** `DOMAIN` to the zone: `vm`, or `vm.<DOMAIN>`. */
export function kubevirtZone(domain: string): string {
  if (domain === '') return 'vm'
  const zone = `vm.${domain.replace(/\.$/u, '')}`
  if (/^[A-Za-z\d_-]{1,63}(?:\.[A-Za-z\d_-]{1,63})*$/u.test(zone) && zone.length + 2 <= MAX_NAME_LENGTH) return zone
  throw new HoldfastError(
    'KubevirtInvalid',
    `Cannot publish names below "${domain}": DOMAIN is no domain name; expected one such as "cluster1.example"`,
  )
}

/** `NAME_SERVER_IP`: addresses, with commas between several. */
export function parseNameServerAddresses(text: string): string[] {
  const texts = text.split(',').map((each) => each.trim())
  if (texts.length === 1 && texts[0] === '') return []
  return texts.map((each) => {
    const address = parseAddress(each)
    if (address !== undefined) return address.text
    throw new HoldfastError(
      'KubevirtInvalid',
      `Cannot tell others of name server "${each}": NAME_SERVER_IP is no address; expected one such as 192.0.2.53, or several with commas between`,
    )
  })
}

/** The first lines of the zone file. */
export function apexText(apex: ZoneApex, serial: number): string {
  const { zone, nameServerAddresses, ttlSeconds, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds } = apex
  const numbers = [serial, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds].join(' ')
  const lines = [`$ORIGIN ${zone}. `, `$TTL ${ttlSeconds} `, `@ IN SOA ns.${zone}. email.${zone}. (${numbers})`]
  if (nameServerAddresses.length > 0) lines.push(`@ IN NS ns.${zone}.`)
  for (const address of nameServerAddresses) lines.push(`ns IN ${isIP(address) === 4 ? 'A' : 'AAAA'} ${address}`)
  return `${lines.join('\n')}\n`
}

/** What the zone is served with, name by name. */
export function apexRecords(apex: ZoneApex, serial: number): ApexRecords[] {
  const found: { readonly owner: Uint8Array; readonly record: SourceRecord }[] = []
  const options = { file: apex.zone, origin: parseName(`${apex.zone}.`) }
  parseZoneFile(textSource(apexText(apex, serial)), options, {
    record(owner, ownerLength, type, _klass, ttl, rdata, rdataLength) {
      const record = { type, ttl, rdata: rdata.slice(0, rdataLength) }
      found.push({ owner: owner.slice(0, ownerLength), record })
    },
  })
  const names = Map.groupBy(found, ({ owner }) => formatName(owner))
  return Array.from(names.values(), (same) => ({ owner: same[0].owner, records: same.map(({ record }) => record) }))
}
