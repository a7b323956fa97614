// All entries under a prefix, by key and by name, as the mirror of etcd reports them.

import type { MirrorChange } from '../../../etcd/mirror.ts'
import { normalName } from '../../endpoints/normal-name.ts'
import { type Entry, isReadable, readEntry, type Unreadable } from './entry.ts'

export class EntryIndex {
  readonly #prefix: string
  readonly #keys = new Map<string, Entry | Unreadable>()
  readonly #names = new Map<string, Map<string, Entry>>()

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** Returns the normalised names that it makes a difference for, and what became unreadable by it. */
  apply(changes: readonly MirrorChange[]): { names: ReadonlySet<string>; unreadable: readonly Unreadable[] } {
    const names = new Set<string>()
    const unreadable: Unreadable[] = []
    for (const { key, value } of changes) {
      const before = this.#keys.get(Buffer.from(key).toString())
      if (before !== undefined) this.#remove(before, names)
      if (value === undefined) continue
      const after = readEntry(this.#prefix, key, value.value, value.modRevision)
      this.#keys.set(after.key, after)
      if (isReadable(after)) this.#add(after, names)
      else unreadable.push(after)
    }
    return { names, unreadable }
  }

  at(key: string): Entry | Unreadable | undefined {
    return this.#keys.get(key)
  }

  /** Of a normalised name, in the order of their keys. */
  of(name: string): readonly Entry[] {
    const entries = this.#names.get(name)
    if (entries === undefined) return []
    return entries.size === 1 ? [...entries.values()] : [...entries.values()].toSorted(byKey)
  }

  /** Normalised. */
  names(): Iterable<string> {
    return this.#names.keys()
  }

  #add(entry: Entry, touched: Set<string>): void {
    const name = normalName(entry.name)
    touched.add(name)
    const entries = this.#names.get(name)
    if (entries === undefined) this.#names.set(name, new Map([[entry.key, entry]]))
    else entries.set(entry.key, entry)
  }

  #remove(entry: Entry | Unreadable, touched: Set<string>): void {
    this.#keys.delete(entry.key)
    if (!isReadable(entry)) return
    const name = normalName(entry.name)
    touched.add(name)
    const entries = this.#names.get(name)
    entries?.delete(entry.key)
    if (entries?.size === 0) this.#names.delete(name)
  }
}

function byKey(a: Entry, b: Entry): number {
  return a.key < b.key ? -1 : 1
}
