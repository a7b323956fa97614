// names.yaml of a name server of the stack. Order is precedence: what the stack file says comes before what anybody puts
// into etcd; only the reverse zones of the machines give way to others.

import { isIPv6 } from 'node:net'
import { stringify } from 'yaml'
import { clientCertificate, type EtcdAccess, etcdOf, type Site } from '../site.ts'
import type { DnsServer, DnsSpec } from './spec.ts'

export const PATHS = {
  config: '/etc/holdfast/names.yaml',
  /** The stack's own zone. */
  zone: '/etc/holdfast/stack.zone',
  /** Zone files of the user. */
  zones: '/etc/holdfast/zones',
  /** Reverse zones of the machines. */
  reverse: '/etc/holdfast/reverse',
  ca: '/etc/holdfast/etcd-ca.pem',
  password: '/etc/holdfast/etcd-password',
  certificate: '/etc/holdfast/etcd-client.pem',
  key: '/etc/holdfast/etcd-client.key',
  state: '/var/lib/holdfast',
} as const

export interface NamesContext {
  readonly etcd: EtcdAccess | undefined
  readonly patroni: readonly { readonly scope: string; readonly namespace: string }[]
}

/** The text for each server. What all of them have is written once: together they name each other n² times. */
export function namesYamls(spec: DnsSpec, site: Site, context: NamesContext): (server: DnsServer) => string {
  const { etcd } = context
  const fromEtcd = etcd === undefined ? '' : listItems(etcdSources(spec, site, context))
  return (server) => {
    const reload = `${server.zonefilesReloadIntervalMs}ms`
    const path = (inside: string) => site.path(server.name, inside)
    const ownZone = { type: 'file', name: 'stack', path: path(PATHS.zone), zones: [site.domain], reload }
    const zones = { type: 'directory', name: 'zones', path: path(PATHS.zones), reload }
    const reverse = { type: 'directory', name: 'reverse', path: path(PATHS.reverse), reload }
    return [
      etcd === undefined ? '' : format({ etcd: etcdSettings(etcdOf(etcd, server), path) }),
      `sources:\n${listItems([ownZone, zones])}${fromEtcd}${listItems([reverse])}`,
      format({ serve: serveSettings(spec, server, path) }),
    ].join('')
  }
}

function etcdSources(spec: DnsSpec, site: Site, { patroni }: NamesContext): object[] {
  const { skydns, allowZones } = spec
  const zones = { type: 'etcd-zones', name: 'etcd-zones', prefix: spec.keyPrefix }
  return [
    ...patroni.map((cluster) => patroniSource(spec, site, cluster)),
    { ...zones, ...(allowZones.length > 0 && { allow_zones: allowZones }) },
    ...(skydns === undefined ? [] : [{ type: 'skydns', name: 'skydns', ...skydns }]),
  ]
}

function serveSettings(spec: DnsSpec, server: DnsServer, path: (inside: string) => string): object {
  const place = (address: string, port: number) => `${isIPv6(address) ? `[${address}]` : address}:${port}`
  const at = (port: number) => place(server.address, port)
  const { alternateDnsServers } = server
  return {
    // Names on every interface, the rest on the first.
    listen: [server.address, ...server.moreAddresses].map((address) => place(address, spec.port)),
    ...(alternateDnsServers.length > 0 && { forward: alternateDnsServers, loop: true }),
    load_balance: server.loadBalanceRecords,
    nsid: server.name,
    health: at(spec.healthPort),
    ready: at(spec.healthPort),
    metrics: at(spec.metricsPort),
    state: path(PATHS.state),
  }
}

function format(value: object): string {
  return stringify(value, { lineWidth: 0 })
}

/** As they stand in a list below a key. */
function listItems(items: readonly object[]): string {
  return format(items).replaceAll(/^(?=.)/gmu, '  ')
}

function etcdSettings({ endpoints, login }: EtcdAccess, path: (inside: string) => string): object {
  return {
    endpoints: endpoints.map((endpoint) => (endpoint.includes('://') ? endpoint : `https://${endpoint}`)),
    ca_cert: path(PATHS.ca),
    ...('username' in login && { username: login.username, password: { file: path(PATHS.password) } }),
    ...(clientCertificate(login) !== undefined && {
      client_cert: path(PATHS.certificate),
      client_key: path(PATHS.key),
    }),
  }
}

function patroniSource(
  { servers }: DnsSpec,
  { domain }: Site,
  { scope, namespace }: NamesContext['patroni'][number],
): object {
  return {
    type: 'patroni',
    name: `patroni-${scope}`,
    scope,
    namespace,
    zone: `${scope}.${domain}`,
    nameservers: servers.map(({ name }) => `${name}.${domain}`),
  }
}
