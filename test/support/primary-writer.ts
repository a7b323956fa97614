// Inserts numbers into PostgreSQL for as long as it runs, each number once, and remembers which were acknowledged and when.
// For every connection it asks the stack's name servers where the primary is, and has psql check the certificate for that name.

import { setTimeout as sleep } from 'node:timers/promises'
import { resolve } from '../../src/clusters/dns/dns-client.ts'
import { type MemberLab, PRIMARY } from './member-lab.ts'
import { PsqlSession } from './psql-session.ts'
import { DNS_PORT } from './stack-lab.ts'

interface Acknowledged {
  readonly number: number
  /** On the clock of performance.now(). */
  readonly at: number
}

export interface Outcome {
  readonly acknowledged: number
  /** Sent and not acknowledged: stored or not. */
  readonly unknown: number
  /** Acknowledged and not in the table. */
  readonly lost: readonly number[]
  /** In the table more than once. */
  readonly doubled: readonly number[]
}

const TABLE = 'written'
const PAUSE_MS = 10
const RETRY_MS = 50

export class PrimaryWriter {
  readonly #lab: MemberLab
  readonly #acknowledged: Acknowledged[] = []
  #sent = 0
  #isEnding = false
  #running: Promise<void> = Promise.resolve()

  constructor(lab: MemberLab) {
    this.#lab = lab
  }

  async start(): Promise<void> {
    await this.#lab.sql(`CREATE TABLE ${TABLE} (number bigint)`)
    this.#running = this.#write()
  }

  async stop(): Promise<void> {
    this.#isEnding = true
    await this.#running
  }

  /** When a number was acknowledged last. */
  get lastAt(): number {
    return this.#acknowledged.at(-1)?.at ?? 0
  }

  /** The longest time without an acknowledgement, in seconds, of those that ended after `from`. */
  gapSince(from: number): number {
    let longest = performance.now() - this.lastAt
    for (let i = this.#acknowledged.length - 1; i > 0 && this.#acknowledged[i].at > from; i--)
      longest = Math.max(longest, this.#acknowledged[i].at - this.#acknowledged[i - 1].at)
    return longest / 1000
  }

  /** A connection to one server, whatever the names say. */
  connect(address: string): Promise<PsqlSession | undefined> {
    const client = (name: string) => this.#lab.path('client', name)
    return PsqlSession.open({
      table: TABLE,
      env: {
        PGHOST: PRIMARY,
        PGHOSTADDR: address,
        PGPORT: '5432',
        PGUSER: 'postgres',
        PGDATABASE: 'postgres',
        PGPASSFILE: client('pgpass'),
        PGSSLMODE: 'verify-full',
        PGSSLROOTCERT: client('ca.pem'),
        PGCONNECT_TIMEOUT: '2',
      },
    })
  }

  /** The next number over a connection. Whether it was acknowledged. */
  async insert(session: PsqlSession): Promise<boolean> {
    const number = ++this.#sent
    const isAcknowledged = await session.insert(number)
    if (isAcknowledged) this.#acknowledged.push({ number, at: performance.now() })
    return isAcknowledged
  }

  /** Compares what was acknowledged with what is there. */
  async outcome(): Promise<Outcome> {
    const rows = (await this.#lab.sql(`SELECT number FROM ${TABLE}`)).split('\n').map(Number)
    const stored = new Set(rows)
    const lost = this.#acknowledged.map(({ number }) => number).filter((number) => !stored.has(number))
    const doubled = [...Map.groupBy(rows, (number) => number)].filter(([, { length }]) => length > 1)
    return {
      acknowledged: this.#acknowledged.length,
      unknown: this.#sent - this.#acknowledged.length,
      lost,
      doubled: doubled.map(([number]) => number),
    }
  }

  async #write(): Promise<void> {
    let session: PsqlSession | undefined
    while (!this.#isEnding) {
      session ??= await this.#open()
      if (session !== undefined && (await this.insert(session))) {
        await sleep(PAUSE_MS)
        continue
      }
      session?.end()
      session = undefined
      await sleep(RETRY_MS)
    }
    session?.end()
  }

  async #open(): Promise<PsqlSession | undefined> {
    const addresses = await this.#lab.addresses()
    for (const server of this.#lab.members.dns) {
      const found = await resolve(addresses.get(server) ?? '', DNS_PORT, PRIMARY).catch(() => [])
      if (found.length > 0) return this.connect(found[0])
    }
    return undefined
  }
}
