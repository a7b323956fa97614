import { describe, expect, test } from 'vitest'
import { TYPE } from '../../dns/types.ts'
import { block as corefileBlock } from '../corefile/testing.ts'
import { allocateStats, FAMILY, PROTO, StatsReader, StatsWriter } from '../stats.ts'
import { countResponse, createUpstreamStats, exchangeStats } from '../upstream/stats.ts'
import { type ServedBlock, serverLabel } from './dns-metrics.ts'
import { renderMetrics } from './exposition.ts'
import { Histogram } from './histogram.ts'
import { MetricsText } from './metrics-text.ts'
import { enabledPlugins, type ServerState } from './server-metrics.ts'

const STATE: ServerState = {
  version: '0.1.0',
  revision: 'abc1234',
  plugins: [{ server: 'dns://:53', zone: '.', names: ['auto', 'log'] }],
  panicsTotal: 0,
  health: { durations: new Histogram([0.00025]), failuresTotal: 0 },
  reloadsFailedTotal: 1,
  configurationHash: '00ff',
  zones: [{ zone: 'example.org.', serial: 2_026_111_501 }],
  zonesRefused: ['broken.example.'],
  sources: [{ name: 'etcd zones /zones/', up: false, keys: 3 }],
  zoneLoadErrorsTotal: 2,
  arenaUsedBytes: 1024,
  arenaFreeBytes: 4096,
  workers: 2,
  handoverDroppedTotal: 7,
  logLinesDroppedTotal: 3,
  tcpConnections: 4,
  tcpConnectionsTotal: 50,
  tcpConnectionsEvictedTotal: 6,
}

function servedBlock(): { writer: StatsWriter; block: ServedBlock } {
  const region = allocateStats(10_001)
  const stats = new StatsReader([region])
  const slot = (index: number) => (index === 9 ? undefined : { zone: `z${index}.example.`, plugin: 'auto' })
  return { writer: new StatsWriter(region), block: { server: serverLabel('', 53), zone: '.', stats, slot } }
}

