// `dns:` of a stack file to its name servers.

import {
  DNS_DEFAULTS,
  type DnsDocument,
  type DnsEtcdDocument,
  type DnsServerDocument,
} from '../../clusters/dns/schema.ts'
import type { DnsSpec } from '../../clusters/dns/spec.ts'
import type { EtcdAccess, MachineSpec } from '../../clusters/site.ts'
import { parseDuration } from '../../document/notation.ts'
import { quote } from '../../document/values.ts'
import { plain } from '../../machine/content.ts'
import { parseUpstream, parseZones } from '../../server/notation.ts'
import { skydnsPath, zonesPrefix } from '../../server/skydns-defaults.ts'
import { externalEndpoints } from './external-etcd.ts'
import { clientOf } from './hardware.ts'
import { agreed, type Given, type Layer } from './layers.ts'
import type { ClusterEntry } from './machines.ts'
import type { StackResolver } from './resolver.ts'
import { readZoneFiles } from './zone-files.ts'

export interface DnsContext {
  readonly part: DnsDocument
  readonly entries: readonly ClusterEntry<DnsServerDocument>[]
  readonly specs: ReadonlyMap<string, MachineSpec>
  readonly hasEtcd: boolean
  /** Zones of the stack itself, which no zone file can be. */
  readonly ownZones: readonly string[]
}

export function resolveDns(context: DnsContext, resolver: StackResolver): DnsSpec {
  const { part, entries, specs, hasEtcd, ownZones } = context
  const backends: readonly Layer<Pick<DnsDocument, 'etcd'>>[] = [
    { path: ['dns'], values: part },
    ...entries.map(({ path, document }) => ({ path, values: document })),
  ]
  const etcd = agreed(backends, 'etcd', resolver)
  const layers: readonly Layer<Pick<DnsDocument, keyof NonNullable<DnsServerDocument['dns']>>>[] = [
    { path: ['dns'], values: part },
    ...entries.map(({ path, document }) => ({ path: [...path, 'dns'], values: document?.dns })),
  ]
  if (etcd === undefined && !hasEtcd) refuseWithoutEtcd(part, resolver)
  if (part.engine === 'coredns') checkCoredns(context, resolver)
  return {
    engine: part.engine ?? DNS_DEFAULTS.engine,
    servers: entries.map(({ name }) => specs.get(name) as MachineSpec),
    ...portsOf(part, resolver),
    zones: part.zones === undefined ? [] : readZoneFiles(part.zones, ['dns', 'zones'], ownZones, resolver),
    etcd: etcd === undefined ? (hasEtcd ? 'own' : undefined) : accessOf(etcd, resolver),
    keyPrefix: keyPrefixOf(part, etcd, resolver),
    skydns: skydnsOf(part, resolver),
    zonefilesReloadIntervalMs:
      agreed(layers, 'zonefiles_reload_interval', resolver)?.value ??
      (parseDuration(DNS_DEFAULTS.zonefiles_reload_interval) as number),
    loadBalanceRecords: agreed(layers, 'load_balance_records', resolver)?.value ?? DNS_DEFAULTS.load_balance_records,
    alternateDnsServers: alternateServers(agreed(layers, 'alternate_dns_servers', resolver), resolver),
  }
}

function refuseWithoutEtcd(part: DnsDocument, resolver: StackResolver): void {
  for (const key of ['key_prefix', 'skydns'] as const)
    if (part[key] !== undefined)
      resolver.problem(['dns', key], 'there is no etcd to read from; wanted: "etcd" in the stack, or "etcd" in "dns"')
}

/** What only our own name server can do. */
function checkCoredns({ part, ownZones }: DnsContext, resolver: StackResolver): void {
  if (part.skydns !== undefined)
    resolver.problem(['dns', 'skydns'], 'CoreDNS is given zone files only; wanted: "engine: holdfast", or no "skydns"')
  const patroniZone = ownZones[1]?.replace(/\.$/u, '')
  if (patroniZone !== undefined)
    resolver.notice(
      ['dns', 'engine'],
      `CoreDNS cannot follow Patroni: there is no primary.${patroniZone} and no replica.${patroniZone} with it`,
    )
}

function portsOf(part: DnsDocument, resolver: StackResolver): Pick<DnsSpec, 'port' | 'healthPort' | 'metricsPort'> {
  const keys = ['port', 'health_port', 'metrics_port'] as const
  const ports = keys.map((key) => part[key] ?? DNS_DEFAULTS[key])
  for (const [index, key] of keys.entries()) {
    const other = keys[ports.indexOf(ports[index])]
    if (other !== key) resolver.problem(['dns', key], `${ports[index]} is "${other}", too; wanted: another port`)
  }
  const [port, healthPort, metricsPort] = ports
  return { port, healthPort, metricsPort }
}

function accessOf({ path, value }: Given<DnsEtcdDocument>, resolver: StackResolver): EtcdAccess | undefined {
  const login = clientOf(value.client, [...path, 'client'], resolver)
  const ca = plain(resolver.pem(value.ca_certificate, [...path, 'ca_certificate']))
  const endpoints = externalEndpoints(value.endpoints, [...path, 'endpoints'], resolver)
  if (login === undefined) return undefined
  return {
    endpoints,
    ca,
    login: 'username' in login ? login : { certificate: plain(login.certificate), key: [login.key] },
  }
}

function keyPrefixOf(part: DnsDocument, etcd: Given<DnsEtcdDocument> | undefined, resolver: StackResolver): string {
  const layers: readonly Layer<{ readonly key_prefix?: string | undefined }>[] = [
    { path: ['dns'], values: part },
    { path: etcd?.path ?? [], values: etcd?.value },
  ]
  return zonesPrefix(agreed(layers, 'key_prefix', resolver)?.value ?? DNS_DEFAULTS.key_prefix)
}

function skydnsOf({ skydns }: DnsDocument, resolver: StackResolver): DnsSpec['skydns'] {
  if (skydns === undefined) return undefined
  const zones = skydns.zones.flatMap((word, index) => {
    const found = /^[!-~]+$/u.test(word) ? parseZones(word) : undefined
    if (found === undefined)
      resolver.problem(
        ['dns', 'skydns', 'zones', index],
        `${quote(word)} is not a zone; wanted: a name such as example.org, or a network such as 10.0.0.0/8`,
      )
    return found ?? []
  })
  return { zones: [...new Set(zones)], path: skydnsPath(skydns.path) }
}

function alternateServers(servers: Given<readonly string[]> | undefined, resolver: StackResolver): readonly string[] {
  if (servers === undefined) return DNS_DEFAULTS.alternate_dns_servers
  for (const [index, server] of servers.value.entries())
    if (parseUpstream(server) === undefined)
      resolver.problem(
        [...servers.path, index],
        `${quote(server)} is not an address; wanted: an IP address, with or without a port`,
      )
  return servers.value
}
