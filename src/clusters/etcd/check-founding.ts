// Whoever says that the cluster is there already means one with data: an empty one in its place would be taken for it.

import { HoldfastError } from '../../lib/errors.ts'
import type { EtcdSpec } from './spec.ts'

/** To be called where a cluster is about to be made of members without data. */
export function refuseFounding({ isExisting, members }: EtcdSpec): void {
  if (isExisting !== true) return
  throw new HoldfastError(
    'EtcdNotThere',
    `Cannot make an etcd cluster of ${members.map(({ name }) => `"${name}"`).join(', ')}: "is_initializing" is false, and there is no cluster of this stack; expected true where one is to be made`,
    { hint: 'a cluster that was made elsewhere cannot be joined: a cluster is one stack' },
  )
}
