// `dns:` of a stack file. What holds for all servers stands once beside `servers`; a single server may have its own `dns` and
// its own login to `etcd`. The rest of `etcd` it may repeat, and then has to agree.

import { z } from 'zod'
import { duration, flag, list, map, number, path, pem, preset, text } from '../../document/values.ts'
import { machines } from '../../machine/schema.ts'
import { endpoints } from '../../machine/schema-etcd.ts'
import { etcdClient, machineShape, settingsShape } from '../machine-variables.ts'

export const DNS_DEFAULTS = {
  engine: 'holdfast' as const,
  port: 53,
  health_port: 8080,
  metrics_port: 9153,
  key_prefix: '/coredns/',
  skydns_path: '/skydns',
  zonefiles_reload_interval: '3s',
  load_balance_records: true,
  alternate_dns_servers: [],
}

const settings = {
  zonefiles_reload_interval: preset(duration({ to: '24h' }), DNS_DEFAULTS.zonefiles_reload_interval).describe(
    'How often to look for changes of zone files that inotify did not report; 0 for never.',
  ),
  load_balance_records: preset(flag, DNS_DEFAULTS.load_balance_records).describe(
    'Hand out the A and AAAA records of a name in turn.',
  ),
  alternate_dns_servers: preset(
    z.array(text('an address'), { error: 'a list of addresses' }),
    DNS_DEFAULTS.alternate_dns_servers,
  ).describe('Servers that are asked for everything the zones do not have: addresses, with a port where it is not 53.'),
}

const keyPrefix = z.string({ error: 'the text before the domain in a key' }).optional()

const etcd = map(
  {
    ca_certificate: pem.describe('Authority that signed the certificates of the cluster.'),
    key_prefix: keyPrefix.describe('What stands before the domain in a key; `/coredns/` unless given.'),
    endpoints: endpoints.describe('Members of the cluster: `IP:PORT`.'),
    client: etcdClient.describe('How to log in.'),
  },
  'a map with "endpoints"',
)
export type DnsEtcdDocument = z.output<typeof etcd>

const etcdBackend = etcd.optional()

const server = map({
  ...machineShape,
  ...settingsShape,
  etcd: etcdBackend.describe('The etcd cluster that holds zones, the same for each server but for `client`.'),
  dns: map(settings).optional().describe('How this server serves names.'),
}).meta({ id: 'dns-server' })
export type DnsServerDocument = z.output<typeof server>

const port = (standard: number) => preset(number(1, 65_535), standard)

export const dnsSchema = map(
  {
    servers: machines(server, 'servers').describe(
      'How many name servers, which are then `dns-1`, `dns-2` …, or a list of them.',
    ),
    engine: preset(z.enum(['holdfast', 'coredns'], { error: '"holdfast" or "coredns"' }), DNS_DEFAULTS.engine).describe(
      "What serves names: our own name server, or the image's CoreDNS, `/usr/local/bin/coredns`, whose zone files are kept as etcd has them.",
    ),
    zones: path
      .optional()
      .describe('Directory with zone files, `db.ZONE`, `ZONE.zone` or `ZONE`, which every server gets.'),
    port: port(DNS_DEFAULTS.port).describe('Port of the name servers, UDP and TCP.'),
    health_port: port(DNS_DEFAULTS.health_port).describe('Port of HTTP `/health`.'),
    metrics_port: port(DNS_DEFAULTS.metrics_port).describe('Port of Prometheus `/metrics`.'),
    key_prefix: preset(keyPrefix.unwrap(), DNS_DEFAULTS.key_prefix).describe(
      'Zone files in etcd: what stands before the domain in a key. `/coredns` and `/coredns/` are the same.',
    ),
    allow_zones: list(text('a zone'), 'a list of zones, such as [apps.example.org]')
      .optional()
      .describe(
        'Zones in etcd that may be at or below zones of the stack or of `zones`, with all zones below them. Any other such zone is refused.',
      ),
    skydns: map(
      {
        zones: list(text('a zone'), 'a list of zones, such as [cluster.local]').describe(
          'Zones to answer for. A network such as `10.0.0.0/8` stands for its reverse zones.',
        ),
        path: text('a path').prefault(DNS_DEFAULTS.skydns_path).describe('Where the records are.'),
      },
      'a map with "zones"',
    )
      .optional()
      .describe("SkyDNS records in etcd, as ExternalDNS and CoreDNS's etcd plugin have them."),
    ...settings,
    etcd: etcdBackend.describe("An etcd cluster that holds zones, where it is not the stack's own."),
    ...settingsShape,
  },
  'a map with "servers"',
)
export type DnsDocument = z.output<typeof dnsSchema>
