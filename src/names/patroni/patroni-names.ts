// Names of a PostgreSQL cluster that Patroni runs, as a pure function of its keys in etcd:
//
//   primary.<zone>   the leader; gone while there is none
//   replica.<zone>   all members that take reads
//   sync.<zone>      those of them that are synchronous
//   <member>.<zone>  each member, whatever its state
//
// A host that is an address gives A or AAAA. A host that has a name gives a CNAME, of which there can be one.

import { equalNames, formatName, MAX_NAME_LENGTH, parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/types.ts'
import type { SourceRecord } from '../part.ts'
import { decodeCluster, type PatroniMember } from './cluster-keys.ts'
import { connTargets, type Target } from './conn-url.ts'

export interface PatroniName {
  /** Wire form. */
  readonly owner: Uint8Array
  readonly records: readonly SourceRecord[]
}

export interface PatroniNames {
  /** Each with at least one record, in a stable order. */
  readonly names: readonly PatroniName[]
  /** What cannot be published, one line each. */
  readonly problems: readonly string[]
}

export interface PatroniOptions {
  /** Absolute. */
  readonly zone: string
  readonly ttlSeconds: number
}

const SERVICES: ReadonlySet<string> = new Set(['primary', 'replica', 'sync'])

/** `keys` are those below `patroniPrefix`, without it. */
export function patroniNames(keys: ReadonlyMap<string, Uint8Array>, options: PatroniOptions): PatroniNames {
  const { primary, members, sync, unreadable } = decodeCluster(keys)
  const names: PatroniName[] = []
  const problems: string[] = []
  const report = (name: string, problem: string) =>
    problems.push(`Cannot publish member "${name}" of ${options.zone}: ${problem}`)

  for (const name of unreadable) report(name, 'its key in etcd is not a JSON object with a conn_url')
  const targets = new Map<PatroniMember, readonly Target[]>()
  for (const member of members) {
    const found = connTargets(member.connUrl)
    if (typeof found === 'string')
      report(member.name, `${found}; set postgresql.connect_address to an address and a port`)
    else targets.set(member, found)
  }

  const zone = parseName(options.zone)
  const publish = (label: string, chosen: readonly PatroniMember[]) => {
    const owner = parseName(label, zone)
    const { records, problem } = recordsFor(
      owner,
      chosen.flatMap((member) => targets.get(member) ?? []),
      options.ttlSeconds,
    )
    if (records.length > 0) names.push({ owner, records })
    if (problem !== undefined) problems.push(`Cannot publish all of "${formatName(owner)}": ${problem}`)
  }
  const replicas = members.filter((member) => member.isReplica)
  publish(
    'primary',
    members.filter((member) => member.name === primary),
  )
  publish('replica', replicas)
  publish(
    'sync',
    replicas.filter((member) => sync.has(member.name.toLowerCase())),
  )

  const labels = new Set(SERVICES)
  for (const member of members) {
    const label = member.name.toLowerCase()
    if (!isLabel(member.name, zone)) report(member.name, 'the name is no DNS label; expected letters, digits, - and _')
    else if (SERVICES.has(label))
      report(member.name, `the name is taken: ${label}.${options.zone} stands for the service`)
    else if (labels.has(label)) report(member.name, 'another member differs only in upper and lower case')
    else publish(member.name, [member])
    labels.add(label)
  }
  return { names, problems }
}

function isLabel(name: string, zone: Uint8Array): boolean {
  return /^[\w-]{1,63}$/u.test(name) && name.length + 1 + zone.length <= MAX_NAME_LENGTH
}

function recordsFor(
  owner: Uint8Array,
  targets: readonly Target[],
  ttl: number,
): { records: SourceRecord[]; problem?: string } {
  // A member may go by the very name it has here; then its address has to come from another source.
  const others = targets.filter(({ type, rdata }) => type !== TYPE.CNAME || !equalNames(rdata, owner))
  const distinct = [...new Map(others.map((target) => [`${target.type} ${target.rdata.join()}`, target])).values()]
  const addresses = distinct.filter(({ type }) => type !== TYPE.CNAME)
  const chosen = addresses.length > 0 ? addresses : distinct.slice(0, 1)
  const records = chosen.map((target) => ({ ...target, ttl }))
  if (chosen.length === distinct.length) return { records }
  const left = distinct.filter((target) => !chosen.includes(target)).map(({ rdata }) => formatName(rdata))
  const reason = addresses.length > 0 ? 'a CNAME cannot stand beside addresses' : 'there can be but one CNAME'
  return { records, problem: `${reason}, so ${left.join(', ')} is left out; let every connect_address be an address` }
}
