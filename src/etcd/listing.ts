// Reads all keys with a prefix as they were at one revision, in pages of a few megabytes.

import { HoldfastError } from '../lib/errors.ts'
import type { EtcdClient, KeyValue, RangeResult } from './client.ts'
import { prefixRange, showKey } from './keys.ts'

/** The first page finds out how large values are; 64 of the largest that etcd takes are less than 100 MB. */
const FIRST_PAGE_KEYS = 64
const MAX_PAGE_KEYS = 10_000
const PAGE_BYTES = 2 << 20

export function firstPage(client: EtcdClient, prefix: Uint8Array, signal: AbortSignal): Promise<RangeResult> {
  return client.range({ ...prefixRange(prefix), limit: FIRST_PAGE_KEYS }, signal)
}

/** The others, as of the revision of the first. Throws when etcd has forgotten that revision before the last page. */
export async function* laterPages(
  client: EtcdClient,
  prefix: Uint8Array,
  first: RangeResult,
  signal: AbortSignal,
): AsyncGenerator<RangeResult> {
  const { rangeEnd } = prefixRange(prefix)
  const { revision, clusterId } = first
  let page = first
  for (;;) {
    const last = page.kvs.at(-1)
    if (!page.more || last === undefined) return
    const key = Buffer.concat([last.key, Uint8Array.of(0)])
    page = await client.range({ key, rangeEnd, limit: nextLimit(page.kvs), revision }, signal)
    if (page.clusterId !== clusterId) throw anotherCluster(prefix)
    yield page
  }
}

/** As many keys as would have filled a page, if the next ones are like these; but not too many more at once. */
function nextLimit(kvs: readonly KeyValue[]): number {
  const bytes = kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 1)
  const fitting = Math.floor((kvs.length * PAGE_BYTES) / bytes)
  return Math.max(1, Math.min(fitting, kvs.length * 16, MAX_PAGE_KEYS))
}

export function anotherCluster(prefix: Uint8Array): HoldfastError {
  const reason = 'the endpoints belong to different clusters; give those of one'
  return new HoldfastError('EtcdFailed', `Cannot read ${showKey(prefix)}: ${reason}`, { retryable: true })
}
