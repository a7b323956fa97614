// The coredns_dns_* families, from the counters in shared memory. CoreDNS has a histogram per zone; ours are one per
// server block, under the block's own zone, so that 10,000 zones do not mean 10,000 times 87 series.

import { rcodeName } from '../../dns/types.ts'
import {
  COUNTED_RCODES,
  COUNTED_TYPES,
  FAMILY,
  type HistogramCounts,
  PROTO,
  type StatsReader,
  type ZoneCounts,
} from '../stats.ts'
import type { MetricsText } from './metrics-text.ts'

/** One server block on one address, with the names its zone slots stand for. */
export interface ServedBlock {
  /** As `serverLabel` makes it. */
  readonly server: string
  /** Names histograms, and slot 0: the zone the block was declared for. */
  readonly zone: string
  readonly stats: StatsReader
  /** Zone and plugin (`file`, `auto`) of a slot; undefined when the zone is gone, and its counters are left out. */
  readonly slot: (slot: number) => ServedSlot | undefined
}

export interface ServedSlot {
  readonly zone: string
  readonly plugin: string
}

/** CoreDNS's name for a listening address: `dns://:53`, `dns://192.0.2.1:53`, `dns://[2001:db8::1]:53`. */
export function serverLabel(host: string, port: number): string {
  return `dns://${host.includes(':') ? `[${host}]` : host}:${port}`
}

const PROTOS = ['udp', 'tcp'] as const
const FAMILIES = [FAMILY.ipv4, FAMILY.ipv6] as const

export function writeDnsMetrics(text: MetricsText, blocks: readonly ServedBlock[]): void {
  const served = blocks.map((block) => ({ server: block.server, slots: namedSlots(block) }))

  text.family('coredns_dns_requests_total', 'counter', 'DNS requests per zone, protocol, address family and type.')
  for (const { server, slots } of served) {
    for (const { zone, counts } of merge(slots, 'zone')) writeRequests(text, server, zone, counts)
  }
  text.family('coredns_dns_responses_total', 'counter', 'DNS responses per zone, response code and plugin.')
  for (const { server, slots } of served) {
    for (const slot of merge(slots, 'zone and plugin')) writeResponses(text, server, slot)
  }
  text.family('coredns_dns_do_requests_total', 'counter', 'DNS requests with the DO bit set per zone.')
  for (const { server, slots } of served) {
    for (const { zone, counts } of merge(slots, 'zone')) {
      if (counts.dnssecOk > 0) text.sample(counts.dnssecOk, { server, view: '', zone })
    }
  }

  text.family('coredns_dns_request_duration_seconds', 'histogram', 'Time each request took, in seconds.')
  for (const { server, zone, stats } of blocks) {
    text.histogram(stats.durationSeconds(), { server, view: '', zone })
  }
  text.family('coredns_dns_request_size_bytes', 'histogram', 'Size of the requests in bytes, per protocol.')
  writeSizes(text, blocks, (stats, proto) => stats.requestBytes(proto))
  text.family('coredns_dns_response_size_bytes', 'histogram', 'Size of the responses in bytes, per protocol.')
  writeSizes(text, blocks, (stats, proto) => stats.responseBytes(proto))
}

function writeSizes(
  text: MetricsText,
  blocks: readonly ServedBlock[],
  sizes: (stats: StatsReader, proto: number) => HistogramCounts,
): void {
  for (const { server, zone, stats } of blocks) {
    for (const proto of PROTOS) text.histogram(sizes(stats, PROTO[proto]), { proto, server, view: '', zone })
  }
}

function writeRequests(text: MetricsText, server: string, zone: string, counts: ZoneCounts): void {
  for (const proto of PROTOS) {
    for (const family of FAMILIES) {
      for (let bucket = 0; bucket <= COUNTED_TYPES.length; bucket++) {
        const count = counts.requests(PROTO[proto], family, bucket)
        if (count === 0) continue
        const type = COUNTED_TYPES[bucket] ?? 'other'
        text.sample(count, { family: String(family), proto, server, type, view: '', zone })
      }
    }
  }
}

function writeResponses(text: MetricsText, server: string, { zone, plugin, counts }: NamedSlot): void {
  for (let code = 0; code <= COUNTED_RCODES; code++) {
    const count = counts.responses(code)
    if (count === 0) continue
    const rcode = code < COUNTED_RCODES ? rcodeName(code) : 'other'
    text.sample(count, { plugin, rcode, server, view: '', zone })
  }
}

interface NamedSlot extends ServedSlot {
  readonly counts: ZoneCounts
}

function namedSlots(block: ServedBlock): NamedSlot[] {
  return block.stats.zones().flatMap((counts) => {
    const slot = counts.slot === 0 ? { zone: block.zone, plugin: '' } : block.slot(counts.slot)
    return slot === undefined ? [] : [{ zone: slot.zone, plugin: slot.plugin, counts }]
  })
}

/** Slot 0 has the zone label of the block, which a zone served may have too: no series may appear twice. */
function merge(slots: readonly NamedSlot[], by: 'zone' | 'zone and plugin'): NamedSlot[] {
  const merged = new Map<string, NamedSlot>()
  for (const slot of slots) {
    const key = by === 'zone' ? slot.zone : `${slot.zone} ${slot.plugin}`
    const before = merged.get(key)
    merged.set(key, before === undefined ? slot : { ...before, counts: before.counts.plus(slot.counts) })
  }
  return [...merged.values()]
}
