// Writers that go on while a stack is changed, one with etcdctl and one with psql. Each reads anew how to get in, goes on
// when a write fails, and remembers what was acknowledged.

import { setTimeout as sleep } from 'node:timers/promises'
import type { StackLab } from '../support/stack-lab.ts'

type Store = 'etcd' | 'postgres'

export interface Written {
  readonly written: Readonly<Record<Store, number>>
  /** Numbers that were acknowledged and are not there. */
  readonly lost: Readonly<Record<Store, readonly number[]>>
}

const PAUSE_MS = 300

export class StackWriters {
  readonly #lab: StackLab
  readonly #acknowledged: Record<Store, number[]> = { etcd: [], postgres: [] }
  readonly #running: Promise<unknown>
  #isEnding = false

  static async start(lab: StackLab): Promise<StackWriters> {
    await lab.sql('create table written (number int primary key)')
    return new StackWriters(lab)
  }

  private constructor(lab: StackLab) {
    this.#lab = lab
    this.#running = Promise.all([
      this.#write('etcd', (number) => lab.etcdctl('root', 'put', `/written/${number}`, 'x')),
      this.#write('postgres', (number) => lab.psql(`insert into written values (${number}) on conflict do nothing`)),
    ])
  }

  async stop(): Promise<Written> {
    this.#isEnding = true
    await this.#running
    const keys = (await this.#lab.etcdctl('root', 'get', '/written/', '--prefix', '--keys-only')).stdout
    const stored = {
      etcd: new Set([...keys.matchAll(/\/(\d+)$/gmu)].map(([, number]) => Number(number))),
      postgres: new Set((await this.#lab.sql('select number from written')).split('\n').map(Number)),
    }
    const { etcd, postgres } = this.#acknowledged
    return {
      written: { etcd: etcd.length, postgres: postgres.length },
      lost: {
        etcd: etcd.filter((number) => !stored.etcd.has(number)),
        postgres: postgres.filter((number) => !stored.postgres.has(number)),
      },
    }
  }

  async #write(store: Store, write: (number: number) => Promise<{ code: number }>): Promise<void> {
    for (let number = 0; !this.#isEnding; number++) {
      const { code } = await write(number)
      if (code === 0) this.#acknowledged[store].push(number)
      await sleep(PAUSE_MS)
    }
  }
}
