// The same names as the real server answers with them, and how far it is behind: a bare watch of the leader key notes when
// etcd tells of a change, and questions asked all the time note when the answer changes.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../src/etcd/client.ts'
import { Sandbox } from '../support/holdfast-process.ts'
import { brief } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'

const ZONE = 'pg.test.'
/** Between two questions; what is measured is no finer. */
const PAUSE_MS = 1

interface Seen<T> {
  readonly at: number
  readonly value: T
}

export interface DnsOptions {
  readonly endpoints: readonly string[]
  readonly namespace: string
  readonly scope: string
  readonly leaderKey: string
}

export class PatroniDns {
  readonly #sandbox: Sandbox
  readonly #client: EtcdClient
  readonly #port: number
  readonly #end = new AbortController()
  readonly #running: Promise<unknown>
  /** Members as the leader key names them; undefined when it is gone. */
  readonly #leaders: Seen<string | undefined>[] = []
  /** Answers for `primary`. */
  readonly primaries: Seen<string>[] = []

  static async start({ endpoints, namespace, scope, leaderKey }: DnsOptions): Promise<PatroniDns> {
    const sandbox = new Sandbox()
    const port = await freePort()
    const names = `etcd: { endpoints: [${endpoints.join(', ')}] }
sources: [{ type: patroni, namespace: ${namespace}, scope: ${scope}, zone: ${ZONE}, ttl: 1s }]
serve: { listen: ["127.0.0.1:${port}"], state: state }
`
    await sandbox.serve('--config', sandbox.write('names.yaml', names))
    return new PatroniDns(sandbox, new EtcdClient({ endpoints }), port, leaderKey)
  }

  private constructor(sandbox: Sandbox, client: EtcdClient, port: number, leaderKey: string) {
    this.#sandbox = sandbox
    this.#client = client
    this.#port = port
    this.#running = Promise.all([this.#watch(Buffer.from(leaderKey)), this.#ask()])
  }

  /** Addresses of a name, in order; none when it does not exist. */
  async addresses(label: string): Promise<string[]> {
    const answer = await this.#answer(label)
    return answer === 'NXDOMAIN' ? [] : answer.split(' ').toSorted()
  }

  /** Milliseconds from each change of the leader key to the answer that follows it, by what became of the name. */
  async delays(addressOf: (member: string) => string): Promise<Map<string, number>> {
    const delays = new Map<string, number>()
    for (const { at, value } of this.#leaders) {
      const wanted = value === undefined ? 'NXDOMAIN' : addressOf(value)
      // The question may have been faster than the watch, but not by much.
      const answered = await until(`primary is ${wanted}`, () =>
        this.primaries.find((seen) => seen.value === wanted && seen.at > at - 100),
      )
      delays.set(value === undefined ? 'gone' : `at ${value}`, answered.at - at)
    }
    return delays
  }

  /** From here on. */
  forget(): void {
    this.#leaders.length = 0
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await this.#running
    this.#client.close()
    await this.#sandbox.close()
  }

  /** Three databases that start on a small machine leave little time for anything else. */
  #answer(label: string): Promise<string> {
    return until('an answer', () => brief(this.#port, `${label}.${ZONE}`).catch(() => undefined), 30_000)
  }

  async #watch(key: Uint8Array): Promise<void> {
    try {
      for await (const news of this.#client.watch({ key, startRevision: 1n }, this.#end.signal)) {
        assert.notEqual(news.kind, 'compacted')
        if (news.kind !== 'events') continue
        const at = performance.now()
        for (const { isDeletion, kv } of news.events) {
          const value = isDeletion ? undefined : Buffer.from(kv.value).toString()
          if (this.#leaders.at(-1)?.value !== value || this.#leaders.length === 0) this.#leaders.push({ at, value })
        }
      }
    } catch (error) {
      if (!this.#end.signal.aborted) throw error
    }
  }

  async #ask(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const value = await this.#answer('primary')
      if (this.primaries.at(-1)?.value !== value) this.primaries.push({ at: performance.now(), value })
      await sleep(PAUSE_MS)
    }
  }
}
