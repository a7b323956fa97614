// The etcd that everything here is stored in: one member of its own, and a client to write with.

import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../src/etcd/client.ts'
import { installed } from '../peers/installed.ts'
import { type RunningServer, run, type Workplace } from '../processes.ts'
import { freePort } from '../server.ts'

/** Every version of a zone stays until it is compacted. */
const QUOTA_BYTES = 8 * 2 ** 30
const START_LIMIT_MS = 30_000
/** Operations of one transaction; etcd takes 128. */
const BATCH = 100

export class Etcd {
  readonly version: string
  readonly endpoint: string
  readonly client: EtcdClient
  #server: RunningServer
  readonly #start: () => RunningServer

  private constructor(version: string, endpoint: string, start: () => RunningServer) {
    this.version = version
    this.endpoint = endpoint
    this.client = new EtcdClient({ endpoints: [endpoint] })
    this.#start = start
    this.#server = start()
  }

  static async start(place: Workplace, cores: string): Promise<Etcd> {
    const program = await installed('etcd', 'etcd-server')
    if (program === undefined) throw new Error('Cannot measure: etcd is not installed; apt-get install etcd-server')
    const { stdout } = await run(program, ['--version'])
    const directory = await mkdtemp(join(place.directory, 'etcd-'))
    const [client, peer] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`)
    const args = [
      `--data-dir=${join(directory, 'data')}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      `--quota-backend-bytes=${QUOTA_BYTES}`,
    ]
    const start = () => place.start({ file: program, args }, cores, join(directory, 'output'))
    const etcd = new Etcd(/etcd Version: (\S+)/u.exec(stdout)?.[1] ?? 'unknown', client, start)
    await etcd.#healthy()
    return etcd
  }

  get pid(): number {
    return this.#server.pid
  }

  async put(key: string, value: string): Promise<void> {
    await this.client.put(Buffer.from(key), Buffer.from(value))
  }

  async putAll(entries: Iterable<readonly [key: string, value: string]>): Promise<void> {
    for (const batch of batches(entries))
      await this.client.txn(
        [],
        batch.map(([key, value]) => ({ put: { key: Buffer.from(key), value: Buffer.from(value) } })),
      )
  }

  /** Forgets all versions but the last. */
  async compact(): Promise<void> {
    const { revision } = await this.client.status()
    const env = { ...process.env, ETCDCTL_API: '3' }
    await run('etcdctl', ['--endpoints', this.endpoint, 'compact', '--physical', String(revision)], { env })
  }

  /** Away, with its data kept. */
  async stop(): Promise<void> {
    await this.#server.stop()
  }

  async restart(): Promise<void> {
    this.#server = this.#start()
    await this.#healthy()
  }

  close(): void {
    this.client.close()
  }

  async #healthy(): Promise<void> {
    for (const deadline = Date.now() + START_LIMIT_MS; ; ) {
      try {
        await this.client.range({ key: Buffer.from('health') })
        return
      } catch (cause) {
        if (this.#server.ended || Date.now() > deadline)
          throw new Error(`Cannot start etcd; it said:\n${this.#server.lastWords()}`, { cause })
        await sleep(50)
      }
    }
  }
}

function* batches<T>(items: Iterable<T>): Generator<T[]> {
  let batch: T[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
