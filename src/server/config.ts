// What the name server is asked to do, as plain data: names.yaml, a Corefile and the command line all end here.
// One block is one CoreDNS server block; names are absolute, lower case, with the final dot.

import type { EtcdOptions } from '../etcd/options.ts'
import type { Secret } from '../lib/secret.ts'
import type { KubernetesConfig, KubevirtConfig } from './kubernetes-config.ts'

export interface ServerConfig {
  readonly blocks: readonly ServerBlock[]
  /** Directory for the last good state of each source. Without it nothing is kept. */
  readonly state?: string
}

export interface ServerBlock {
  /** Where the block comes from, for messages: `Corefile:4`. */
  readonly at: string
  /** Names this block is responsible for; the longest match among blocks on one address wins. */
  readonly zones: readonly string[]
  readonly port: number
  /** Addresses or interface names to bind; empty means every address, IPv4 and IPv6. */
  readonly bind: readonly string[]
  /** `bind … { except … }`: addresses or interface names left out of what `bind` names. */
  readonly bindExcept?: readonly string[]
  /** Directory of relative zone file paths; the paths in `files` and `autos` have it in front already. */
  readonly root: string | undefined
  readonly files: readonly FileConfig[]
  readonly autos: readonly AutoConfig[]
  readonly skydns: readonly SkydnsConfig[]
  readonly etcdZones: readonly EtcdZonesConfig[]
  readonly patronis: readonly PatroniConfig[]
  readonly kubevirts: readonly KubevirtConfig[]
  readonly kubernetes: readonly KubernetesConfig[]
  /** Reverse zones filled from the A and AAAA records of all sources. */
  readonly ptr: PtrConfig | undefined
  readonly forwards: readonly ForwardConfig[]
  readonly alternates: readonly AlternateConfig[]
  readonly cache: CacheConfig | undefined
  /** Rotate A and AAAA sets. On unless `loadbalance` is switched off. */
  readonly loadbalance: boolean
  readonly nsid: string | undefined
  /** Upper limit for UDP answers, RFC 6891; 1232 by default. */
  readonly udpBytes: number
  /** RFC 8482: answer ANY with one HINFO. On by default: large ANY answers only serve amplification. */
  readonly minimalAny: boolean
  readonly log: readonly LogConfig[]
  readonly errors: boolean
  /** `consolidate` of `errors`; the first rule that matches counts. */
  readonly errorRules?: readonly ErrorRule[]
  readonly health: HttpAddress | undefined
  /** Where /status is; next to /health unless given. */
  readonly status?: HttpAddress | 'off'
  readonly lameduckMs: number
  readonly ready: HttpAddress | undefined
  readonly prometheus: HttpAddress | undefined
  /** Re-read the Corefile when its content changes; 0 = never. */
  readonly reloadMs: number
  readonly loop: boolean
}

export interface HttpAddress {
  /** Empty: every address. */
  readonly host: string
  readonly port: number
}

/** What every source of names may have beside its own settings. */
export interface SourceConfig {
  /** For messages, metrics and the file of its last good state. */
  readonly name?: string
  /**
   * Place among the sources of the block: a name offered twice comes from the lowest. Without ranks it is the order
   * of CoreDNS's plugins: files, autos, SkyDNS.
   */
  readonly rank?: number
}

/** `file DBFILE [ZONES...]` */
export interface FileConfig extends SourceConfig {
  readonly path: string
  readonly zones: readonly string[]
  /** Safety-net interval; changes are noticed at once by inotify. 0 = never look again. */
  readonly reloadMs: number
  /** Names for which NXDOMAIN goes on to the next step; `.` for all. */
  readonly fallthrough: readonly string[]
}

/** `auto [ZONES...] { directory DIR [REGEXP ORIGIN_TEMPLATE] ; reload DURATION }` */
export interface AutoConfig extends SourceConfig {
  readonly zones: readonly string[]
  readonly directory: string
  /** Found anywhere in the file name, as in CoreDNS. Text is in Go syntax. */
  readonly pattern: RegExp | string
  /** Origin template with `${1}` for capture groups. */
  readonly template: string
  readonly reloadMs: number
  readonly fallthrough: readonly string[]
}

/** As EtcdOptions, with the password kept from printing. */
export interface EtcdConnection extends Omit<EtcdOptions, 'password'> {
  readonly password?: Secret
}

