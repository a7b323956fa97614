// What each name server of a stack may have for itself: how it serves names, and how it logs in to an etcd cluster that is
// not the stack's own. Which cluster that is holds for all of them.

import {
  DNS_DEFAULTS,
  type DnsDocument,
  type DnsEtcdDocument,
  type DnsServerDocument,
} from '../../clusters/dns/schema.ts'
import type { DnsServer, Serving } from '../../clusters/dns/spec.ts'
import type { EtcdAccess, EtcdLogin, MachineSpec } from '../../clusters/site.ts'
import { parseDuration } from '../../document/notation.ts'
import { quote } from '../../document/values.ts'
import { plain } from '../../machine/content.ts'
import { parseUpstream } from '../../server/notation.ts'
import type { DnsContext } from './dns-part.ts'
import { certifiedKey, externalEndpoints } from './external-etcd.ts'
import { agreed, type Given, type Layer, nearest } from './layers.ts'
import { clientOf } from './logs.ts'
import type { StackResolver } from './resolver.ts'

type Entry = DnsContext['entries'][number]
type Client = Given<DnsEtcdDocument['client']>

export function dnsServers({ part, entries, specs }: DnsContext, resolver: StackResolver): DnsServer[] {
  const shared = nearest(etcdLayers(part, entries), 'client')
  return entries.map((entry): DnsServer => {
    const own = nearest(etcdLayers(part, [entry]).toReversed(), 'client')
    const isShared = own === undefined || own.value === shared?.value
    return {
      ...(specs.get(entry.name) as MachineSpec),
      ...servingOf(part, entry, resolver),
      etcdLogin: isShared ? undefined : loginOf(own, resolver),
    }
  })
}

/** From the cluster to its servers. */
export function etcdLayers(part: DnsDocument, entries: readonly Entry[]): Layer<DnsEtcdDocument>[] {
  return [{ path: ['dns'], values: part }, ...entries.map(({ path, document }) => ({ path, values: document }))].map(
    ({ path, values }) => ({ path: [...path, 'etcd'], values: values?.etcd }),
  )
}

/** With the login of the first who gives one, for those who give none. */
export function externalEtcd({ part, entries }: DnsContext, resolver: StackResolver): EtcdAccess | undefined {
  const layers = etcdLayers(part, entries)
  const [endpoints, ca] = [agreed(layers, 'endpoints', resolver), agreed(layers, 'ca_certificate', resolver)]
  const client = nearest(layers, 'client')
  if (endpoints === undefined || ca === undefined || client === undefined) return undefined
  const login = loginOf(client, resolver)
  const access = {
    endpoints: externalEndpoints(endpoints.value, endpoints.path, resolver),
    ca: plain(resolver.pem(ca.value, ca.path)),
  }
  return login && { ...access, login }
}

function loginOf({ path, value }: Client, resolver: StackResolver): EtcdLogin | undefined {
  const login = clientOf(value, path, resolver)
  if (login === undefined) return undefined
  return 'username' in login ? { ...login, connection: certifiedKey(login.connection) } : certifiedKey(login)
}

type Settings = NonNullable<DnsServerDocument['dns']>

function servingOf(part: DnsDocument, { path, document }: Entry, resolver: StackResolver): Serving {
  const layers: readonly Layer<Settings>[] = [
    { path: [...path, 'dns'], values: document?.dns },
    { path: ['dns'], values: part },
  ]
  return {
    zonefilesReloadIntervalMs:
      nearest(layers, 'zonefiles_reload_interval')?.value ??
      (parseDuration(DNS_DEFAULTS.zonefiles_reload_interval) as number),
    loadBalanceRecords: nearest(layers, 'load_balance_records')?.value ?? DNS_DEFAULTS.load_balance_records,
    alternateDnsServers: alternateServers(nearest(layers, 'alternate_dns_servers'), resolver),
  }
}

function alternateServers(servers: Given<readonly string[]> | undefined, resolver: StackResolver): readonly string[] {
  if (servers === undefined) return DNS_DEFAULTS.alternate_dns_servers
  for (const [index, server] of servers.value.entries())
    if (parseUpstream(server) === undefined)
      resolver.problem(
        [...servers.path, index],
        `${quote(server)} is not an address; expected an IP address, with or without a port`,
      )
  return servers.value
}
