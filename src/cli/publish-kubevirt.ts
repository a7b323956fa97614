// `holdfast publish kubevirt`: names of KubeVirt's virtual machines as a zone file for a CoreDNS beside it, or as records
// in etcd for many name servers. Takes the place of KubeSecondaryDNS's status monitor.

import { HoldfastError } from '../lib/errors.ts'
import { Log } from '../lib/log.ts'
import { LogSink } from '../lib/log-sink.ts'
import type { Endpoint } from '../names/endpoints/endpoint.ts'
import { endpointsForHostname } from '../names/kubernetes/hostname-endpoints.ts'
import { DEFAULT_SHAPE, endpointShape, type Shape } from '../names/kubernetes/shape.ts'
import { kubevirtSource } from '../names/kubevirt/kubevirt-source.ts'
import { APEX_DEFAULTS, kubevirtZone, parseNameServerAddresses, type ZoneApex } from '../names/kubevirt/zone-apex.ts'
import { EndpointPublisher, type PublishOptions } from '../names/outputs/publish-endpoints.ts'
import { ZoneFilePublisher } from '../names/outputs/publish-zone-file.ts'
import { inValueRegistry } from '../names/registry/in-value.ts'
import { kubeAccess } from '../server/kubernetes-config.ts'
import { command, EXIT, type Io } from './command.ts'
import { ETCD_FLAGS, type EtcdFlags } from './etcd-flags.ts'
import { readEtcdUrls } from './etcd-urls.ts'
import { HTTP_FLAG, LEASE_FLAG, readHttpAddress, readLease, readSeconds } from './publish-flags.ts'
import { servePublisher } from './publisher-http.ts'

/** Where KubeSecondaryDNS has it. */
const DIRECTORY = '/zones'
const PREFIX = '/skydns/'
const OWNER = 'kubevirt'
const INTERVAL_MS = 60_000

export const publishKubevirtCommand = command({
  name: 'publish kubevirt',
  summary: "Publish names of KubeVirt's virtual machines, as KubeSecondaryDNS does: as a zone file or into etcd",
  usage: '[--domain DOMAIN] [--name-server-ip ADDRESS,...] [--directory DIR | --to etcd]',
  options: {
    domain: { value: 'DOMAIN', summary: 'what follows "vm" in the names, or DOMAIN' },
    'name-server-ip': { value: 'ADDRESS,...', summary: 'public address of the name server, or NAME_SERVER_IP' },
    to: { value: 'WHERE', summary: 'directory or etcd; directory unless given' },
    directory: { value: 'DIR', summary: `where db.ZONE is written; ${DIRECTORY} unless given` },
    prefix: { value: 'PREFIX', summary: `with --to etcd: what keys begin with; ${PREFIX} unless given` },
    'owner-id': { value: 'NAME', summary: `with --to etcd: who owns the names; "${OWNER}" unless given` },
    'create-ptr': { summary: 'with --to etcd: PTR records for the addresses' },
    'leader-election': LEASE_FLAG,
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
    const labelSelector = options['label-filter']
    const source = kubevirtSource({
      ...{ zone: apex.zone, ttlSeconds: apex.ttlSeconds, addresses, namespaces: options.namespace },
      ...(labelSelector !== undefined && { labelSelector }),
    })
    const { kubeconfig, context } = options
    const kube = kubeAccess(
      { ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) },
      io.env,
    )
    const sink = new LogSink(1)
    const log = new Log(sink, { quiet: options.quiet })
    const signal = io.stopSignal()
    const common = { name: `KubeVirt ${apex.zone}`, kube, sources: [source] }
    const etcd = target === 'etcd' ? await readEtcdUrls(options, io) : undefined
    try {
      const publisher =
        etcd === undefined
          ? new ZoneFilePublisher(
              { ...common, shape: asIs, apex, directory: options.directory ?? DIRECTORY },
              log,
              signal,
            )
          : new EndpointPublisher(
              { ...common, ...recordSettings(options, apex, io, log), etcd },
              { log, signal, once: false },
            )
      if (options.metrics !== undefined)
        await servePublisher(readHttpAddress(options.metrics), () => publisher.state, signal)
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
    zone: kubevirtZone(flags.domain ?? io.env.DOMAIN ?? ''),
    nameServerAddresses: parseNameServerAddresses(flags['name-server-ip'] ?? io.env.NAME_SERVER_IP ?? ''),
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
  readonly 'leader-election': string | undefined
}

function recordSettings(
  flags: RecordFlags,
  apex: ZoneApex,
  io: Io,
  log: Log,
): Omit<PublishOptions, 'name' | 'kube' | 'sources' | 'etcd'> {
  const ownerId = flags['owner-id'] ?? OWNER
  const shape = endpointShape({ ...DEFAULT_SHAPE, createPtr: flags['create-ptr'] })
  return {
    shape: (endpoints) => shape(endpoints.map(inGroup)),
    always: nameServerEndpoints(apex),
    prefix: flags.prefix ?? PREFIX,
    strictOwner: ownerId,
    registry: inValueRegistry({ ownerId }),
    policy: 'sync',
    managedRecordTypes: ['A', 'AAAA', 'PTR'],
    excludeRecordTypes: [],
    domainFilter: () => true,
    intervalMs: INTERVAL_MS,
    maxDeletions: undefined,
    lease: readLease(flags['leader-election'], io),
    dryRun: false,
    onPlan: ({ create, updateNew, delete: gone }) =>
      log.info(`Records: ${create.length} created, ${updateNew.length} updated, ${gone.length} deleted`),
  }
}

/** A machine's name has the names of its interfaces below it: CoreDNS would answer for it with theirs, but for groups. */
function inGroup(endpoint: Endpoint): Endpoint {
  return {
    ...endpoint,
    providerSpecific: [...endpoint.providerSpecific, { name: 'coredns/group', value: endpoint.dnsName }],
  }
}

/** SkyDNS has the servers of a zone there. */
function nameServerEndpoints({ zone, nameServerAddresses, ttlSeconds }: ZoneApex): Endpoint[] {
  return endpointsForHostname(`ns.dns.${zone}`, nameServerAddresses, { recordTTL: ttlSeconds })
}

const asIs: Shape = (endpoints) => endpoints

function choice<const Word extends string>(
  name: string,
  given: string | undefined,
  words: readonly [Word, ...Word[]],
): Word {
  const word = given === undefined ? words[0] : words.find((each) => each === given)
  if (word !== undefined) return word
  throw new HoldfastError('Usage', `Cannot use --${name} "${given}": ${words.join(' or ')} is wanted`)
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
    'leader-election',
    ...(Object.keys(ETCD_FLAGS) as (keyof EtcdFlags)[]),
  ] as const
  const strangers = target === 'etcd' ? (['directory'] as const) : forEtcd
  const given = strangers.find((name) => flags[name] !== undefined && flags[name] !== false)
  if (given !== undefined)
    throw new HoldfastError('Usage', `Cannot use --${given} with --to ${target}: it is for the other; leave it out`)
}