/** `etcd [ZONES...] { path endpoint credentials tls … }`: records as SkyDNS and ExternalDNS store them. */
export interface SkydnsConfig extends SourceConfig {
  readonly zones: readonly string[]
  /** With the slash in front and none at the end: `/skydns`. */
  readonly path: string
  readonly etcd: EtcdConnection
  /** `compatible`: as CoreDNS answers, a parent hidden by its children. `exact`: every key is the name it spells. */
  readonly mode: 'compatible' | 'exact'
  readonly fallthrough: readonly string[]
  readonly minLeaseTtlSeconds: number
  readonly maxLeaseTtlSeconds: number
}

/** Zone files as values: each key below the prefix is an origin. */
export interface EtcdZonesConfig extends SourceConfig {
  readonly prefix: string
  readonly etcd: EtcdConnection
  /** How many records a zone may have. */
  readonly maxRecords: number
  /** Zones at or below zones of sources before this one that it may bring nevertheless, with all that is below them. */
  readonly allowZones: readonly string[]
  readonly fallthrough: readonly string[]
}

/** `primary`, `replica`, `sync` and every member of a Patroni cluster, below `zone`. */
export interface PatroniConfig extends SourceConfig {
  readonly etcd: EtcdConnection
  /** With a slash at both ends: `/service/`. */
  readonly namespace: string
  readonly scope: string
  readonly zone: string
  readonly ttlSeconds: number
  /** For the NS records of the zone; absolute. */
  readonly nameservers: readonly string[]
}

export interface PtrConfig {
  readonly zones: readonly string[]
  readonly ttlSeconds: number
}

export type ForwardPolicy = 'random' | 'round_robin' | 'sequential'

/** `forward FROM TO... { ... }`; TO already resolved to address and port (resolv.conf files are read). */
export interface ForwardConfig {
  readonly from: string
  readonly to: readonly UpstreamAddress[]
  readonly except: readonly string[]
  readonly policy: ForwardPolicy
  readonly forceTcp: boolean
  readonly preferUdp: boolean
  readonly maxFails: number
  readonly expireMs: number
  readonly healthCheckMs: number
  readonly healthCheckName: string
  readonly healthCheckRecursionDesired: boolean
  readonly maxConcurrent: number
  /** Try the next upstream when the answer has one of these rcodes. */
  readonly failoverRcodes: readonly number[]
  /** With every upstream down: answer SERVFAIL at once instead of trying one anyway. */
  readonly failfastAllUnhealthy: boolean
}

export interface UpstreamAddress {
  readonly host: string
  readonly port: number
}

/** `alternate [original] RCODE[,RCODE...] FROM TO...`: ask these when the answer so far has such an rcode. */
export interface AlternateConfig {
  readonly original: boolean
  readonly rcodes: readonly number[]
  readonly forward: ForwardConfig
}

/** `cache [TTL] [ZONES...] { success … denial … prefetch … serve_stale … }` */
export interface CacheConfig {
  readonly zones: readonly string[]
  readonly successCapacity: number
  readonly successMaxTtlSeconds: number
  readonly successMinTtlSeconds: number
  readonly denialCapacity: number
  readonly denialMaxTtlSeconds: number
  readonly denialMinTtlSeconds: number
  readonly prefetchAmount: number
  readonly prefetchDurationMs: number
  readonly prefetchPercentage: number
  readonly servfailTtlSeconds: number
  /** Serve expired entries for this long when upstream fails; 0 = no. */
  readonly serveStaleMs: number
  readonly serveStaleVerify: boolean
  readonly keepTtl: boolean
  /** Names excluded by `disable success|denial [ZONES]`. */
  readonly disableSuccess: readonly string[]
  readonly disableDenial: readonly string[]
}

/** `consolidate DURATION REGEXP [LEVEL] [show_first]`: failures that are reported together. */
export interface ErrorRule {
  readonly durationMs: number
  /** The pattern as written, for the report. */
  readonly source: string
  readonly pattern: { test(text: string): boolean }
  readonly level: 'error' | 'warning' | 'info' | 'debug'
  readonly showFirst: boolean
}

/** `log [NAMES...] [FORMAT] { class ... }` */
export interface LogConfig {
  readonly names: readonly string[]
  /** `{common}`, `{combined}` or a template with CoreDNS's placeholders. */
  readonly format: string
  readonly classes: readonly ('success' | 'denial' | 'error' | 'all')[]
}
