// `dns:` of a stack file to its name servers.

import { DNS_DEFAULTS, type DnsDocument, type DnsServerDocument } from '../../clusters/dns/schema.ts'
import type { DnsSpec } from '../../clusters/dns/spec.ts'
import type { MachineSpec } from '../../clusters/site.ts'
import { quote } from '../../document/values.ts'
import { parseZones } from '../../server/notation.ts'
import { skydnsPath, zonesPrefix } from '../../server/skydns-defaults.ts'
import { dnsServers, etcdLayers, externalEtcd } from './dns-servers.ts'
import { agreed, type Layer } from './layers.ts'
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
  const { part, entries, hasEtcd, ownZones } = context
  const isExternal = etcdLayers(part, entries).some(({ values }) => values !== undefined)
  if (!isExternal && !hasEtcd) refuseWithoutEtcd(part, resolver)
  if (part.engine === 'coredns') checkCoredns(context, resolver)
  return {
    engine: part.engine ?? DNS_DEFAULTS.engine,
    servers: dnsServers(context, resolver),
    ...portsOf(part, resolver),
    zones: part.zones === undefined ? [] : readZoneFiles(part.zones, ['dns', 'zones'], ownZones, resolver),
    etcd: isExternal ? externalEtcd(context, resolver) : hasEtcd ? 'own' : undefined,
    keyPrefix: keyPrefixOf(context, resolver),
    allowZones: zonesOf(part.allow_zones ?? [], ['dns', 'allow_zones'], resolver),
    skydns: skydnsOf(part, resolver),
  }
}

function refuseWithoutEtcd(part: DnsDocument, resolver: StackResolver): void {
  for (const key of ['key_prefix', 'allow_zones', 'skydns'] as const)
    if (part[key] !== undefined)
      resolver.problem(['dns', key], 'there is no etcd to read from; expected "etcd" in the stack, or "etcd" in "dns"')
}

/** What only our own name server can do. */
function checkCoredns({ part, ownZones }: DnsContext, resolver: StackResolver): void {
  if (part.skydns !== undefined)
    resolver.problem(['dns', 'skydns'], 'CoreDNS is given zone files only; expected "engine: holdfast", or no "skydns"')
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
    if (other !== key) resolver.problem(['dns', key], `${ports[index]} is "${other}", too; expected another port`)
  }
  const [port, healthPort, metricsPort] = ports
  return { port, healthPort, metricsPort }
}

function keyPrefixOf({ part, entries }: DnsContext, resolver: StackResolver): string {
  const layers: readonly Layer<Pick<DnsDocument, 'key_prefix'>>[] = [
    { path: ['dns'], values: part },
    ...etcdLayers(part, entries),
  ]
  return zonesPrefix(agreed(layers, 'key_prefix', resolver)?.value ?? DNS_DEFAULTS.key_prefix)
}

function skydnsOf({ skydns }: DnsDocument, resolver: StackResolver): DnsSpec['skydns'] {
  if (skydns === undefined) return undefined
  const zones = zonesOf(skydns.zones, ['dns', 'skydns', 'zones'], resolver)
  return { zones, path: skydnsPath(skydns.path) }
}

function zonesOf(words: readonly string[], path: readonly string[], resolver: StackResolver): string[] {
  const zones = words.flatMap((word, index) => {
    const found = /^[!-~]+$/u.test(word) ? parseZones(word) : undefined
    if (found === undefined)
      resolver.problem(
        [...path, index],
        `${quote(word)} is not a zone; expected a name such as example.org, or a network such as 10.0.0.0/8`,
      )
    return found ?? []
  })
  return [...new Set(zones)]
}
