// Query counters in shared memory. One region holds what one thread counted for one server block: that thread is the
// only writer, so an addition needs no lock, and the main thread reads all regions whenever metrics are asked for.
//
//   region = 5 histograms, then one row per zone slot
//   histogram = one count per bucket (not cumulative), the last one for everything larger, then the sum of the values
//   row = requests[proto][family][type], responses[rcode], requests with DO
//
// Slot 0 is for queries outside every zone. Counts are float64: exact up to 2^53.

import { TYPE } from '../dns/types.ts'

export const PROTO = { udp: 0, tcp: 1 } as const
/** The numbers CoreDNS uses for the address families in its `family` label. */
export const FAMILY = { ipv4: 1, ipv6: 2 } as const

/** The types counted one by one, as in CoreDNS; every other type is counted in the bucket after the last. */
export const COUNTED_TYPES = [
  'A',
  'AAAA',
  'ANY',
  'AXFR',
  'CNAME',
  'DNSKEY',
  'DS',
  'HTTPS',
  'IXFR',
  'MX',
  'NS',
  'NSEC',
  'NSEC3',
  'PTR',
  'RRSIG',
  'SOA',
  'SRV',
  'SVCB',
  'TXT',
] as const
/** Rcodes 0 to 23 (BADCOOKIE, the last one assigned to answers) each have a counter; one more takes the rest. */
export const COUNTED_RCODES = 24

/** Upper bounds of the buckets of message sizes and durations, as in CoreDNS. */
export const SIZE_BOUNDS: readonly number[] = [
  0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16_000, 32_000, 48_000, 64_000,
]
export const DURATION_BOUNDS: readonly number[] = Array.from({ length: 16 }, (_, i) => 0.00025 * 2 ** i)

const TYPE_BUCKETS = COUNTED_TYPES.length + 1
const REQUESTS = 4 * TYPE_BUCKETS
const RCODES_AT = REQUESTS
const DO_AT = RCODES_AT + COUNTED_RCODES + 1
const ROW = DO_AT + 1

const SIZE_LENGTH = SIZE_BOUNDS.length + 2
const REQUEST_SIZE_AT = 0
const RESPONSE_SIZE_AT = 2 * SIZE_LENGTH
const DURATION_AT = 4 * SIZE_LENGTH
const ROWS_AT = DURATION_AT + DURATION_BOUNDS.length + 2

/** Every counted type has a number below 256, so a byte per number is enough. */
const BUCKET_OF_TYPE: Uint8Array = new Uint8Array(256).fill(COUNTED_TYPES.length)
for (const [bucket, name] of COUNTED_TYPES.entries()) BUCKET_OF_TYPE[TYPE[name]] = bucket

/** A region for zone slots 0 to `slots` - 1. Untouched rows cost address space, not memory. */
export function allocateStats(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer((ROWS_AT + slots * ROW) * Float64Array.BYTES_PER_ELEMENT)
}

export class StatsWriter {
  readonly #counts: Float64Array
  readonly #slots: number

  constructor(region: SharedArrayBuffer) {
    this.#counts = new Float64Array(region)
    this.#slots = slotsOf(this.#counts)
  }

