// The SkyDNS records in etcd: found by name, and changed all at once or not at all.

import { setTimeout as sleep } from 'node:timers/promises'
import { equalNames, formatName, isSubdomain, lowerName } from '../dns/name.ts'
import { type Compare, EtcdClient, type KeyValue, type Operation, prefixEnd } from '../etcd/client.ts'
import { HoldfastError } from '../lib/errors.ts'
import { pathOfName } from '../names/skydns/path.ts'
import type { Io } from './command.ts'
import { ETCD_FLAGS, type EtcdFlags, readEtcdFlags } from './etcd-flags.ts'
import { scan } from './etcd-scan.ts'
import { transact } from './etcd-transact.ts'
import { type Fields, readEntry, type RecordEntry } from './record-entry.ts'

const DEFAULT_PATH = '/skydns'

export const RECORD_FLAGS = {
  path: { value: 'PATH', summary: `what the keys of records begin with; ${DEFAULT_PATH} unless given` },
  ...ETCD_FLAGS,
} as const

export type RecordFlags = EtcdFlags & { readonly path: string | undefined }

/** One key: its new value, or undefined when it goes. */
export interface RecordChange {
  readonly key: Uint8Array
  readonly before: RecordEntry | undefined
  readonly after: Fields | undefined
  readonly lease: bigint
}

/** The entries of a name, as they were at a revision. */
export interface NameEntries {
  readonly name: Uint8Array
  readonly revision: bigint
  readonly entries: readonly RecordEntry[]
}

/** Names that come into being below one get in the way of its transaction; they only cost another try. */
const MOST_TRIES = 10
const PAUSE_MS = 20

export async function withRecordStore<T>(
  flags: RecordFlags,
  io: Io,
  use: (store: RecordStore) => Promise<T>,
): Promise<T> {
  const path = (flags.path ?? DEFAULT_PATH).replaceAll(/^\/*|\/+$/gu, '')
  if (path === '') throw new HoldfastError('Usage', 'Cannot use an empty path: it stands for every key of the cluster')
  const client = new EtcdClient(await readEtcdFlags(flags, io))
  try {
    return await use(new RecordStore(client, `/${path}`))
  } finally {
    client.close()
  }
}

export class RecordStore {
  readonly #client: EtcdClient
  /** Without a slash at the end. */
  readonly #prefix: string

  constructor(client: EtcdClient, prefix: string) {
    this.#client = client
    this.#prefix = prefix
  }

  keyOf(name: Uint8Array, ...labels: readonly string[]): Uint8Array {
    const path = pathOfName(lowerName(name))
    if (path === undefined)
      throw new HoldfastError(
        'Usage',
        `Cannot store "${formatName(name)}": a label has a slash, which no key can spell`,
      )
    return Buffer.from([this.#prefix, path, ...labels].filter((part) => part !== '').join('/'), 'latin1')
  }

  /** What would be read from such a value. */
  entry(key: Uint8Array, fields: Fields): RecordEntry {
    return readEntry({ key, value: Buffer.from(JSON.stringify(fields)), modRevision: 0n, lease: 0n }, this.#prefix)
  }

  /** Everything at or below a name. */
  async *below(name: Uint8Array): AsyncGenerator<RecordEntry> {
    const key = this.keyOf(name)
    for (const kv of await this.#at(key)) yield readEntry(kv, this.#prefix)
    for await (const kv of scan(this.#client, under(key))) {
      const entry = readEntry(kv, this.#prefix)
      if (entry.owner === undefined || isSubdomain(entry.owner, name)) yield entry
    }
  }

  /** The key of the root is the prefix itself, which most users of etcd have no permission for: theirs ends in "/". */
  async #at(key: Uint8Array): Promise<readonly KeyValue[]> {
    try {
      return (await this.#client.range({ key })).kvs
    } catch (error) {
      const isRoot = key.length === this.#prefix.length
      if (isRoot && error instanceof HoldfastError && error.code === 'EtcdForbidden') return []
      throw error
    }
  }

  /** What belongs to this very name. */
  async of(name: Uint8Array): Promise<NameEntries> {
    // Read first: what is written later is then noticed.
    const { revision } = await this.#client.range({ key: this.keyOf(name), keysOnly: true })
    const entries: RecordEntry[] = []
    for await (const entry of this.below(name))
      if (entry.owner !== undefined && equalNames(entry.owner, name)) entries.push(entry)
    return { name, revision, entries }
  }

  /** Unless anything of the name has changed since it was read, be it that somebody added to it. */
  async apply(seen: NameEntries, changes: readonly RecordChange[]): Promise<bigint> {
    const operations = changes.map(({ key, after, lease }): Operation => {
      if (after === undefined) return { delete: { key } }
      return { put: { key, value: Buffer.from(JSON.stringify(after)), ...(lease !== 0n && { lease }) } }
    })
    const prefix = under(this.keyOf(seen.name))
    let current = seen
    for (let tries = 1; tries <= MOST_TRIES && isSame(current, seen); tries++) {
      const { succeeded, revision } = await transact(
        this.#client,
        `change "${formatName(seen.name)}"`,
        [
          ...unchanged(seen, changes),
          // A new key below may belong to the name as well as to one below it.
          {
            key: prefix,
            rangeEnd: prefixEnd(prefix),
            target: 'create',
            result: 'less',
            revision: current.revision + 1n,
          },
        ],
        operations,
      )
      if (succeeded) return revision
      await sleep(Math.random() * PAUSE_MS * tries)
      current = await this.of(seen.name)
    }
    throw new HoldfastError(
      'Conflict',
      `Cannot change "${formatName(seen.name)}": somebody else changed it meanwhile`,
      {
        hint: 'look at it again with "holdfast record ls", then repeat the command',
      },
    )
  }
}

/** What was there is as it was, and what is to be new is not there. */
function unchanged({ entries }: NameEntries, changes: readonly RecordChange[]): Compare[] {
  const compare = ({ key, revision }: { key: Uint8Array; revision: bigint }) =>
    ({ key, target: 'mod', revision }) as const
  const added = changes.filter(({ before }) => before === undefined)
  return [...entries.map(compare), ...added.map(({ key }) => compare({ key, revision: 0n }))]
}

function under(key: Uint8Array): Uint8Array {
  return Buffer.concat([key, Buffer.from('/')])
}

function isSame(a: NameEntries, b: NameEntries): boolean {
  if (a.entries.length !== b.entries.length) return false
  return a.entries.every(({ key, revision }, index) => {
    const other = b.entries[index]
    return revision === other.revision && Buffer.from(key).equals(other.key)
  })
}
