// Zones in etcd: a key is a prefix and the zone's name, its value the zone file. Names are equal regardless of letter
// case and final dot, so `Example.org.` finds the key of `example.org`; two keys of one name are told apart only by
// giving the key exactly as it is stored.

import { equalNames, formatName, lowerName, NameError, parseName, ROOT } from '../dns/name.ts'
import { EtcdClient, type KeyValue, prefixEnd } from '../etcd/client.ts'
import { HoldfastError } from '../lib/errors.ts'
import { closest } from '../lib/closest.ts'
import { originOfKey } from '../names/zone-key.ts'
import { ZONES_DEFAULT_PREFIX, zonesPrefix } from '../server/skydns-defaults.ts'
import type { Io } from './command.ts'
import { ETCD_FLAGS, type EtcdFlags, readEtcdFlags } from './etcd-flags.ts'
import { scan } from './etcd-scan.ts'

export const ZONE_FLAGS = {
  prefix: {
    value: 'PREFIX',
    summary: `what the keys of zones begin with; ETCD_KEY_PREFIX, else ${ZONES_DEFAULT_PREFIX} unless given`,
  },
  ...ETCD_FLAGS,
} as const

export type ZoneFlags = EtcdFlags & { readonly prefix: string | undefined }

export interface StoredZone {
  readonly key: Uint8Array
  /** The key without the prefix, as it is stored, as far as it is text. */
  readonly name: string
  /** Undefined when the key is not a domain name. */
  readonly origin: Uint8Array | undefined
  readonly text: Uint8Array
  readonly revision: bigint
}

/** The flag, else the variable, else the default. */
export function readPrefix(flag: string | undefined, io: Io): string {
  if (flag === '')
    throw new HoldfastError('Usage', 'Cannot use an empty prefix: it stands for every key of the cluster')
  const variable = io.env.ETCD_KEY_PREFIX ?? ''
  return zonesPrefix(flag ?? (variable === '' ? ZONES_DEFAULT_PREFIX : variable))
}

/** Connects, and closes the connection when `use` is done. */
export async function withZoneStore<T>(flags: ZoneFlags, io: Io, use: (store: ZoneStore) => Promise<T>): Promise<T> {
  const prefix = readPrefix(flags.prefix, io)
  const client = new EtcdClient(await readEtcdFlags(flags, io))
  try {
    return await use(new ZoneStore(client, prefix))
  } finally {
    client.close()
  }
}

export class ZoneStore {
  readonly client: EtcdClient
  readonly prefix: string

  constructor(client: EtcdClient, prefix: string) {
    this.client = client
    this.prefix = prefix
  }

  /** The key of a zone that is not there yet. */
  newKey(origin: Uint8Array): Uint8Array {
    return Buffer.from(this.prefix + keyName(origin))
  }

  async *list(): AsyncGenerator<StoredZone> {
    for await (const kv of scan(this.client, Buffer.from(this.prefix))) yield this.#stored(kv)
  }

  /** The zones by these names, in their order; undefined where there is none. */
  async find(names: readonly string[]): Promise<(StoredZone | undefined)[]> {
    const stored = await this.#names()
    return Promise.all(
      names.map(async (name) => {
        const key = Buffer.from(this.prefix + name)
        const exact = stored.find((each) => key.equals(each.key))
        if (exact !== undefined) return this.read(exact.key)
        const origin = parseOrigin(name)
        const [found, ...others] = stored.filter((each) => each.origin !== undefined && equalNames(each.origin, origin))
        if (others.length > 0) throw ambiguous(name, [found, ...others])
        return found === undefined ? undefined : this.read(found.key)
      }),
    )
  }

  /** The zones by these names; an error when one is missing. */
  async require(names: readonly string[]): Promise<StoredZone[]> {
    const found = await this.find(names)
    const missing = names.filter((_, index) => found[index] === undefined)
    if (missing.length === 0) return found.filter((zone) => zone !== undefined)
    const there = (await this.#names()).map(({ name }) => name)
    const near = closest(missing[0], there)
    throw new HoldfastError(
      'NoSuchZone',
      `Cannot find zone "${missing[0]}": no key under "${this.prefix}" names it; ${near === undefined ? '"holdfast zone ls" shows those there are' : `did you mean "${near}"?`}`,
    )
  }

  async read(key: Uint8Array, revision?: bigint): Promise<StoredZone | undefined> {
    const { kvs } = await this.client.range({ key, ...(revision !== undefined && { revision }) })
    return kvs.length === 0 ? undefined : this.#stored(kvs[0])
  }

  /** All zones, without their text. */
  async #names(): Promise<Omit<StoredZone, 'text'>[]> {
    const key = Buffer.from(this.prefix)
    const { kvs } = await this.client.range({ key, rangeEnd: prefixEnd(key), keysOnly: true })
    return kvs.map((kv) => this.#stored(kv))
  }

  #stored({ key, value, modRevision }: KeyValue): StoredZone {
    const name = key.subarray(Buffer.byteLength(this.prefix))
    return { key, name: Buffer.from(name).toString(), origin: originOfKey(name), text: value, revision: modRevision }
  }
}

function ambiguous(name: string, keys: readonly { readonly name: string }[]): HoldfastError {
  const each = keys.map((key) => `"${key.name}"`).join(' and ')
  return new HoldfastError(
    'ZoneAmbiguous',
    `Cannot choose zone "${name}": the keys ${each} name it; expected one of them, exactly as it is,`,
    { hint: 'a zone has one key: "holdfast zone rm" removes the others' },
  )
}

/** The name of a zone's key: lower case, no final dot. */
export function keyName(origin: Uint8Array): string {
  const name = formatName(lowerName(origin))
  return name === '.' ? name : name.slice(0, -1)
}

export function parseOrigin(text: string): Uint8Array {
  if (text === '@')
    throw new HoldfastError('Usage', 'Cannot read the name "@": it is the origin of a zone file; expected a name')
  try {
    return parseName(text, ROOT)
  } catch (error) {
    if (!(error instanceof NameError)) throw error
    throw new HoldfastError('Usage', error.message, { cause: error })
  }
}

/** What every command says of a stored zone. etcd's revisions stay far below the largest exact number. */
export function zoneJson({ key, origin, revision }: Pick<StoredZone, 'key' | 'origin' | 'revision'>): {
  zone: string | null
  key: string
  revision: number
} {
  return {
    zone: origin === undefined ? null : formatName(lowerName(origin)),
    key: Buffer.from(key).toString(),
    revision: Number(revision),
  }
}
