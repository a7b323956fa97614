// Names of a Patroni cluster, followed in etcd. The keys are few, so every change works all names out again and
// publishes those that differ.

import { isDeepStrictEqual } from 'node:util'
import type { SourceRecord, ZonePart } from '../part.ts'
import { patroniNames } from '../patroni/patroni-names.ts'
import { keyOf } from '../served-zone.ts'
import type { EtcdFollower, SourceChange } from './etcd-source.ts'

export interface PatroniOptions {
  readonly prefix: string
  readonly zone: string
  readonly ttlSeconds: number
  readonly part: ZonePart
  readonly onProblem: (message: string) => void
}

interface Published {
  readonly owner: Uint8Array
  readonly records: readonly SourceRecord[]
}

export class Patroni implements EtcdFollower {
  readonly #options: PatroniOptions
  /** Without the prefix. */
  readonly #keys = new Map<string, Uint8Array>()
  #published = new Map<string, Published>()
  #problems: readonly string[] = []

  constructor(options: PatroniOptions) {
    this.#options = options
  }

  apply({ key, value }: SourceChange): boolean {
    const name = Buffer.from(key).subarray(Buffer.byteLength(this.#options.prefix)).toString()
    if (value === undefined) this.#keys.delete(name)
    else this.#keys.set(name, value)
    return true
  }

  problems(): readonly string[] {
    return this.#problems
  }

  flush(revision: bigint): void {
    const { part, onProblem } = this.#options
    const { names, problems } = patroniNames(this.#keys, this.#options)
    for (const problem of problems) if (!this.#problems.includes(problem)) onProblem(problem)
    this.#problems = problems
    const now = new Map(names.map((name) => [keyOf(name.owner), name]))
    for (const [key, { owner }] of this.#published) if (!now.has(key)) part.set(owner, [])
    for (const [key, { owner, records }] of now)
      if (!isDeepStrictEqual(this.#published.get(key)?.records, records)) part.set(owner, records)
    this.#published = now
    part.commit(Number(BigInt.asUintN(32, revision)))
  }
}
