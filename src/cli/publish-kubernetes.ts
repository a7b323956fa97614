// `holdfast publish kubernetes`: names of Kubernetes objects as records in etcd. Takes ExternalDNS's flags, its variables
// and those of its CoreDNS provider, and writes what it writes.

import { HoldfastError } from '../lib/errors.ts'
import { Log } from '../lib/log.ts'
import { LogSink } from '../lib/log-sink.ts'
import { Secret } from '../lib/secret.ts'
import { domainFilter } from '../names/endpoints/domain-filter.ts'
import type { Changes } from '../names/endpoints/endpoint.ts'
import { EndpointPublisher, type PublishOptions } from '../names/outputs/publish-endpoints.ts'
import { endpointSources } from '../names/kubernetes/endpoint-sources.ts'
import { endpointShape } from '../names/kubernetes/shape.ts'
import { DEFAULT_SETTINGS, type SourceSettings } from '../names/kubernetes/source-settings.ts'
import { inValueRegistry } from '../names/registry/in-value.ts'
import { noopRegistry } from '../names/registry/noop.ts'
import type { Registry } from '../names/registry/registry.ts'
import { txtRegistry } from '../names/registry/txt.ts'
import type { HttpAddress } from '../server/config.ts'
import { kubeAccess } from '../server/kubernetes-config.ts'
import { command, type Io } from './command.ts'
import { EXIT } from './exit-code.ts'
import { ETCD_FLAGS, type EtcdFlags } from './etcd-flags.ts'
import { readEtcdUrls } from './etcd-urls.ts'
import { ExternalDnsFlags } from './external-dns-flags.ts'
import { externalDnsOptions } from './external-dns-options.ts'
import { changesJson, changesText, previewJson, previewText, together } from './publish-changes.ts'
import {
  DELETIONS_FLAG,
  LEASE_FLAG,
  leaseName,
  readDeletions,
  readHttpAddress,
  readLease,
  readPrefix,
} from './publish-flags.ts'
import { servePublisher } from './publisher-http.ts'

const NAME = 'publish kubernetes'
const OWNER = 'default'
const INTERVAL_MS = 60_000
const MIN_INTERVAL_MS = 1000
const METRICS = ':7979'
const LOG_LEVELS = ['panic', 'fatal', 'error', 'warning', 'info', 'debug', 'trace'] as const
const MANAGED_TYPES = ['A', 'AAAA', 'CNAME'] as const

export const publishKubernetesCommand = command({
  name: NAME,
  isServer: true,
  summary: 'Publish names of Kubernetes objects, like ExternalDNS',
  usage: '--source KIND... [--provider coredns] [--domain-filter DOMAIN]... [OPTIONS]',
  options: {
    'max-deletions': DELETIONS_FLAG,
    'leader-election': LEASE_FLAG,
    json: { summary: 'with --dry-run: print changes as JSON, a line for each run' },
    quiet: { summary: 'log only errors' },
    ...ETCD_FLAGS,
    ...externalDnsOptions(),
  },
  async run({ options }, io) {
    const flags = new ExternalDnsFlags(options, io.env)
    flags.refuseUnsupported()
    const unmet = flags.unmet()
    const dryRun = flags.flag('dry-run')
    const format = options.json ? changesJson : changesText
    const publish = await publishOptions(flags, options, io)
    const quiet = options.quiet || /^(?:panic|fatal|error)$/u.test(flags.choice('log-level', LOG_LEVELS) ?? '')
    // In a dry run stdout is the plan, so the log goes to stderr.
    const sink = new LogSink(dryRun ? 2 : 1)
    const log = new Log(sink, { quiet })
    for (const each of unmet) log.warning(each)
    const signal = io.stopSignal()
    const end = new AbortController()
    try {
      const once = flags.flag('once')
      const planned: Changes[] = []
      const onPlan = (changes: Changes) => {
        if (!dryRun) log.info(summary(changes))
        else if (once) planned.push(changes)
        else io.stdout.write(format(changes))
      }
      const publisher = new EndpointPublisher({ ...publish, onPlan }, { log, signal, once })
      const metrics = metricsAddress(flags)
      if (metrics !== undefined)
        await servePublisher(metrics, () => publisher.state, AbortSignal.any([signal, end.signal]))
      const outcome = await publisher.run()
      if (signal.aborted) log.info(`Stopping on ${String(signal.reason)}`)
      if (!dryRun || !once) return outcome === 'done' ? EXIT.done : EXIT.failed
      if (outcome === 'unread') return EXIT.failed
      const preview = { changes: together(planned), filtered: publisher.filtered, isPartial: outcome === 'partial' }
      io.stdout.write(options.json ? previewJson(preview) : previewText(preview))
      if (preview.isPartial) return EXIT.failed
      return planned.length === 0 ? EXIT.done : EXIT.changes
    } finally {
      end.abort()
      await sink.flush()
    }
  },
})

