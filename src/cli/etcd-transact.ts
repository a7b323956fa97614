// A change of several keys, all or none. etcd limits how many there can be at once, and only it knows its limit.

import type { Compare, EtcdClient, Operation } from '../etcd/client.ts'
import { HoldfastError } from '../lib/errors.ts'

/** `what` says what was to be done: `remove a.test, b.test`. */
export async function transact(
  client: EtcdClient,
  what: string,
  compare: readonly Compare[],
  operations: readonly Operation[],
): Promise<{ readonly succeeded: boolean; readonly revision: bigint }> {
  try {
    return await client.txn(compare, operations)
  } catch (error) {
    if (!(error instanceof HoldfastError) || !/too many operations/u.test(error.message)) throw error
    throw new HoldfastError(
      'EtcdFailed',
      `Cannot ${what}: ${operations.length} changes are more than etcd takes at once; expected fewer, or an etcd with a larger --max-txn-ops`,
      { cause: error },
    )
  }
}
