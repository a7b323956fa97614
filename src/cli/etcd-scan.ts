// Every key under a prefix with its value, all as of one revision; pages are read as they are needed.

import type { EtcdClient, KeyValue } from '../etcd/client.ts'
import { firstPage, laterPages } from '../etcd/listing.ts'

export async function* scan(client: EtcdClient, prefix: Uint8Array): AsyncGenerator<KeyValue> {
  // Each page has the deadline of a request; nothing else ends the listing.
  const { signal } = new AbortController()
  const first = await firstPage(client, prefix, signal)
  yield* first.kvs
  for await (const page of laterPages(client, prefix, first, signal)) yield* page.kvs
}
