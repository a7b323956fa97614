// Changes of names put together into transactions: as many as etcd takes at once, and no name cut in two unless it is
// too large for one.

import type { Write } from './plan-name.ts'

/** etcd's own limits are 128 operations and 1.5 MiB, unless told otherwise. */
const MAX_WRITES = 128
const MAX_BYTES = 1 << 20

export interface NameWrites {
  /** Normalised. */
  readonly name: string
  readonly writes: readonly Write[]
}

/** What goes in one transaction, or, for one large name, in several after one another. */
export interface Batch {
  readonly names: readonly string[]
  readonly transactions: readonly (readonly Write[])[]
}

export function packBatches(changes: readonly NameWrites[], alone: boolean): Batch[] {
  const batches: Batch[] = []
  let names: string[] = []
  let writes: Write[] = []
  let bytes = 0
  const close = () => {
    if (names.length > 0) batches.push({ names, transactions: cut(writes) })
    ;[names, writes, bytes] = [[], [], 0]
  }
  const keys = new Set<string>()
  for (const change of changes) {
    const more = bytesOf(change.writes)
    const isFull = writes.length + change.writes.length > MAX_WRITES || bytes + more > MAX_BYTES
    // etcd refuses a transaction that writes a key twice.
    if (alone || isFull || change.writes.some(({ key }) => keys.has(key))) {
      close()
      keys.clear()
    }
    names.push(change.name)
    for (const write of change.writes) {
      writes.push(write)
      keys.add(write.key)
    }
    bytes += more
  }
  close()
  return batches
}

/** New values first: the name is never without any. */
function cut(writes: readonly Write[]): (readonly Write[])[] {
  if (writes.length <= MAX_WRITES) return [writes]
  const sorted = writes.toSorted((a, b) => Number(a.value === undefined) - Number(b.value === undefined))
  return Array.from({ length: Math.ceil(sorted.length / MAX_WRITES) }, (_, index) =>
    sorted.slice(index * MAX_WRITES, (index + 1) * MAX_WRITES),
  )
}

function bytesOf(writes: readonly Write[]): number {
  return writes.reduce((sum, { key, value = '' }) => sum + 2 * key.length + value.length, 0)
}
