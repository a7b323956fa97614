// One transaction: everything in it is written if every key still is what it was when the writes were planned, and
// nothing otherwise. Then etcd says in the same breath which keys are others by now.

import type { Compare, EtcdClient, Operation } from '../../../etcd/client.ts'
import type { Write } from './plan-name.ts'

export interface Transacted {
  /** Of the writes; undefined when nothing was written. */
  readonly revision: bigint | undefined
  /** Writes that were planned for another state of their key. */
  readonly outdated: readonly Write[]
}

export async function transact(client: EtcdClient, writes: readonly Write[], signal: AbortSignal): Promise<Transacted> {
  const keys = writes.map(({ key }) => Buffer.from(key))
  const compare = writes.map(
    ({ modRevision }, at): Compare => ({ key: keys[at], target: 'mod', revision: modRevision }),
  )
  const operations = writes.map(({ value }, at): Operation => {
    const key = keys[at]
    return value === undefined ? { delete: { key } } : { put: { key, value: Buffer.from(value) } }
  })
  const looks = keys.map((key): Operation => ({ range: { key, keysOnly: true } }))
  const { succeeded, revision, responses } = await client.txn(compare, operations, looks, signal)
  if (succeeded) return { revision, outdated: [] }
  const outdated = writes.filter(
    ({ modRevision }, at) => (responses[at].range?.kvs[0]?.modRevision ?? 0n) !== modRevision,
  )
  return { revision: undefined, outdated }
}
