// Puts many keys into etcd, some with leases.

import { EtcdClient } from '../../src/etcd/client.ts'
import type { EtcdOptions } from '../../src/etcd/options.ts'
import type { StoredKey } from './random-tree.ts'

/** Operations of one transaction; etcd takes 128 by default. */
const BATCH = 100

export async function store(etcd: EtcdOptions, keys: readonly StoredKey[]): Promise<void> {
  const client = new EtcdClient(etcd)
  try {
    const leases = new Map<number, bigint>()
    for (const seconds of new Set(keys.map(({ lease }) => lease)))
      if (seconds !== undefined) leases.set(seconds, (await client.leaseGrant(seconds)).id)
    for (let at = 0; at < keys.length; at += BATCH) {
      const puts = keys.slice(at, at + BATCH).map(({ key, value, lease }) => ({
        put: {
          key: Buffer.from(key),
          value: Buffer.from(value),
          ...(lease === undefined ? {} : { lease: leases.get(lease) as bigint }),
        },
      }))
      await client.txn([], puts)
    }
  } finally {
    client.close()
  }
}
