// What the frames of a snapshot amount to: for each key the entry with the highest revision, whatever the order in
// the file. So two processes that write down the same source do no harm to each other.

import type { BatchHead, Frame, StoredEntry } from './snapshot-frames.ts'

export class Replay {
  #entries = new Map<string, StoredEntry>()
  #head: BatchHead | undefined
  /** Entries of batches whose last frame has not come yet. */
  readonly #open = new Map<number, Map<string, StoredEntry>>()

  /** By key; deleted ones among them until `dropDeleted`. */
  get entries(): ReadonlyMap<string, StoredEntry> {
    return this.#entries
  }

  /** Of the newest batch; undefined when there is none. */
  get head(): BatchHead | undefined {
    return this.#head
  }

  add({ batch, last, head, entries }: Frame): void {
    const open = this.#open.get(batch) ?? (last ? undefined : new Map<string, StoredEntry>())
    for (const entry of entries) keepNewer(open ?? this.#entries, entry)
    if (!last) {
      if (open !== undefined) this.#open.set(batch, open)
      return
    }
    if (open !== undefined) this.#close(batch, open)
    if (this.#head === undefined || !precedes(head.epoch, head.revision, this.#head.epoch, this.#head.revision)) {
      this.#head = head
    }
  }

  #close(batch: number, entries: Map<string, StoredEntry>): void {
    this.#open.delete(batch)
    // The first batch is by far the biggest.
    if (this.#entries.size === 0) this.#entries = entries
    else for (const entry of entries.values()) keepNewer(this.#entries, entry)
  }

  /** Takes deleted keys out; returns how many bytes of the file the others take. */
  dropDeleted(): number {
    let size = 0
    for (const [name, entry] of this.#entries) {
      if (entry.deleted) this.#entries.delete(name)
      else size += entry.size
    }
    return size
  }
}

function keepNewer(entries: Map<string, StoredEntry>, entry: StoredEntry): void {
  const held = entries.get(entry.name)
  if (held === undefined || !precedes(entry.epoch, entry.modRevision, held.epoch, held.modRevision)) {
    entries.set(entry.name, entry)
  }
}

function precedes(epoch: number, revision: bigint, otherEpoch: number, otherRevision: bigint): boolean {
  return epoch === otherEpoch ? revision < otherRevision : epoch < otherEpoch
}
