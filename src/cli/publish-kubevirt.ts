// `holdfast publish kubevirt`: names of KubeVirt's virtual machines as a zone file for a CoreDNS beside it, or as records
// in etcd for many name servers. Takes the place of KubeSecondaryDNS's status monitor.

import { HoldfastError } from '../lib/errors.ts'
import { Log } from '../lib/log.ts'
import { LogSink } from '../lib/log-sink.ts'
import { DEFAULT_SHAPE, endpointShape, type Shape } from '../names/kubernetes/shape.ts'
import { kubevirtSource } from '../names/kubevirt/kubevirt-source.ts'
import { nameServerEndpoints, skydnsSource } from '../names/kubevirt/skydns-names.ts'
import { APEX_DEFAULTS, kubevirtZone, parseNameServerAddresses, type ZoneApex } from '../names/kubevirt/zone-apex.ts'
import { EndpointPublisher, type PublishOptions } from '../names/outputs/publish-endpoints.ts'
import { ZoneFilePublisher } from '../names/outputs/publish-zone-file.ts'
import { inValueRegistry } from '../names/registry/in-value.ts'
import { kubeAccess } from '../server/kubernetes-config.ts'
import { command, type Io } from './command.ts'
import { EXIT } from './exit-code.ts'
import { ETCD_FLAGS, type EtcdFlags } from './etcd-flags.ts'
import { readEtcdUrls } from './etcd-urls.ts'
import {
  DEFAULT_PREFIX,
  DELETIONS_FLAG,
  HTTP_FLAG,
  LEASE_FLAG,
  leaseName,
  readDeletions,
  readHttpAddress,
  readLease,
  readPrefix,
  readSeconds,
} from './publish-flags.ts'
import { servePublisher } from './publisher-http.ts'

const NAME = 'publish kubevirt'
/** Where KubeSecondaryDNS has it. */
const DIRECTORY = '/zones'
const OWNER = 'kubevirt'
const INTERVAL_MS = 60_000

export const publishKubevirtCommand = command({
  name: NAME,
  isServer: true,
  summary: "Publish names of KubeVirt's VMs, like KubeSecondaryDNS",
  usage: '[--domain DOMAIN] [--name-server-ip ADDRESS,...] [--directory DIR | --to etcd]',
  options: {
    domain: { value: 'DOMAIN', summary: 'what follows "vm" in the names, or DOMAIN' },
    'name-server-ip': { value: 'ADDRESS,...', summary: 'public address of the name server, or NAME_SERVER_IP' },
    to: { value: 'WHERE', summary: 'directory or etcd; directory unless given' },
    directory: { value: 'DIR', summary: `where db.ZONE is written; ${DIRECTORY} unless given` },
    prefix: { value: 'PREFIX', summary: `with --to etcd: what keys begin with; ${DEFAULT_PREFIX} unless given` },
    'owner-id': { value: 'NAME', summary: `with --to etcd: who owns the names; "${OWNER}" unless given` },
    'create-ptr': { summary: 'with --to etcd: PTR records for the addresses' },
    'max-deletions': { ...DELETIONS_FLAG, summary: `with --to etcd: ${DELETIONS_FLAG.summary}` },
    'leader-election': { ...LEASE_FLAG, summary: `with --to etcd: ${LEASE_FLAG.summary}` },
    kubeconfig: {
      value: 'FILE',
      summary: 'how to reach the API server; KUBECONFIG, ~/.kube/config or the service account of the pod unless given',
    },
    context: { value: 'NAME', summary: 'a context of the kubeconfig' },
    namespace: { value: 'NAME', summary: 'only virtual machines of this namespace', repeat: true },
    'label-filter': { value: 'SELECTOR', summary: 'only virtual machines with such labels' },
    addresses: { value: 'WHICH', summary: 'all of an interface, or first; all unless given' },
    ttl: { value: 'DURATION', summary: 'of the records; 1h unless given, as KubeSecondaryDNS has it' },
    'soa-refresh': { value: 'DURATION', summary: 'of the SOA record; 1h unless given' },
    'soa-retry': { value: 'DURATION', summary: 'of the SOA record; 1h unless given' },
    'soa-expire': { value: 'DURATION', summary: 'of the SOA record; 336h unless given' },
    'soa-minimum': { value: 'DURATION', summary: 'of the SOA record, for denials; 1h unless given' },
    metrics: HTTP_FLAG,
    quiet: { summary: 'log only errors' },
    ...ETCD_FLAGS,
  },
  async run({ options }, io) {
    const apex = readApex(options, io)
    const addresses = choice('addresses', options.addresses, ['all', 'first'])
    const target = choice('to', options.to, ['directory', 'etcd'])
    refuseStrangers(options, target)
    // An empty value stands for none, as in many a manifest.
    const { kubeconfig, context, metrics, 'label-filter': labelSelector } = options
    const namespaces = options.namespace.filter((each) => each !== '')
    const source = kubevirtSource({
      ...{ zone: apex.zone, ttlSeconds: apex.ttlSeconds, addresses, namespaces },
      ...(labelSelector && { labelSelector }),
    })
    const kube = kubeAccess({ ...(kubeconfig && { kubeconfig }), ...(context && { context }) }, io.env)
    const sink = new LogSink(1)
    const log = new Log(sink, { quiet: options.quiet })
    const signal = io.stopSignal()
    const common = { name: `KubeVirt ${apex.zone}`, kube }
    const etcd = target === 'etcd' ? await readEtcdUrls(options, io) : undefined
    try {
      const publisher =
        etcd === undefined
          ? new ZoneFilePublisher(
              { ...common, sources: [source], shape: asIs, apex, directory: options.directory || DIRECTORY },
              log,
              signal,
            )
          : new EndpointPublisher(
              {
                ...common,
                sources: [skydnsSource(source, apex.zone)],
                ...recordSettings(options, apex, io, log),
                etcd,
              },
              { log, signal, once: false },
            )
      if (metrics) await servePublisher(readHttpAddress(metrics), () => publisher.state, signal)
      await publisher.run()
      log.info(`Stopping on ${String(signal.reason)}`)
    } finally {
      await sink.flush()
    }
    return EXIT.done
  },
})

