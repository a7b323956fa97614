// The zones under test. A zone is made of groups of 20 records: 10 hosts (10 A, 3 AAAA), 2 aliases of hosts, 1 MX,
// 1 wildcard and 1 delegation with two name servers and glue. Owners are scrambled numbers, so that the order in the
// file is not the order of names; every file is `db.NAME`, as CoreDNS's `auto` expects by default.

import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export const RECORDS_PER_GROUP = 20
export const HOSTS_PER_GROUP = 10
export const ALIASES_PER_GROUP = 2

/** One zone directory and what a measurement must know of it. Names are absolute. */
export interface ZoneSet {
  readonly directory: string
  readonly names: readonly string[]
}

/** A single zone with its size, from which the questions are made. */
export interface BigZone extends ZoneSet {
  readonly origin: string
  readonly groups: number
}

/** An odd multiplier is a bijection modulo 2^32: distinct numbers stay distinct. */
export const scramble = (n: number): string => (Math.imul(n + 1, 0x9e3779b1) >>> 0).toString(36)

export const hostLabel = (host: number): string => `h${scramble(host)}`
export const aliasLabel = (alias: number): string => `c${scramble(alias)}`
export const wildLabel = (group: number): string => `w${scramble(group)}`
export const cutLabel = (group: number): string => `d${scramble(group)}`

export const hostAddress = (host: number): string => `10.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}`
export const wildAddress = (group: number): string => `172.16.${(group >> 8) & 255}.${group & 255}`
export const hasAaaa = (host: number): boolean => host % HOSTS_PER_GROUP < 3
export const aliasTarget = (alias: number): number =>
  Math.floor(alias / ALIASES_PER_GROUP) * HOSTS_PER_GROUP + (alias % ALIASES_PER_GROUP)

function apexText(origin: string): string {
  return `$ORIGIN ${origin}
$TTL 3600
@ IN SOA ns1 hostmaster 2026010101 7200 3600 1209600 300
@ NS ns1
@ NS ns2
ns1 A 192.0.2.1
ns2 A 192.0.2.2
`
}

function groupText(g: number): string {
  let text = ''
  for (let k = 0; k < HOSTS_PER_GROUP; k++) {
    const host = g * HOSTS_PER_GROUP + k
    text += `${hostLabel(host)} A ${hostAddress(host)}\n`
    if (hasAaaa(host))
      text += `${hostLabel(host)} AAAA 2001:db8::${(host >> 16).toString(16)}:${(host & 0xffff).toString(16)}\n`
  }
  for (let k = 0; k < ALIASES_PER_GROUP; k++) {
    const alias = g * ALIASES_PER_GROUP + k
    text += `${aliasLabel(alias)} CNAME ${hostLabel(aliasTarget(alias))}\n`
  }
  const first = hostLabel(g * HOSTS_PER_GROUP)
  const cut = cutLabel(g)
  return `${text}${first} MX 10 ${first}
*.${wildLabel(g)} A ${wildAddress(g)}
${cut} NS ns.${cut}
${cut} NS ns1
ns.${cut} A 192.0.2.53
`
}

export async function writeBigZone(directory: string, origin: string, records: number): Promise<BigZone> {
  const groups = Math.round(records / RECORDS_PER_GROUP)
  function* text() {
    yield apexText(origin)
    for (let g = 0; g < groups; g++) yield groupText(g)
  }
  await pipeline(Readable.from(text()), createWriteStream(zoneFile(directory, origin)))
  return { directory, names: [origin], origin, groups }
}

/** Many zones of one group each: what a hosting provider's directory looks like. */
export async function writeSmallZones(directory: string, count: number): Promise<ZoneSet> {
  const names = Array.from({ length: count }, (_, n) => `z${scramble(n)}.example.`)
  for (const [n, name] of names.entries()) await writeFile(zoneFile(directory, name), apexText(name) + groupText(n))
  return { directory, names }
}

export function zoneFile(directory: string, name: string): string {
  return join(directory, `db.${name.slice(0, -1)}`)
}