describe('metrics', () => {
  test('a source that several blocks follow is told once, and is up only if all of them follow it', () => {
    const sources = [
      { name: 'SkyDNS /skydns', up: true, keys: 3 },
      { name: 'SkyDNS /skydns', up: false, keys: 2 },
    ]
    const text = renderMetrics([], [], { ...STATE, sources })
    expect(linesOf(text, 'holdfast_source_up').slice(2)).toEqual(['holdfast_source_up{source="SkyDNS /skydns"} 0'])
    expect(linesOf(text, 'holdfast_source_keys').slice(2)).toEqual(['holdfast_source_keys{source="SkyDNS /skydns"} 3'])
  })

  test('requests, responses and DO are counted under the names and labels of CoreDNS', () => {
    const { writer, block } = servedBlock()
    writer.count(1, PROTO.udp, FAMILY.ipv4, TYPE.A, 0, true, 40, 56)
    writer.count(1, PROTO.udp, FAMILY.ipv4, TYPE.A, 0, false, 40, 56)
    writer.count(10_000, PROTO.tcp, FAMILY.ipv6, TYPE.CAA, 3, false, 40, 90)
    writer.count(0, PROTO.udp, FAMILY.ipv4, TYPE.NS, 5, false, 40, 40)
    const text = renderMetrics([block], [], STATE)
    expect(linesOf(text, 'coredns_dns_requests_total')).toEqual([
      '# HELP coredns_dns_requests_total DNS requests per zone, protocol, address family and type.',
      '# TYPE coredns_dns_requests_total counter',
      'coredns_dns_requests_total{family="1",proto="udp",server="dns://:53",type="NS",view="",zone="."} 1',
      'coredns_dns_requests_total{family="1",proto="udp",server="dns://:53",type="A",view="",zone="z1.example."} 2',
      'coredns_dns_requests_total{family="2",proto="tcp",server="dns://:53",type="other",view="",zone="z10000.example."} 1',
    ])
    expect(linesOf(text, 'coredns_dns_responses_total').slice(2)).toEqual([
      'coredns_dns_responses_total{plugin="",rcode="REFUSED",server="dns://:53",view="",zone="."} 1',
      'coredns_dns_responses_total{plugin="auto",rcode="NOERROR",server="dns://:53",view="",zone="z1.example."} 2',
      'coredns_dns_responses_total{plugin="auto",rcode="NXDOMAIN",server="dns://:53",view="",zone="z10000.example."} 1',
    ])
    expect(linesOf(text, 'coredns_dns_do_requests_total').slice(2)).toEqual([
      'coredns_dns_do_requests_total{server="dns://:53",view="",zone="z1.example."} 1',
    ])
  })

  test('histograms are cumulative and have the bounds of CoreDNS', () => {
    const { writer, block } = servedBlock()
    writer.count(1, PROTO.udp, FAMILY.ipv4, TYPE.A, 0, true, 40, 56)
    writer.count(1, PROTO.udp, FAMILY.ipv4, TYPE.A, 0, true, 40, 1232)
    writer.observeDuration(0.0004, 2)
    const text = renderMetrics([block], [], STATE)
    const sizes = linesOf(text, 'coredns_dns_response_size_bytes').filter((line) => line.includes('proto="udp"'))
    const labels = 'proto="udp",server="dns://:53",view="",zone="."'
    const counts: [string, number][] = [
      ['0', 0],
      ...['100', '200', '300', '400', '511', '1023'].map((bound): [string, number] => [bound, 1]),
      ...['2047', '4095', '8291', '16000', '32000', '48000', '64000', '+Inf'].map((bound): [string, number] => [
        bound,
        2,
      ]),
    ]
    expect(sizes).toEqual([
      ...counts.map(([le, n]) => `coredns_dns_response_size_bytes_bucket{${labels},le="${le}"} ${n}`),
      `coredns_dns_response_size_bytes_sum{${labels}} 1288`,
      `coredns_dns_response_size_bytes_count{${labels}} 2`,
    ])
    const durations = linesOf(text, 'coredns_dns_request_duration_seconds').slice(2)
    const server = 'server="dns://:53",view="",zone="."'
    expect(durations.slice(0, 2)).toEqual([
      `coredns_dns_request_duration_seconds_bucket{${server},le="0.00025"} 0`,
      `coredns_dns_request_duration_seconds_bucket{${server},le="0.0005"} 2`,
    ])
    expect(durations.slice(-3)).toEqual([
      `coredns_dns_request_duration_seconds_bucket{${server},le="+Inf"} 2`,
      `coredns_dns_request_duration_seconds_sum{${server}} 0.0008`,
      `coredns_dns_request_duration_seconds_count{${server}} 2`,
    ])
    expect(durations).toContain(`coredns_dns_request_duration_seconds_bucket{${server},le="8.192"} 2`)
  })

  test('a zone named like its block is one series with the queries outside it; a zone that is gone has none', () => {
    const { writer, block } = servedBlock()
    for (const slot of [0, 1, 9]) writer.count(slot, PROTO.udp, FAMILY.ipv4, TYPE.A, 0, true, 40, 56)
    const text = renderMetrics([{ ...block, zone: 'z1.example.' }], [], STATE)
    expect(linesOf(text, 'coredns_dns_requests_total').slice(2)).toEqual([
      'coredns_dns_requests_total{family="1",proto="udp",server="dns://:53",type="A",view="",zone="z1.example."} 2',
    ])
    expect(
      linesOf(text, 'coredns_dns_responses_total')
        .slice(2)
        .map((line) => line.split(',')[0]),
    ).toEqual(['coredns_dns_responses_total{plugin=""', 'coredns_dns_responses_total{plugin="auto"'])
    parseStrictly(text)
  })

  test('upstreams used by several blocks are added up; caches are told apart', () => {
    const [one, two] = [createUpstreamStats(), createUpstreamStats()]
    for (const stats of [one, two]) {
      const upstream = exchangeStats(stats, '192.0.2.53:53')
      countResponse(upstream, 0, 0.01)
      upstream.connectionMisses.udp++
      stats.cache.success.hits++
    }
    const text = renderMetrics(
      [],
      [
        { server: 'dns://:53', stats: one, cachedZones: ['corp.example.', 'example.org.'] },
        { server: 'dns://:54', stats: two, cachedZones: ['.'] },
      ],
      STATE,
    )
    expect(text).toContain(
      'coredns_proxy_request_duration_seconds_count{proxy_name="forward",rcode="NOERROR",to="192.0.2.53:53"} 2\n',
    )
    expect(text).toContain(
      'coredns_proxy_conn_cache_misses_total{proto="udp",proxy_name="forward",to="192.0.2.53:53"} 2\n',
    )
    expect(linesOf(text, 'coredns_cache_hits_total').slice(2)).toEqual([
      'coredns_cache_hits_total{server="dns://:53",type="success",view="",zones="corp.example.,example.org."} 1',
      'coredns_cache_hits_total{server="dns://:53",type="denial",view="",zones="corp.example.,example.org."} 0',
      'coredns_cache_hits_total{server="dns://:54",type="success",view="",zones="."} 1',
      'coredns_cache_hits_total{server="dns://:54",type="denial",view="",zones="."} 0',
    ])
    parseStrictly(text)
  })

  test('the whole text satisfies a strict reader and has the state of the server', () => {
    const { writer, block } = servedBlock()
    writer.count(1, PROTO.udp, FAMILY.ipv4, TYPE.A, 0, true, 40, 56)
    const samples = parseStrictly(renderMetrics([block], [], STATE))
    expect(samples.get('coredns_build_info{goversion="",revision="abc1234",version="0.1.0"}')).toBe(1)
    expect(samples.get('coredns_plugin_enabled{name="auto",server="dns://:53",view="",zone="."}')).toBe(1)
    expect(samples.get('coredns_reload_version_info{hash="sha512",value="00ff"}')).toBe(1)
    expect(samples.get('holdfast_zone_serial{zone="example.org."}')).toBe(2_026_111_501)
    expect(samples.get('holdfast_handover_dropped_total')).toBe(7)
    expect(samples.get('holdfast_log_lines_dropped_total')).toBe(3)
    expect(samples.get('holdfast_tcp_connections_evicted_total')).toBe(6)
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1 << 20)
    expect(samples.get('process_open_fds')).toBeGreaterThan(2)
    expect(samples.get('process_start_time_seconds')).toBeLessThan(Date.now() / 1000)
  })

  test('label values and help texts are escaped', () => {
    const text = new MetricsText()
    text.family('m', 'gauge', 'a \\ and\na break')
    text.sample(Number.POSITIVE_INFINITY, { a: 'ü', b: 'say "hi"\\\n' })
    expect(text.toString()).toBe(
      '# HELP m a \\\\ and\\na break\n# TYPE m gauge\nm{a="ü",b="say \\"hi\\"\\\\\\n"} +Inf\n',
    )
    expect([...parseStrictly(text.toString()).values()]).toEqual([Number.POSITIVE_INFINITY])
  })

  test('the plugins of a block that handle queries are reported', () => {
    const plugins = enabledPlugins(
      corefileBlock('auto {\n directory /zones\n}\nforward . 192.0.2.53\nlog\nhealth\nreload'),
    )
    expect(plugins).toEqual(expect.arrayContaining(['auto', 'forward', 'log']))
    for (const other of ['file', 'cache', 'health', 'reload']) expect(plugins).not.toContain(other)
  })

  test('servers are named as CoreDNS names them', () => {
    expect([serverLabel('', 53), serverLabel('192.0.2.1', 5353), serverLabel('2001:db8::1', 53)]).toEqual([
      'dns://:53',
      'dns://192.0.2.1:5353',
      'dns://[2001:db8::1]:53',
    ])
  })
})