interface ApexFlags {
  readonly domain: string | undefined
  readonly 'name-server-ip': string | undefined
  readonly ttl: string | undefined
  readonly 'soa-refresh': string | undefined
  readonly 'soa-retry': string | undefined
  readonly 'soa-expire': string | undefined
  readonly 'soa-minimum': string | undefined
}

function readApex(flags: ApexFlags, io: Io): ZoneApex {
  const seconds = (name: 'ttl' | 'soa-refresh' | 'soa-retry' | 'soa-expire' | 'soa-minimum') =>
    readSeconds(name, flags[name])
  return {
    zone: kubevirtZone(flags.domain || io.env.DOMAIN || ''),
    nameServerAddresses: parseNameServerAddresses(flags['name-server-ip'] || io.env.NAME_SERVER_IP || ''),
    ttlSeconds: seconds('ttl') ?? APEX_DEFAULTS.ttlSeconds,
    refreshSeconds: seconds('soa-refresh') ?? APEX_DEFAULTS.refreshSeconds,
    retrySeconds: seconds('soa-retry') ?? APEX_DEFAULTS.retrySeconds,
    expireSeconds: seconds('soa-expire') ?? APEX_DEFAULTS.expireSeconds,
    minimumSeconds: seconds('soa-minimum') ?? APEX_DEFAULTS.minimumSeconds,
  }
}

interface RecordFlags extends EtcdFlags {
  readonly prefix: string | undefined
  readonly 'owner-id': string | undefined
  readonly 'create-ptr': boolean
  readonly 'max-deletions': string | undefined
  readonly 'leader-election': string | undefined
}

function recordSettings(
  flags: RecordFlags,
  apex: ZoneApex,
  io: Io,
  log: Log,
): Omit<PublishOptions, 'name' | 'kube' | 'sources' | 'etcd'> {
  const ownerId = flags['owner-id'] || OWNER
  return {
    shape: endpointShape({ ...DEFAULT_SHAPE, createPtr: flags['create-ptr'] }),
    always: nameServerEndpoints(apex),
    prefix: readPrefix('prefix', flags.prefix),
    strictOwner: ownerId,
    registry: inValueRegistry({ ownerId }),
    policy: 'sync',
    managedRecordTypes: ['A', 'AAAA', 'PTR'],
    excludeRecordTypes: [],
    domainFilter: () => true,
    intervalMs: INTERVAL_MS,
    maxDeletions: readDeletions(flags['max-deletions']),
    lease: readLease(flags['leader-election'], leaseName(NAME, ownerId), io),
    dryRun: false,
    onPlan: ({ create, updateNew, delete: gone }) =>
      log.info(`Records: ${create.length} created, ${updateNew.length} updated, ${gone.length} deleted`),
  }
}

const asIs: Shape = (endpoints) => endpoints

function choice<const Word extends string>(
  name: string,
  given: string | undefined,
  words: readonly [Word, ...Word[]],
): Word {
  const word = given ? words.find((each) => each === given) : words[0]
  if (word !== undefined) return word
  throw new HoldfastError('Usage', `Cannot use --${name} "${given}": expected ${words.join(' or ')}`)
}

/** What would have no effect is a slip. */
function refuseStrangers(
  flags: RecordFlags & { readonly directory: string | undefined },
  target: 'directory' | 'etcd',
): void {
  const forEtcd = [
    'prefix',
    'owner-id',
    'create-ptr',
    'max-deletions',
    'leader-election',
    ...(Object.keys(ETCD_FLAGS) as (keyof EtcdFlags)[]),
  ] as const
  const strangers = target === 'etcd' ? (['directory'] as const) : forEtcd
  const given = strangers.find((name) => flags[name] !== undefined && flags[name] !== false && flags[name] !== '')
  if (given !== undefined)
    throw new HoldfastError('Usage', `Cannot use --${given} with --to ${target}: it is for the other; leave it out`)
}