  /** Counts one answered query. A slot the region has no row for is counted in slot 0. */
  count(
    zoneSlot: number,
    proto: number,
    family: number,
    type: number,
    rcode: number,
    dnssecOk: boolean,
    requestBytes: number,
    responseBytes: number,
  ): void {
    const counts = this.#counts
    const row = ROWS_AT + (zoneSlot < this.#slots ? zoneSlot : 0) * ROW
    const typeBucket = type < 256 ? BUCKET_OF_TYPE[type] : COUNTED_TYPES.length
    counts[row + (proto * 2 + family - 1) * TYPE_BUCKETS + typeBucket]++
    counts[row + RCODES_AT + (rcode < COUNTED_RCODES ? rcode : COUNTED_RCODES)]++
    if (dnssecOk) counts[row + DO_AT]++
    observe(counts, REQUEST_SIZE_AT + proto * SIZE_LENGTH, SIZE_BOUNDS, requestBytes, 1)
    observe(counts, RESPONSE_SIZE_AT + proto * SIZE_LENGTH, SIZE_BOUNDS, responseBytes, 1)
  }

  /** Counts `queries` queries that took `secondsEach`: a batch is timed once and shared out among its queries. */
  observeDuration(secondsEach: number, queries: number): void {
    observe(this.#counts, DURATION_AT, DURATION_BOUNDS, secondsEach, queries)
  }
}

/** Most values fall into the first few buckets, so counting up to the right one beats a search. */
function observe(counts: Float64Array, at: number, bounds: readonly number[], value: number, times: number): void {
  let bucket = 0
  while (bucket < bounds.length && value > bounds[bucket]) bucket++
  counts[at + bucket] += times
  counts[at + bounds.length + 1] += value * times
}

export interface HistogramCounts {
  readonly bounds: readonly number[]
  /** One more than bounds: the last is for values above every bound. Not cumulative. */
  readonly buckets: Float64Array | readonly number[]
  readonly sum: number
}

/** What was counted in one zone slot. */
export class ZoneCounts {
  readonly slot: number
  readonly #row: Float64Array

  constructor(slot: number, row: Float64Array) {
    this.slot = slot
    this.#row = row
  }

  /** By `proto`, `family` and index in COUNTED_TYPES (one more for other types). */
  requests(proto: number, family: number, typeBucket: number): number {
    return this.#row[(proto * 2 + family - 1) * TYPE_BUCKETS + typeBucket]
  }

  /** By rcode; COUNTED_RCODES for all others. */
  responses(rcode: number): number {
    return this.#row[RCODES_AT + rcode]
  }

  get dnssecOk(): number {
    return this.#row[DO_AT]
  }

  plus(other: ZoneCounts): ZoneCounts {
    return new ZoneCounts(
      this.slot,
      this.#row.map((count, i) => count + other.#row[i]),
    )
  }
}

/** The sum over regions of different threads for the same block; they may differ in their number of slots. */
export class StatsReader {
  readonly #regions: readonly Float64Array[]

  constructor(regions: readonly SharedArrayBuffer[]) {
    this.#regions = regions.map((region) => new Float64Array(region))
  }

  /** Every slot in which anything was counted, in order. */
  zones(): ZoneCounts[] {
    const found: ZoneCounts[] = []
    const slots = Math.max(0, ...this.#regions.map(slotsOf))
    for (let slot = 0; slot < slots; slot++) {
      if (this.#answered(slot)) found.push(new ZoneCounts(slot, this.#sum(ROWS_AT + slot * ROW, ROW)))
    }
    return found
  }

  /** Every query counted has an rcode, so that part of the row tells whether there is anything to sum. */
  #answered(slot: number): boolean {
    const from = ROWS_AT + slot * ROW + RCODES_AT
    for (const region of this.#regions) {
      const to = Math.min(from + COUNTED_RCODES + 1, region.length)
      for (let at = from; at < to; at++) if (region[at] !== 0) return true
    }
    return false
  }

  requestBytes(proto: number): HistogramCounts {
    return this.#histogram(REQUEST_SIZE_AT + proto * SIZE_LENGTH, SIZE_BOUNDS)
  }

  responseBytes(proto: number): HistogramCounts {
    return this.#histogram(RESPONSE_SIZE_AT + proto * SIZE_LENGTH, SIZE_BOUNDS)
  }

  durationSeconds(): HistogramCounts {
    return this.#histogram(DURATION_AT, DURATION_BOUNDS)
  }

  #histogram(at: number, bounds: readonly number[]): HistogramCounts {
    const counts = this.#sum(at, bounds.length + 2)
    return { bounds, buckets: counts.subarray(0, bounds.length + 1), sum: counts[bounds.length + 1] }
  }

  #sum(at: number, length: number): Float64Array {
    const sum = new Float64Array(length)
    for (const region of this.#regions) {
      if (at >= region.length) continue
      for (let i = 0; i < length; i++) sum[i] += region[at + i]
    }
    return sum
  }
}

function slotsOf(counts: Float64Array): number {
  return (counts.length - ROWS_AT) / ROW
}
