// `sources:` of names.yaml: where names come from, one entry for each place. Order is precedence.

import { z } from 'zod'
import { DEFAULT_MAX_RECORDS } from '../../dns/zonefile/limits.ts'
import { duration, list, map, number, path, text, ttl, written } from '../../document/values.ts'
import { SKYDNS_DEFAULTS, skydnsPath, ZONES_DEFAULT_PREFIX, zonesPrefix } from '../skydns-defaults.ts'
import { etcdSchema } from './schema-etcd.ts'
import { kubernetesFields, kubevirtFields } from './schema-kubernetes.ts'
import { domain, fallthrough, zones } from './values.ts'

const reload = duration({ to: '24h' })
  .prefault('60s')
  .describe('How often to look for changes that inotify did not report; 0 for never.')

const falls = fallthrough
  .prefault(false)
  .describe(
    'Whether names not found here are looked for in the next source, and then forwarded: `true`, or a list of zones below which they are.',
  )

const etcd = etcdSchema.optional().describe('The cluster, where it is not the one at the top of the file.')

const named = {
  name: written(
    (text) => (/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/u.test(text) ? text : undefined),
    'name',
    'a name',
    'letters, digits, ".", "_" and "-", at most 63 of them',
  )
    .optional()
    .describe('What messages, metrics and files of state call the source. No two have the same.'),
}

const directory = map({
  type: z.literal('directory'),
  ...named,
  path: path.describe('The directory. Relative paths start at the directory of this file.'),
  reload,
  fallthrough: falls,
}).describe('A zone for every file of a directory: `db.ZONE`, `ZONE.zone` or `ZONE`.')

const file = map({
  type: z.literal('file'),
  ...named,
  path: path.describe('The zone file.'),
  zones: zones.describe('The zones it is served as, mostly one.'),
  reload,
  fallthrough: falls,
}).describe('One zone file.')

const etcdZones = map({
  type: z.literal('etcd-zones'),
  ...named,
  etcd,
  prefix: z
    .string({ error: 'the text before the domain in a key' })
    .transform(zonesPrefix)
    .prefault(ZONES_DEFAULT_PREFIX)
    .describe('What stands before the domain in a key; `/coredns` and `/coredns/` are the same. May be empty.'),
  max_records: number(1, 10_000_000)
    .prefault(DEFAULT_MAX_RECORDS)
    .describe('How many records a zone may have. A zone with more is refused, and its last good version stays.'),
  allow_zones: zones
    .optional()
    .describe(
      'Zones that may be at or below zones of the sources before this one, with all zones below them. Any other such zone is refused, since it would take names away from those sources.',
    ),
  fallthrough: falls,
}).describe('Zone files in etcd: each key below the prefix is a domain, its value the zone file.')

const skydns = map({
  type: z.literal('skydns'),
  ...named,
  etcd,
  path: text('a path')
    .transform(skydnsPath)
    .prefault(SKYDNS_DEFAULTS.path)
    .describe('Where the records are; `skydns` and `/skydns` are the same.'),
  zones: zones.describe('Zones to answer for. A network such as `10.0.0.0/8` stands for its reverse zones.'),
  mode: z
    .enum(['compatible', 'exact'])
    .prefault(SKYDNS_DEFAULTS.mode)
    .describe(
      "`compatible` answers as CoreDNS's etcd plugin does: a name has the records of every key below it. `exact`: every key is the name it spells, so parents are not hidden by their children, and wildcards can be stored.",
    ),
  fallthrough: falls,
  min_lease_ttl: ttl().prefault('30s').describe('The least TTL of a record that has its TTL from a lease.'),
  max_lease_ttl: ttl().prefault('24h').describe('The largest TTL of a record that has its TTL from a lease.'),
})
  .superRefine(({ min_lease_ttl, max_lease_ttl }, context) => {
    if (min_lease_ttl > max_lease_ttl)
      context.addIssue({
        code: 'custom',
        message: '"min_lease_ttl" is more than "max_lease_ttl"; expected at most as much',
      })
  })
  .describe("SkyDNS records in etcd, as ExternalDNS and CoreDNS's etcd plugin have them.")

const patroni = map({
  type: z.literal('patroni'),
  ...named,
  etcd,
  namespace: text('a path')
    .transform((name) => `${skydnsPath(name)}/`)
    .prefault('/service/')
    .describe("`namespace` of Patroni's configuration."),
  scope: text('the name of the cluster')
    .refine((scope) => !scope.includes('/'), { error: 'a scope has no "/"; expected the name of the cluster' })
    .describe("`scope` of Patroni's configuration: the name of the cluster."),
  zone: domain.describe('The zone that gets `primary`, `replica`, `sync` and a name for each member.'),
  ttl: ttl({ from: '1s', to: '5s' })
    .prefault('2s')
    .describe('TTL of the names, 1s to 5s: how long a client may go on with the old primary.'),
  nameservers: list(domain, 'a list of names, such as [ns1.example.org]')
    .optional()
    .describe('Names of the servers of the zone, for its NS records. None unless given.'),
}).describe('Names that follow a Patroni cluster: its primary, its replicas, its members.')

const kubevirt = map({ type: z.literal('kubevirt'), ...named, ...kubevirtFields, fallthrough: falls }).describe(
  "Names of KubeVirt's virtual machines: `INTERFACE.VM.NAMESPACE.vm.DOMAIN` for their secondary interfaces.",
)

const kubernetes = map({ type: z.literal('kubernetes'), ...named, ...kubernetesFields, fallthrough: falls }).describe(
  'Names of Kubernetes objects, as ExternalDNS takes them from ingresses, services, nodes, gateway routes and DNSEndpoints.',
)

export const sourceSchema = z.discriminatedUnion(
  'type',
  [directory, file, etcdZones, skydns, patroni, kubevirt, kubernetes],
  {
    error: 'a map with "type"',
  },
)
export type SourceDocument = z.output<typeof sourceSchema>
