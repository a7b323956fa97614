// The sources of one space, from configuration to what feeds the catalog. Ranks say whose name counts: as configured,
// else in the order of CoreDNS's plugins.

import { PLAIN_STYLE } from '../zone/edits.ts'
import type { NameStyle } from '../zone/edits.ts'
import type { Catalog } from './catalog.ts'
import { parseName } from '../dns/name.ts'
import { loadZoneSteps } from './load-zone.ts'
import type { LoaderReport, LoaderSpace } from './loader-messages.ts'
import type { PartOptions, ZoneOffer, ZoneSource } from './offer.ts'
import { apexRecords } from './apex.ts'
import { endpointSources } from './kubernetes/endpoint-sources.ts'
import { KubeNames, type KubeNamesOptions } from './kubernetes/kube-names.ts'
import { DEFAULT_SHAPE, endpointShape } from './kubernetes/shape.ts'
import { kubevirtSource } from './kubevirt/kubevirt-source.ts'
import { apexRecords as kubevirtApex } from './kubevirt/zone-apex.ts'
import { patroniPrefix } from './patroni/cluster-keys.ts'
import type { NamesListener } from './served-zone.ts'
import { ReverseFeed } from './reverse-feed.ts'
import { ReverseNames } from './reverse.ts'
import { EtcdSource } from './sources/etcd-source.ts'
import type { EtcdFollower, EtcdSourceOptions } from './sources/etcd-source.ts'
import { EtcdZones } from './sources/etcd-zones.ts'
import { KubeZones, type KubeZonesOptions } from './sources/kube-zones.ts'
import { Leases } from './sources/leases.ts'
import { Patroni } from './sources/patroni.ts'
import { Skydns } from './sources/skydns.ts'
import { ZoneDirectory } from './sources/zone-directory.ts'
import { ZoneFile } from './sources/zone-file.ts'
import type { SearchResult } from './skydns/search.ts'
import type { WorkQueue } from './work-queue.ts'

export interface SpaceContext {
  readonly catalog: Catalog
  readonly work: WorkQueue
  readonly signal: AbortSignal
  readonly requireNs: boolean
  readonly stateDirectory: string | undefined
  readonly report: (report: LoaderReport) => void
  /** By space: who hears which names its zones have. */
  readonly listeners: Map<number, (origin: string) => NamesListener | undefined>
}

const RANK = {
  file: 0,
  auto: 1000,
  etcdZones: 2000,
  skydns: 3000,
  patroni: 4000,
  kubevirt: 5000,
  kubernetes: 6000,
  ptr: 1_000_000,
} as const
const SERVICE_STYLES: Readonly<Record<'compatible' | 'exact', NameStyle>> = {
  compatible: { services: true },
  exact: PLAIN_STYLE,
}

/** The catalog gives zones their serials. */
const FIRST_SERIAL = 1

const NO_SERVICES = { style: PLAIN_STYLE, searches: false, leastTtl: 0 } as const

export class SpaceSources {
  readonly #space: LoaderSpace
  readonly #context: SpaceContext
  readonly #watchers: { start(): void }[] = []
  /** Those that can be away. */
  readonly #followed: { readonly settled: Promise<void>; start(): void }[] = []
  /** Who answers searches, by origin. */
  readonly #searches = new Map<string, Skydns>()

  constructor(space: LoaderSpace, context: SpaceContext) {
    this.#space = space
    this.#context = context
    this.#addReverse()
    this.#addFiles()
    this.#addEtcdZones()
    this.#addSkydns()
    this.#addPatroni()
    this.#addKubevirt()
    this.#addKubernetes()
  }