interface OwnFlags extends EtcdFlags {
  readonly json: boolean
  readonly 'max-deletions': string | undefined
  readonly 'leader-election': string | undefined
}

async function publishOptions(flags: ExternalDnsFlags, own: OwnFlags, io: Io): Promise<Omit<PublishOptions, 'onPlan'>> {
  flags.choice('provider', ['coredns', 'skydns'])
  const names = flags.list('source')
  if (names.length === 0)
    throw new HoldfastError('Usage', `Cannot run "holdfast ${NAME}": --source is missing`, {
      hint: 'for example: holdfast publish kubernetes --source ingress --endpoints https://10.0.0.1:2379',
    })
  const sources = endpointSources(names, sourceSettings(flags))
  const owner = flags.text('txt-owner-id') ?? OWNER
  const managed = managedTypes(flags)
  const registry = registryOf(flags, owner, managed)
  const isStrict = registry.kind === 'value' || flags.flag('coredns-strictly-owned')
  const kube = {
    ...option('kubeconfig', flags.text('kubeconfig')),
    ...option('context', flags.text('context')),
    ...option('server', flags.text('server')),
  }
  return {
    name: names.join(', '),
    kube: kubeAccess(kube, io.env),
    sources,
    shape: endpointShape({
      defaultTargets: flags.list('default-targets'),
      forceDefaultTargets: flags.flag('force-default-targets'),
      targetNets: flags.list('target-net-filter'),
      excludeTargetNets: flags.list('exclude-target-net'),
      minTtlSeconds: Math.floor((flags.duration('min-ttl') ?? 0) / 1000),
      createPtr: flags.flag('create-ptr'),
      lowerCase: !isExternalDns(flags),
    }),
    etcd: await readEtcdUrls(own, io),
    prefix: readPrefix('coredns-prefix', flags.written('coredns-prefix')),
    strictOwner: isStrict ? owner : undefined,
    ...(isStrict && option('formerOwner', flags.text('migrate-from-txt-owner'))),
    registry: registry.registry,
    policy: flags.choice('policy', ['sync', 'upsert-only', 'create-only']) ?? 'sync',
    managedRecordTypes: managed,
    excludeRecordTypes: flags.recordTypes('exclude-record-types'),
    domainFilter: domainFilter({
      include: flags.list('domain-filter'),
      exclude: flags.list('exclude-domains'),
      ...option('regexInclude', flags.text('regex-domain-filter')),
      ...option('regexExclude', flags.text('regex-domain-exclusion')),
    }),
    intervalMs: readInterval(flags),
    maxDeletions: readDeletions(own['max-deletions']),
    lease: readLease(own['leader-election'], leaseName(NAME, owner), io),
    dryRun: flags.flag('dry-run'),
  }
}

function summary({ create, updateNew, delete: gone }: Changes): string {
  return `Records: ${create.length} created, ${updateNew.length} updated, ${gone.length} deleted`
}

