// The questions: one file of queries per mix, in dnsperf's input format, and with each question the records a right
// answer contains (`owner TYPE rdata`, or a beginning of that), so that speed is only counted for right answers.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { seededRandom } from './random.ts'
import type { BigZone } from './zones.ts'
import {
  ALIASES_PER_GROUP,
  aliasLabel,
  aliasTarget,
  cutLabel,
  HOSTS_PER_GROUP,
  hasAaaa,
  hostAddress,
  hostLabel,
  scramble,
  wildAddress,
  wildLabel,
} from './zones.ts'

const QUERIES_PER_FILE = 100_000
const SAMPLE = 25

export interface Question {
  readonly name: string
  readonly type: string
  readonly nxdomain: boolean
  readonly wanted: readonly string[]
}

export interface QueryFile {
  readonly path: string
  readonly sample: readonly Question[]
  /** Share of the questions whose right answer is NXDOMAIN; the rest are NOERROR. */
  readonly nxdomainShare: number
}

type Ask = (zone: BigZone, pick: (below: number) => number) => Question

const found = (name: string, type: string, wanted: string[]): Question => ({ name, type, nxdomain: false, wanted })

const hit: Ask = (zone, pick) => {
  const host = pick(zone.groups * HOSTS_PER_GROUP)
  const name = `${hostLabel(host)}.${zone.origin}`
  return found(name, 'A', [`${name} A ${hostAddress(host)}`])
}

const ipv6: Ask = (zone, pick) => {
  const host = pick(zone.groups * HOSTS_PER_GROUP)
  const name = `${hostLabel(host)}.${zone.origin}`
  return found(name, 'AAAA', [hasAaaa(host) ? `${name} AAAA 2001:db8:` : `${zone.origin} SOA `])
}

const mail: Ask = (zone, pick) => {
  const name = `${hostLabel(pick(zone.groups) * HOSTS_PER_GROUP)}.${zone.origin}`
  return found(name, 'MX', [`${name} MX 10 ${name}`])
}

const nxdomain: Ask = (zone, pick) => {
  const name = `x${scramble(pick(2 ** 31))}.${zone.origin}`
  return { name, type: 'A', nxdomain: true, wanted: [`${zone.origin} SOA `] }
}

const wildcard: Ask = (zone, pick) => {
  const group = pick(zone.groups)
  const name = `any${scramble(pick(2 ** 31))}.${wildLabel(group)}.${zone.origin}`
  return found(name, 'A', [`${name} A ${wildAddress(group)}`])
}

const cname: Ask = (zone, pick) => {
  const alias = pick(zone.groups * ALIASES_PER_GROUP)
  const name = `${aliasLabel(alias)}.${zone.origin}`
  const target = `${hostLabel(aliasTarget(alias))}.${zone.origin}`
  return found(name, 'A', [`${name} CNAME ${target}`, `${target} A ${hostAddress(aliasTarget(alias))}`])
}

const referral: Ask = (zone, pick) => {
  const cut = `${cutLabel(pick(zone.groups))}.${zone.origin}`
  return found(`www.${cut}`, 'A', [`${cut} NS ns.${cut}`, `ns.${cut} A 192.0.2.53`])
}

/** Roughly what an authoritative server sees: mostly hits, every tenth question for a name that is not there. */
const mixed: Ask = (zone, pick) => {
  const share = pick(100)
  if (share < 55) return hit(zone, pick)
  if (share < 70) return ipv6(zone, pick)
  if (share < 75) return mail(zone, pick)
  if (share < 85) return nxdomain(zone, pick)
  if (share < 90) return wildcard(zone, pick)
  return share < 95 ? cname(zone, pick) : referral(zone, pick)
}

export const MIXES = { hit, nxdomain, wildcard, cname, referral, mixed } as const
export type Mix = keyof typeof MIXES

export async function writeQueries(directory: string, zone: BigZone, mix: Mix): Promise<QueryFile> {
  const random = seededRandom(zone.groups)
  const pick = (below: number) => Math.floor(random() * below)
  const questions = Array.from({ length: QUERIES_PER_FILE }, () => MIXES[mix](zone, pick))
  const path = join(directory, `${mix}.queries`)
  await writeFile(path, questions.map((q) => `${q.name} ${q.type}\n`).join(''))
  return {
    path,
    sample: questions.slice(0, SAMPLE),
    nxdomainShare: questions.filter((q) => q.nxdomain).length / questions.length,
  }
}
