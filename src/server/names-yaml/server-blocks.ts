// `sources:` and `serve:` as server blocks: the same for every port, as there are no blocks in names.yaml.

import { isDeepStrictEqual } from 'node:util'
import { rcodeName } from '../../dns/types.ts'
import type {
  AlternateConfig,
  CacheConfig,
  ForwardConfig,
  LogConfig,
  ServerBlock,
  SourceConfig,
  UpstreamAddress,
} from '../config.ts'
import { CACHE_DEFAULTS } from '../corefile/directives/cache.ts'
import { FORWARD_DEFAULTS } from '../corefile/directives/forward.ts'
import { blocksOn, everyZoneOf } from '../corefile/zones-config.ts'
import { kubernetesConfig, kubevirtConfig } from './kubernetes-sources.ts'
import type { Resolver } from './resolver.ts'
import type { NamesDocument } from './schema.ts'
import type { ServeDocument } from './schema-serve.ts'
import type { SourceDocument } from './schema-sources.ts'

type Sources = Pick<ServerBlock, 'files' | 'autos' | 'skydns' | 'etcdZones' | 'patronis' | 'kubevirts' | 'kubernetes'>
type Lists = { -readonly [Kind in keyof Sources]: Sources[Kind][number][] }

export function serverBlocks({ sources = [], serve }: NamesDocument, resolver: Resolver): ServerBlock[] {
  if (sources.length === 0 && serve.forward === undefined)
    resolver.problem([], 'there is nothing to serve; expected "sources", or "forward" in "serve"')
  const { ptr } = serve
  return blocksOn(serve.listen, {
    at: resolver.file,
    ...sourceLists(sources, resolver),
    ptr: ptr && { zones: ptr.zones, ttlSeconds: ptr.ttl },
    forwards: forwards(serve.forward ?? [], resolver),
    alternates: alternates(serve.alternate ?? [], resolver),
    cache: cache(serve.cache),
    loadbalance: serve.load_balance,
    nsid: serve.nsid === true ? resolver.hostname : serve.nsid === false ? undefined : serve.nsid,
    udpBytes: serve.bufsize,
    log: queryLog(serve.log),
    health: serve.health,
    ...(serve.status === undefined ? {} : { status: serve.status === false ? ('off' as const) : serve.status }),
    lameduckMs: serve.lameduck,
    ready: serve.ready,
    prometheus: serve.metrics,
    reloadMs: serve.reload === false ? 0 : serve.reload,
    loop: serve.loop,
  })
}

function sourceLists(sources: readonly SourceDocument[], resolver: Resolver): Sources {
  const lists: Lists = { files: [], autos: [], skydns: [], etcdZones: [], patronis: [], kubevirts: [], kubernetes: [] }
  for (const [rank, source] of sources.entries()) {
    refuseTwin(sources, rank, resolver)
    add(source, { rank, ...(source.name !== undefined && { name: source.name }) }, lists, resolver)
  }
  return lists
}

function add(source: SourceDocument, common: SourceConfig & { rank: number }, lists: Lists, resolver: Resolver): void {
  const etcd = () => resolver.etcd('etcd' in source ? source.etcd : undefined, ['sources', common.rank])
  switch (source.type) {
    case 'directory': {
      const { path, reload, fallthrough } = source
      lists.autos.push({ ...everyZoneOf(resolver.path(path), reload), fallthrough, ...common })
      return
    }
    case 'file': {
      const { path, zones, reload, fallthrough } = source
      lists.files.push({ path: resolver.path(path), zones, reloadMs: reload, fallthrough, ...common })
      return
    }
    case 'etcd-zones': {
      const { prefix, fallthrough, max_records, allow_zones = [] } = source
      const limits = { maxRecords: max_records, allowZones: allow_zones }
      lists.etcdZones.push({ etcd: etcd(), prefix, fallthrough, ...limits, ...common })
      return
    }
    case 'skydns': {
      const { zones, path, mode, fallthrough, min_lease_ttl, max_lease_ttl } = source
      const leases = { minLeaseTtlSeconds: min_lease_ttl, maxLeaseTtlSeconds: max_lease_ttl }
      lists.skydns.push({ etcd: etcd(), zones, path, mode, fallthrough, ...leases, ...common })
      return
    }
    case 'patroni': {
      const { namespace, scope, zone, ttl, nameservers = [] } = source
      lists.patronis.push({ etcd: etcd(), namespace, scope, zone, ttlSeconds: ttl, nameservers, ...common })
      return
    }
    case 'kubevirt':
      lists.kubevirts.push({ ...kubevirtConfig(source, ['sources', common.rank], resolver), ...common })
      return
    case 'kubernetes':
      lists.kubernetes.push({ ...kubernetesConfig(source, resolver), ...common })
      return
  }
}