function sourceSettings(flags: ExternalDnsFlags): SourceSettings {
  return {
    ...DEFAULT_SETTINGS,
    ...option('namespace', flags.text('namespace')),
    annotationPrefixes: annotationPrefixes(flags),
    ...option('annotationFilter', flags.text('annotation-filter')),
    ...option('labelFilter', flags.text('label-filter')),
    fqdnTemplates: flags.list('fqdn-template'),
    targetTemplates: flags.list('target-template'),
    fqdnTargetTemplates: flags.list('fqdn-target-template'),
    combineFqdnAnnotation: flags.flag('combine-fqdn-annotation'),
    ignoreHostnameAnnotation: flags.flag('ignore-hostname-annotation'),
    ingressClassNames: flags.list('ingress-class'),
    ignoreIngressTlsSpec: flags.flag('ignore-ingress-tls-spec'),
    ignoreIngressRulesSpec: flags.flag('ignore-ingress-rules-spec'),
    serviceTypeFilter: flags.list('service-type-filter'),
    publishInternalServices: flags.flag('publish-internal-services'),
    publishHostIp: flags.flag('publish-host-ip'),
    alwaysPublishNotReadyAddresses: flags.flag('always-publish-not-ready-addresses'),
    exposeInternalIpv6: flags.flag('expose-internal-ipv6'),
    excludeUnschedulable: flags.flag('exclude-unschedulable'),
    ...option('gatewayName', flags.text('gateway-name')),
    ...option('gatewayNamespace', flags.text('gateway-namespace')),
    ...option('gatewayLabelFilter', flags.text('gateway-label-filter')),
    ...option('crdApiVersion', flags.text('crd-source-apiversion')),
    ...option('crdKind', flags.text('crd-source-kind')),
  }
}

/** ExternalDNS has the older prefix switched off; who has annotations under it means them all the same. */
function annotationPrefixes(flags: ExternalDnsFlags): readonly string[] {
  const prefix = flags.text('annotation-prefix')
  const [standard, legacy] = DEFAULT_SETTINGS.annotationPrefixes
  const isLegacyToo = flags.switched('enable-legacy-annotation-prefix') ?? prefix === undefined
  return [prefix ?? standard, ...(isLegacyToo ? [legacy] : [])]
}

/** Whoever comes from ExternalDNS gets everything as it is there. */
function isExternalDns(flags: ExternalDnsFlags): boolean {
  return flags.text('provider') !== undefined
}

function readInterval(flags: ExternalDnsFlags): number {
  const ms = flags.duration('interval') ?? INTERVAL_MS
  if (ms >= MIN_INTERVAL_MS) return ms
  throw new HoldfastError(
    'Usage',
    `Cannot use --interval "${flags.text('interval')}": everything would be compared without end; expected 1s or more`,
  )
}

function managedTypes(flags: ExternalDnsFlags): readonly string[] {
  const given = flags.recordTypes('managed-record-types')
  const withPointers = flags.flag('create-ptr')
  if (given.length === 0) return withPointers ? [...MANAGED_TYPES, 'PTR'] : MANAGED_TYPES
  if (!withPointers || given.includes('PTR')) return given
  throw new HoldfastError(
    'Usage',
    `Cannot use --create-ptr with --managed-record-types "${given.join(' ')}": PTR is missing; expected it there`,
  )
}

type RegistryKind = 'txt' | 'noop' | 'value'

/** ExternalDNS's, or the one that leaves nothing in DNS. */
function registryOf(
  flags: ExternalDnsFlags,
  ownerId: string,
  recordTypes: readonly string[],
): { kind: RegistryKind; registry: Registry } {
  const kind = flags.choice('registry', ['txt', 'noop', 'value']) ?? (isExternalDns(flags) ? 'txt' : 'value')
  const oldOwner = option('oldOwnerId', flags.text('migrate-from-txt-owner'))
  if (kind === 'noop') return { kind, registry: noopRegistry() }
  if (kind === 'value') return { kind, registry: inValueRegistry({ ownerId, ...oldOwner }) }
  const aesKey = flags.text('txt-encrypt-aes-key')
  const registry = txtRegistry({
    ownerId,
    prefix: flags.text('txt-prefix') ?? '',
    suffix: flags.text('txt-suffix') ?? '',
    wildcardReplacement: flags.text('txt-wildcard-replacement') ?? '',
    encrypt: flags.flag('txt-encrypt-enabled'),
    recordTypes,
    ...(aesKey !== undefined && { aesKey: new Secret(aesKey) }),
    ...oldOwner,
  })
  return { kind, registry }
}

/** Nowhere if it is empty. */
function metricsAddress(flags: ExternalDnsFlags): HttpAddress | undefined {
  const text = flags.written('metrics-address') ?? (isExternalDns(flags) ? METRICS : '')
  return text === '' ? undefined : readHttpAddress(text)
}

/** A setting that is there only when it is set. */
function option<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value }
}
