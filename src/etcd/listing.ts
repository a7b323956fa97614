// Reads all keys with a prefix as they were at one revision, in pages. etcd limits them by the number of keys only, so
// we learn from each page how many fit the next, and ask for fewer when an answer takes too long.

import { HoldfastError } from '../lib/errors.ts'
import type { EtcdClient, KeyValue, RangeRequest, RangeResult } from './client.ts'
import { prefixRange, showKey } from './keys.ts'

/** Of the largest values that etcd takes by default, these are 12 MB. */
const FIRST_PAGE_KEYS = 8
const MAX_PAGE_KEYS = 5000
const PAGE_BYTES = 1 << 19
/** How fast pages may grow, and shrink when one is too large. */
const STEP = 16

export function firstPage(client: EtcdClient, prefix: Uint8Array, signal: AbortSignal): Promise<RangeResult> {
  return readPage(client, prefixRange(prefix), FIRST_PAGE_KEYS, signal)
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
    page = await readPage(client, { key, rangeEnd, revision }, nextLimit(page.kvs), signal)
    if (page.clusterId !== clusterId) throw anotherCluster(prefix)
    yield page
  }
}

async function readPage(
  client: EtcdClient,
  request: RangeRequest,
  limit: number,
  signal: AbortSignal,
): Promise<RangeResult> {
  try {
    return await client.range({ ...request, limit }, signal)
  } catch (error) {
    const isTooLarge = error instanceof HoldfastError && error.code === 'EtcdTimeout' && limit > 1
    if (!isTooLarge) throw error
    return readPage(client, request, Math.ceil(limit / STEP), signal)
  }
}

/** As many keys as would have filled a page, if the next ones are like these; but not too many more at once. */
function nextLimit(kvs: readonly KeyValue[]): number {
  const bytes = kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 1)
  const fitting = Math.floor((kvs.length * PAGE_BYTES) / bytes)
  return Math.max(1, Math.min(fitting, kvs.length * STEP, MAX_PAGE_KEYS))
}

export function anotherCluster(prefix: Uint8Array): HoldfastError {
  const reason = 'the endpoints belong to different clusters; give those of one'
  return new HoldfastError('EtcdFailed', `Cannot read ${showKey(prefix)}: ${reason}`, { retryable: true })
}
