// Names of a Patroni cluster, followed in etcd. The keys are few, so every change works all names out again and
// publishes those that differ. The zone's serial is the revision that changed a name last: servers that follow the same
// cluster agree on it, however the changes reached them.

import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { parseName } from '../../dns/name.ts'
import { apexRecords } from '../apex.ts'
import type { ZonePart } from '../part.ts'
import { type PatroniName, type PatroniNames, patroniNames } from '../patroni/patroni-names.ts'
import { keyOf } from '../served-zone.ts'
import type { EtcdFollower, SourceChange } from './etcd-source.ts'

export interface PatroniOptions {
  readonly prefix: string
  readonly zone: string
  readonly ttlSeconds: number
  /** Absolute names of the servers of the zone; none are told where there are none. */
  readonly nameservers: readonly string[]
  readonly part: ZonePart
  readonly onProblem: (message: string) => void
}

/** Of a cluster without a single name. */
const FIRST_SERIAL = 1

export class Patroni implements EtcdFollower {
  readonly #options: PatroniOptions
  /** Without the prefix. */
  readonly #keys = new Map<string, Uint8Array>()
  #current: PatroniNames = { names: [], problems: [] }
  #changedAt = BigInt(FIRST_SERIAL)
  #published = new Map<string, PatroniName>()
  #problems: readonly string[] = []

  constructor(options: PatroniOptions) {
    this.#options = options
    // A primary that is gone may be back in a moment: that there is none must not be remembered for longer than a name is.
    options.part.set(parseName(options.zone), apexRecords(options))
  }

  apply({ key, value, modRevision }: SourceChange): boolean {
    const name = Buffer.from(key).subarray(Buffer.byteLength(this.#options.prefix)).toString()
    if (value === undefined) this.#keys.delete(name)
    else this.#keys.set(name, value)
    const before = this.#current.names
    this.#current = patroniNames(this.#keys, this.#options)
    if (modRevision > this.#changedAt && !isDeepStrictEqual(before, this.#current.names)) this.#changedAt = modRevision
    return true
  }

  problems(): readonly string[] {
    return this.#problems
  }

  flush(): undefined {
    const { part, onProblem } = this.#options
    const { names, problems } = this.#current
    for (const problem of problems) if (!this.#problems.includes(problem)) onProblem(problem)
    this.#problems = problems
    const now = new Map(names.map((name) => [keyOf(name.owner), name]))
    for (const [key, { owner }] of this.#published) if (!now.has(key)) part.set(owner, [])
    for (const [key, { owner, records }] of now)
      if (!isDeepStrictEqual(this.#published.get(key)?.records, records)) part.set(owner, records)
    this.#published = now
    part.commit(Number(BigInt.asUintN(32, this.#changedAt)), versionOf(names))
  }
}

/** Differs for different names, so that after a restart the same names have the same serial. */
function versionOf(names: readonly PatroniName[]): string {
  const hash = createHash('sha256')
  for (const { owner, records } of names) {
    hash.update(owner)
    for (const { type, ttl, rdata } of records) hash.update(`${type} ${ttl} ${rdata.length} `).update(rdata)
  }
  return hash.digest('base64url').slice(0, 16)
}