function linesOf(text: string, family: string): string[] {
  return text.split('\n').filter((line) => new RegExp(`^(# \\w+ )?${family}(_bucket|_sum|_count)?[ {]`, 'u').test(line))
}

/** Reads the exposition by its grammar and throws at the first deviation: order, types, duplicates, bucket sums. */
function parseStrictly(text: string): Map<string, number> {
  const samples = new Map<string, number>()
  const types = new Map<string, string>()
  let family = ''
  if (!text.endsWith('\n')) throw new Error('no line break at the end')
  const lines = text.slice(0, -1).split('\n')
  for (const [index, line] of lines.entries()) {
    const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\]|\\[\\n])*)$/u.exec(line)
    if (help !== null) {
      family = help[1]
      if (!lines[index + 1].startsWith(`# TYPE ${family} `)) throw new Error(`no type after: ${line}`)
      continue
    }
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/u.exec(line)
    if (type !== null) {
      if (types.has(type[1])) throw new Error(`family twice: ${type[1]}`)
      types.set(type[1], type[2])
      continue
    }
    const sample =
      /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"(?:,[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*")*\})? (\S+)$/u.exec(
        line,
      )
    if (sample === null) throw new Error(`not a sample: ${line}`)
    const [, name, labels = '', value] = sample
    const base = types.get(family) === 'histogram' ? name.replace(/_(bucket|sum|count)$/u, '') : name
    if (base !== family) throw new Error(`sample outside its family ${family}: ${line}`)
    if (types.get(family) === 'counter' && !name.endsWith('_total')) throw new Error(`counter without _total: ${line}`)
    const number = value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value)
    if (Number.isNaN(number)) throw new Error(`not a number: ${line}`)
    if (samples.has(name + labels)) throw new Error(`series twice: ${line}`)
    samples.set(name + labels, number)
  }
  checkBuckets(samples)
  return samples
}

function checkBuckets(samples: ReadonlyMap<string, number>): void {
  let before = 0
  for (const [series, value] of samples) {
    const bucket = /^(\w+)_bucket\{(.*?),?le="([^"]+)"\}$/u.exec(series)
    if (bucket === null) continue
    const [, name, labels, bound] = bucket
    if (value < before) throw new Error(`not cumulative: ${series}`)
    before = bound === '+Inf' ? 0 : value
    const count = samples.get(`${name}_count${labels === '' ? '' : `{${labels}}`}`)
    if (bound === '+Inf' && count !== value) throw new Error(`count is not the last bucket: ${series}`)
  }
}
