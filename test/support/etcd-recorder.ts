// A mirror of a prefix as text, with everything it reported kept in order.

import { EtcdClient } from '../../src/etcd/client.ts'
import { type MirrorInfo, type MirrorOptions, type MirrorState, mirror } from '../../src/etcd/mirror.ts'
import type { EtcdOptions } from '../../src/etcd/options.ts'
import { until } from './until.ts'

export interface Recorded {
  readonly info: MirrorInfo
  /** Undefined: deleted. */
  readonly changes: readonly (readonly [key: string, value: string | undefined])[]
}

export class Recorder {
  /** What is in etcd, as far as was reported. */
  readonly content = new Map<string, string>()
  readonly recorded: Recorded[] = []
  readonly states: MirrorState[] = []
  readonly #stop = new AbortController()
  readonly #client: EtcdClient
  readonly #running: Promise<void>

  constructor(
    options: EtcdOptions,
    more: Partial<Pick<MirrorOptions, 'known' | 'knownClusterId' | 'client'>> & { readonly prefix?: string } = {},
  ) {
    const { prefix = '/t/', ...given } = more
    this.#client = given.client ?? new EtcdClient(options)
    this.#running = mirror({
      client: this.#client,
      prefix: Buffer.from(prefix),
      signal: this.#stop.signal,
      onChanges: (changes, info) => {
        const told = changes.map(({ key, value }) => {
          return [Buffer.from(key).toString(), value && Buffer.from(value.value).toString()] as const
        })
        for (const [key, value] of told) {
          if (value === undefined) this.content.delete(key)
          else this.content.set(key, value)
        }
        this.recorded.push({ info, changes: told })
      },
      onState: (state) => this.states.push(state),
      ...given,
    })
  }

  /** All changes, one after the other, as `key=value` or `key deleted`. */
  get told(): string[] {
    return this.recorded.flatMap(({ changes }) =>
      changes.map(([key, value]) => (value === undefined ? `${key} deleted` : `${key}=${value}`)),
    )
  }

  get isUp(): boolean {
    return this.states.at(-1)?.up === true
  }

  up(): Promise<true> {
    return until('mirror that follows', () => this.isUp)
  }

  async has(key: string, value: string | undefined): Promise<void> {
    await until(`${key}=${value}`, () => this.content.get(key) === value)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
    this.#client.close()
  }
}
