// CoreDNS in the place of our name server: the Corefile it has on servers of its own, and beside it our updater, which keeps
// a directory of zone files as etcd has them. CoreDNS reads folders within folders in the order of their names and takes the
// first file of a zone: what the stack file says, what is in etcd, the reverse zones of the machines.

import { isIPv6 } from 'node:net'
import { plain } from '../../machine/content.ts'
import { etcdMirrorPart } from '../host/etcd-mirror.ts'
import { hostFile, type HostPart, joinParts } from '../host/host-part.ts'
import { type EtcdAccess, etcdOf, type MachineSpec, type Site } from '../site.ts'
import type { DnsServer, DnsSpec } from './spec.ts'

/** Where the image has it. */
const COREDNS = '/usr/local/bin/coredns'
const CONFIG = '/etc/coredns/Corefile'
const ZONEFILES = '/opt/coredns/zonefiles'
export const COREDNS_ZONES = {
  stack: `${ZONEFILES}/1-stack`,
  etcd: `${ZONEFILES}/2-etcd`,
  reverse: `${ZONEFILES}/3-reverse`,
} as const
const STOP_TIMEOUT_MS = 10_000

export interface CorednsContext {
  readonly user: string
  /** Of the name server. */
  readonly service: string
  readonly etcd: EtcdAccess | undefined
}

export function corednsPart(spec: DnsSpec, server: DnsServer, site: Site, context: CorednsContext): HostPart {
  const { user, service, etcd } = context
  const path = (inside: string) => site.path(server.name, inside)
  const root = (directory: string) => ({ path: directory, owner: 'root', mode: 0o755 })
  return joinParts([
    {
      directories: ['/etc/coredns', '/opt/coredns', ZONEFILES, COREDNS_ZONES.stack, COREDNS_ZONES.reverse].map(root),
      // It looks for changes of the file by itself.
      files: [hostFile(CONFIG, plain(corefile(spec, server, path(ZONEFILES))))],
      services: [
        {
          name: service,
          user,
          command: [COREDNS, '-conf', path(CONFIG)],
          environment: {},
          stopSignal: 'SIGTERM',
          stopTimeoutMs: STOP_TIMEOUT_MS,
          bindsLowPorts: Math.min(spec.port, spec.healthPort, spec.metricsPort) < 1024,
        },
      ],
    },
    etcd === undefined ? {} : updaterPart(spec, server, site, { user, etcd: etcdOf(etcd, server) }),
  ])
}

function updaterPart(
  { keyPrefix }: DnsSpec,
  { name }: MachineSpec,
  site: Site,
  { user, etcd }: { readonly user: string; readonly etcd: EtcdAccess },
): HostPart {
  const modes = { fileMode: 0o644, directoryMode: 0o755, isData: true }
  const mirror = { machine: name, name: 'zonefiles', user, etcd, prefix: keyPrefix, ...modes, zonesOnly: true }
  return etcdMirrorPart({ ...mirror, directory: COREDNS_ZONES.etcd }, site)
}

function corefile(spec: DnsSpec, server: DnsServer, directory: string): string {
  const { name, address, moreAddresses, alternateDnsServers } = server
  const at = (port: number) => `${isIPv6(address) ? `[${address}]` : address}:${port}`
  const lines = [
    `bind ${[address, ...moreAddresses].join(' ')}`,
    'auto {',
    `    directory ${directory} (.*) {1}`,
    `    reload ${server.zonefilesReloadIntervalMs}ms`,
    '}',
    // Zones come first; all other names get here.
    ...(alternateDnsServers.length > 0 ? [`forward . ${alternateDnsServers.join(' ')}`] : []),
    ...(server.loadBalanceRecords ? ['loadbalance round_robin'] : []),
    'reload 5s',
    'loop',
    `nsid ${name}`,
    `prometheus ${at(spec.metricsPort)}`,
    `health ${at(spec.healthPort)}`,
    'errors',
    'log',
  ]
  return `.:${spec.port} {\n${lines.map((line) => `    ${line}\n`).join('')}}\n`
}
