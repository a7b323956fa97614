// Turns the keys of a Patroni cluster into names, change by change, and keeps both. Between any two changes of keys the
// primary is not among the replicas, and nothing is a problem.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { formatName } from '../../src/dns/name.ts'
import { formatRdata } from '../../src/dns/rdata/rdata.ts'
import { patroniNames } from '../../src/names/patroni/patroni-names.ts'

/** Addresses by the first label of a name. */
export type Names = Record<string, string[]>

/** One change of a key below the prefix; null = deleted. */
export interface KeyChange {
  readonly atMs: number
  readonly revision: number
  readonly key: string
  readonly value: string | null
}

export class KeyReplay {
  readonly #keys = new Map<string, Uint8Array>()

  /** The names after a change. */
  apply({ key, value }: Pick<KeyChange, 'key' | 'value'>): Names {
    if (value === null) this.#keys.delete(key)
    else this.#keys.set(key, Buffer.from(value))
    const { names, problems } = patroniNames(this.#keys, { zone: '.', ttlSeconds: 2 })
    assert.deepEqual(problems, [])
    const now: Names = {}
    for (const { owner, records } of names) {
      now[formatName(owner).slice(0, -1)] = records.map(({ type, rdata }) => formatRdata(type, rdata))
    }
    assert.ok(!now.primary?.some((address) => now.replica?.includes(address)), 'the primary is no replica')
    return now
  }
}

interface WatchResponse {
  readonly Events: readonly {
    readonly type?: number
    readonly kv: { readonly key: string; readonly value?: string; readonly mod_revision: number }
  }[]
}

const DELETE = 1

/** Follows the keys below a prefix in etcd from the first revision on. */
export class PatroniFollower {
  readonly changes: KeyChange[] = []
  /** After each change. */
  readonly history: Names[] = []
  readonly #replay = new KeyReplay()
  readonly #watch: ChildProcess
  readonly #startedAt = Date.now()
  readonly #onNames: (names: Names, atMs: number) => void

  constructor(endpoints: readonly string[], prefix: string, onNames: (names: Names, atMs: number) => void) {
    this.#onNames = onNames
    const args = [`--endpoints=${endpoints.join(',')}`, 'watch', '--prefix', prefix, '--rev=1', '-w', 'json']
    const env = { ...process.env, ETCDCTL_API: '3' }
    this.#watch = spawn('setpriv', ['--pdeathsig', 'KILL', 'etcdctl', ...args], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    assert.ok(this.#watch.stdout)
    createInterface(this.#watch.stdout).on('line', (line) => this.#take(JSON.parse(line) as WatchResponse, prefix))
  }

  get names(): Names {
    return this.history.at(-1) ?? {}
  }

  async stop(): Promise<void> {
    const exit = once(this.#watch, 'exit')
    this.#watch.kill('SIGKILL')
    await exit
  }

  #take(response: WatchResponse, prefix: string): void {
    for (const { type, kv } of response.Events) {
      const change = {
        atMs: Date.now() - this.#startedAt,
        revision: kv.mod_revision,
        key: Buffer.from(kv.key, 'base64').toString().slice(prefix.length),
        value: type === DELETE ? null : Buffer.from(kv.value ?? '', 'base64').toString(),
      }
      const names = this.#replay.apply(change)
      this.changes.push(change)
      this.history.push(names)
      this.#onNames(names, change.atMs)
    }
  }
}