  /** Looks at everything once, and follows it from then on. Resolves when there is something to serve. */
  async start(): Promise<void> {
    for (const watcher of this.#watchers) watcher.start()
    for (const source of this.#followed) source.start()
    await Promise.all(this.#followed.map(({ settled }) => settled))
    const { skydns, patronis, kubevirts, kubernetes, space } = this.#space
    const origins = [
      ...[...skydns, ...kubernetes].flatMap(({ zones }) => zones),
      ...[...patronis, ...kubevirts].map(({ zone }) => zone),
    ]
    for (const origin of origins) this.#context.catalog.await(space, origin)
  }

  search(origin: string, name: Uint8Array, type: number): SearchResult | undefined {
    return this.#searches.get(origin)?.search(origin, name, type)
  }

  /** First of all: it has to hear of every other zone. */
  #addReverse(): void {
    const { space, ptr } = this.#space
    if (ptr === undefined) return
    const { catalog, listeners } = this.#context
    const options: PartOptions = { ...NO_SERVICES, fallthrough: undefined, space, rank: RANK.ptr, plugin: 'ptr' }
    const parts = new Map(ptr.zones.map((origin) => [origin, catalog.part(options, origin)]))
    for (const part of parts.values()) part.commit(Math.floor(Date.now() / 1000))
    const partOf = (origin: string) => parts.get(origin) ?? catalog.part(options, origin)
    const feed = new ReverseFeed(new ReverseNames({ ...ptr, partOf }))
    listeners.set(space, (origin) => (parts.has(origin) ? undefined : feed.listener(origin)))
  }

  #addFiles(): void {
    const { space, files, autos } = this.#space
    const { requireNs } = this.#context
    for (const [i, { path, zones, reloadMs, fallthrough, rank = RANK.file + i }] of files.entries()) {
      const source: ZoneSource = {
        ...{ space, rank, plugin: 'file', requireNs, fallthrough },
        watchAlso: (origin, others) => watcher.watchAlso(origin, others),
      }
      const watcher = new ZoneFile({ path, origins: zones, reloadMs, ...this.#fileCallbacks(source) })
      this.#watchers.push(watcher)
    }
    for (const [i, config] of autos.entries()) {
      const { fallthrough, rank = RANK.auto + i } = config
      const source: ZoneSource = {
        ...{ space, rank, plugin: 'auto', requireNs, fallthrough },
        watchAlso: (origin, others) => watcher.watchAlso(origin, others),
      }
      const watcher = new ZoneDirectory({ ...config, ...this.#fileCallbacks(source) })
      this.#watchers.push(watcher)
    }
  }

  #fileCallbacks(source: ZoneSource) {
    const { catalog, signal, report } = this.#context
    return {
      signal,
      onZone: (origin: string, file: string) => void catalog.offer(source, origin, fileOffer(file)),
      onGone: (origin: string) => catalog.withdraw(source, origin),
      onUnreadable: (origin: string | undefined, path: string) => {
        if (origin === undefined) report({ kind: 'unreadable', path })
        else catalog.miss(source, origin, path)
      },
      onProblem: (message: string) => report({ kind: 'problem', message }),
    }
  }

  #addEtcdZones(): void {
    const { space, etcdZones } = this.#space
    const { catalog } = this.#context
    for (const [i, config] of etcdZones.entries()) {
      const { prefix, etcd, fallthrough, maxRecords, allowZones, name, rank = RANK.etcdZones + i } = config
      const source: ZoneSource = {
        ...{ space, rank, plugin: 'etcd', requireNs: false, fallthrough },
        watchAlso: () => undefined,
        guard: { allowed: allowZones, onBarred: (origin, problem) => zones.bar(origin, problem) },
      }
      const zones = new EtcdZones({
        prefix,
        maxRecords,
        onZone: (origin, offer) => catalog.offer(source, origin, offer),
        onGone: (origin) => catalog.withdraw(source, origin),
        onProblem: this.#problem,
      })
      this.#follow({ type: 'zones', name: name ?? `etcd zones ${prefix}`, etcd, prefix, lane: 'etcd', follower: zones })
    }
  }

  #addSkydns(): void {
    const { space, skydns } = this.#space
    const { signal } = this.#context
    for (const [i, config] of skydns.entries()) {
      const { path, etcd, mode, fallthrough, minLeaseTtlSeconds, name, rank = RANK.skydns + i } = config
      const part: PartOptions = {
        ...{ space, rank, plugin: 'etcd', style: SERVICE_STYLES[mode], fallthrough },
        ...{ searches: mode === 'compatible', leastTtl: minLeaseTtlSeconds },
      }
      const source = new Skydns({
        ...config,
        partOf: (origin, tree) =>
          this.#context.catalog.part(
            {
              ...part,
              names: {
                owners: () => tree.owners(origin),
                records: (owner) => tree.recordsOf(origin, owner),
              },
            },
            origin,
          ),
        onProblem: this.#problem,
      })
      for (const origin of config.zones) if (!this.#searches.has(origin)) this.#searches.set(origin, source)
      const { client } = this.#follow({
        ...{
          type: 'skydns',
          name: name ?? `SkyDNS ${path}`,
          etcd,
          prefix: `${path}/`,
          lane: 'names',
          follower: source,
        },
      })
      const onMoved = (lease: bigint) => source.leaseMoved(lease)
      source.follow(new Leases({ client, signal, onMoved, onProblem: this.#problem }))
    }
  }

  #addPatroni(): void {
    const { space, patronis } = this.#space
    const { catalog } = this.#context
    for (const [i, config] of patronis.entries()) {
      const { etcd, namespace, scope, zone, ttlSeconds, nameservers, name, rank = RANK.patroni + i } = config
      const options: PartOptions = { ...NO_SERVICES, fallthrough: [], space, rank, plugin: 'patroni', isUrgent: true }
      const part = catalog.part(options, zone)
      const prefix = patroniPrefix(namespace, scope)
      const follower = new Patroni({ prefix, zone, ttlSeconds, nameservers, part, onProblem: this.#problem })
      const title = name ?? `Patroni ${scope}`
      this.#follow({ type: 'patroni', name: title, etcd, prefix, lane: 'urgent', follower, damagedState: 'discard' })
    }
  }

  #addKubevirt(): void {
    const { space, kubevirts } = this.#space
    for (const [i, config] of kubevirts.entries()) {
      const { kube, ttlSeconds, nameServers, soa, fallthrough, rank = RANK.kubevirt + i } = config
      const { zone: origin, name = `KubeVirt ${origin}` } = config
      const zone = origin.slice(0, -1)
      const options: PartOptions = {
        ...{ ...NO_SERVICES, space, rank, plugin: 'kubevirt', fallthrough },
      }
      const part = this.#context.catalog.part(options, origin)
      const apex = kubevirtApex({ zone, nameServerAddresses: nameServers, ttlSeconds, ...soa }, FIRST_SERIAL)
      this.#followKubernetes({
        ...{ type: 'kubevirt', name, kube, zones: [{ origin, part, apex }], ttlSeconds },
        sources: [kubevirtSource({ ...config, zone })],
        setup: '',
        shape: (endpoints) => endpoints,
      })
    }
  }

  #addKubernetes(): void {
    const { space, kubernetes } = this.#space
    for (const [i, config] of kubernetes.entries()) {
      const { from, zones, kube, ttlSeconds, nameservers, defaultTargets, settings, fallthrough } = config
      const { name = `Kubernetes ${from.join(' ')}`, rank = RANK.kubernetes + i } = config
      const options: PartOptions = {
        ...{ ...NO_SERVICES, space, rank, plugin: 'kubernetes', fallthrough },
      }
      this.#followKubernetes({
        ...{ type: 'kubernetes', name, kube, ttlSeconds },
        zones: zones.map((origin) => ({
          ...{ origin, part: this.#context.catalog.part(options, origin) },
          apex: [{ owner: parseName(origin), records: apexRecords({ zone: origin, ttlSeconds, nameservers }) }],
        })),
        sources: endpointSources(from, settings),
        setup: JSON.stringify(settings),
        shape: endpointShape({ ...DEFAULT_SHAPE, defaultTargets }),
      })
    }
  }

  #followKubernetes(
    source: Pick<KubeNamesOptions, 'name' | 'kube' | 'sources' | 'shape' | 'setup'> &
      Pick<KubeZonesOptions, 'zones' | 'ttlSeconds'> & { readonly type: string },
  ): void {
    const { stateDirectory, signal, work, report } = this.#context
    const { space } = this.#space
    const { type, name, zones, ttlSeconds } = source
    const names = new KubeNames({
      ...source,
      ...{ stateDirectory, signal, work, onProblem: this.#problem },
      onNames: (touched, _, version) => served.update(touched, Number(BigInt.asUintN(32, version))),
      onState: (state) => report({ kind: 'source', space, type, name, prefix: '', endpoints: [], ...state }),
    })
    const candidates = (of: string) => names.index.candidates(of)
    const served = new KubeZones({ zones, ttlSeconds, candidates, onProblem: this.#problem })
    this.#followed.push(names)
  }

  #follow(
    source: Pick<EtcdSourceOptions, 'type' | 'name' | 'etcd' | 'prefix' | 'lane'> &
      Partial<Pick<EtcdSourceOptions, 'damagedState'>> & { readonly follower: EtcdFollower },
  ): EtcdSource {
    const { stateDirectory, signal, work, report } = this.#context
    const { space } = this.#space
    const { type, name, prefix } = source
    const follow = new EtcdSource({
      damagedState: 'use',
      ...source,
      stateDirectory,
      signal,
      work,
      onState: (state) =>
        report({ kind: 'source', space, type, name, prefix, endpoints: source.etcd.endpoints, ...state }),
      onProblem: this.#problem,
    })
    this.#followed.push(follow)
    return follow
  }

  readonly #problem = (message: string): void => {
    this.#context.report({ kind: 'problem', message })
  }
}

function fileOffer(file: string): ZoneOffer {
  return {
    label: file,
    *load(origin, options) {
      const { zone, ...loaded } = yield* loadZoneSteps(file, origin, options)
      return { ...loaded, builder: zone }
    },
  }
}
