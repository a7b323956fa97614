// The dns part of a stack file, checked and resolved.

import type { EtcdAccess, EtcdLogin, MachineSpec } from '../site.ts'

export interface DnsSpec {
  readonly engine: DnsEngine
  readonly servers: readonly DnsServer[]
  readonly port: number
  readonly healthPort: number
  readonly metricsPort: number
  /** Zone files of the stack file's directory, read when it was loaded: put on every server. */
  readonly zones: readonly ZoneFile[]
  /** Where zones (and SkyDNS records) come from; undefined without any etcd. */
  readonly etcd: EtcdAccess | 'own' | undefined
  readonly keyPrefix: string
  /** Zones in etcd that may be at or below the zones of the stack and its zone files. */
  readonly allowZones: readonly string[]
  /** SkyDNS records: their zones, and the prefix of the keys. */
  readonly skydns: { readonly zones: readonly string[]; readonly path: string } | undefined
}

export interface DnsServer extends MachineSpec, Serving {
  /** Its own way to log in to an etcd that is not the stack's; that of `etcd` unless given. */
  readonly etcdLogin?: EtcdLogin | undefined
}

/** What each server may have for itself. */
export interface Serving {
  readonly zonefilesReloadIntervalMs: number
  readonly loadBalanceRecords: boolean
  /** Asked for all that the zones do not have. */
  readonly alternateDnsServers: readonly string[]
}

/** Our own name server, or CoreDNS beside our updater of zone files. */
export type DnsEngine = 'holdfast' | 'coredns'

export interface ZoneFile {
  /** Its file name in the directory. */
  readonly name: string
  readonly text: string
}
