// names.yaml of a name server of the stack. Order is precedence: what the stack file says comes before what anybody puts
// into etcd; only the reverse zones of the machines give way to others.

import { isIPv6 } from 'node:net'
import { stringify } from 'yaml'
import type { EtcdAccess, MachineSpec, Site } from '../site.ts'
import type { DnsSpec } from './spec.ts'

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

export function namesYaml(spec: DnsSpec, server: MachineSpec, site: Site, { etcd, patroni }: NamesContext): string {
  const path = (inside: string) => site.path(server.name, inside)
  const at = (port: number) => `${isIPv6(server.address) ? `[${server.address}]` : server.address}:${port}`
  const { skydns, alternateDnsServers } = spec
  const reload = `${spec.zonefilesReloadIntervalMs}ms`
  return stringify(
    {
      ...(etcd !== undefined && { etcd: etcdSettings(etcd, path) }),
      sources: [
        { type: 'file', name: 'stack', path: path(PATHS.zone), zones: [site.domain], reload },
        { type: 'directory', name: 'zones', path: path(PATHS.zones), reload },
        ...(etcd === undefined ? [] : patroni.map((cluster) => patroniSource(spec, site, cluster))),
        ...(etcd === undefined ? [] : [{ type: 'etcd-zones', name: 'etcd-zones', prefix: spec.keyPrefix }]),
        ...(etcd === undefined || skydns === undefined ? [] : [{ type: 'skydns', name: 'skydns', ...skydns }]),
        { type: 'directory', name: 'reverse', path: path(PATHS.reverse), reload },
      ],
      serve: {
        listen: [at(spec.port)],
        ...(alternateDnsServers.length > 0 && { forward: alternateDnsServers, loop: true }),
        load_balance: spec.loadBalanceRecords,
        nsid: server.name,
        health: at(spec.healthPort),
        ready: at(spec.healthPort),
        metrics: at(spec.metricsPort),
        state: path(PATHS.state),
      },
    },
    { lineWidth: 0 },
  )
}

function etcdSettings({ endpoints, login }: EtcdAccess, path: (inside: string) => string): object {
  return {
    endpoints: endpoints.map((endpoint) => (endpoint.includes('://') ? endpoint : `https://${endpoint}`)),
    ca_cert: path(PATHS.ca),
    ...('username' in login
      ? { username: login.username, password: { file: path(PATHS.password) } }
      : { client_cert: path(PATHS.certificate), client_key: path(PATHS.key) }),
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