/** Sources may have the same zones, but no two of them the same name or all the same settings. */
function refuseTwin(sources: readonly SourceDocument[], index: number, resolver: Resolver): void {
  const { name, ...source } = sources[index]
  for (const [at, { name: otherName, ...other }] of sources.slice(0, index).entries()) {
    if (name !== undefined && name === otherName)
      resolver.problem(['sources', index, 'name'], `"${name}" is the name of sources[${at}] too; expected another`)
    if (isDeepStrictEqual(source, other))
      resolver.problem(['sources', index], `it is the same as sources[${at}]; expected each source once`)
  }
}

function forwards(rules: NonNullable<ServeDocument['forward']>, resolver: Resolver): ForwardConfig[] {
  const everywhere: UpstreamAddress[] = []
  const found: ForwardConfig[] = []
  for (const [index, rule] of rules.entries()) {
    const path = ['serve', 'forward', index]
    if (typeof rule === 'string') {
      everywhere.push(...resolver.upstream(rule, path))
      continue
    }
    if (found.some(({ from }) => from === rule.from))
      resolver.problem(path, `"${rule.from}" is forwarded already; expected one rule for a name`)
    found.push({
      ...FORWARD_DEFAULTS,
      from: rule.from,
      to: rule.to.flatMap((server, at) => resolver.upstream(server, [...path, 'to', at])),
      except: rule.except ?? [],
      policy: rule.policy,
      forceTcp: rule.force_tcp,
      maxFails: rule.max_fails,
      healthCheckMs: rule.health_check,
      failoverRcodes: rule.failover ?? [],
    })
  }
  if (everywhere.length === 0) return found
  if (found.some(({ from }) => from === '.'))
    resolver.problem(['serve', 'forward'], 'addresses stand beside a rule for "."; expected one of both')
  return [...found, { ...FORWARD_DEFAULTS, from: '.', to: everywhere }]
}

function alternates(rules: NonNullable<ServeDocument['alternate']>, resolver: Resolver): AlternateConfig[] {
  const taken = new Set<number>()
  return rules.map(({ rcodes, from, to }, index) => {
    const path = ['serve', 'alternate', index]
    for (const [at, rcode] of rcodes.entries()) {
      if (taken.has(rcode))
        resolver.problem([...path, 'rcodes', at], `${rcodeName(rcode)} stands twice; expected each rcode once`)
      taken.add(rcode)
    }
    const servers = to.flatMap((server, at) => resolver.upstream(server, [...path, 'to', at]))
    return { original: false, rcodes, forward: { ...FORWARD_DEFAULTS, from, to: servers } }
  })
}

function cache(setting: ServeDocument['cache']): CacheConfig | undefined {
  if (setting === false) return undefined
  const rule = typeof setting === 'object' ? setting : undefined
  const maxTtl = typeof setting === 'number' ? setting : rule?.max_ttl
  return {
    ...CACHE_DEFAULTS,
    zones: ['.'],
    ...(maxTtl !== undefined && { successMaxTtlSeconds: maxTtl, denialMaxTtlSeconds: maxTtl }),
    ...(rule !== undefined && {
      successCapacity: rule.capacity,
      denialCapacity: rule.capacity,
      prefetchAmount: rule.prefetch,
      serveStaleMs: rule.serve_stale,
    }),
  }
}

function queryLog(setting: ServeDocument['log']): readonly LogConfig[] {
  if (setting === false) return []
  return [setting === true ? { names: ['.'], format: '{common}', classes: ['all'] } : setting]
}
