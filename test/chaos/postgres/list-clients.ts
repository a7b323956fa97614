// Clients of the lists: writers and readers that find the primary by its name, and probes that write to each member
// directly, whatever the names say. Each has one connection at a time, and keeps it for as long as it works.

import { setTimeout as sleep } from 'node:timers/promises'
import { resolve } from '../../../src/clusters/dns/dns-client.ts'
import { type MemberLab, PRIMARY } from '../../support/member-lab.ts'
import { PsqlDialog } from '../../support/psql-dialog.ts'
import { DNS_PORT } from '../../support/stack-lab.ts'
import { Random } from '../../fuzz/random.ts'
import { ListHistory, type Stored } from './list-history.ts'

const LISTS = 16
const WRITERS = 4
const READERS = 2
const TAIL = 10
const STATEMENT_TIMEOUT_MS = 5000
const PAUSE_MS = 5
const PROBE_PAUSE_MS = 200
const RETRY_MS = 100
/** The server refuses to write, as it follows another one: nothing was stored. */
const READ_ONLY = '25006'

/** The timeline is in the name of the WAL file. */
const append = (list: number, value: number) =>
  `
WITH head AS (UPDATE heads SET length = length + 1 WHERE list = ${list} RETURNING length)
INSERT INTO items (list, place, value) SELECT ${list}, length, ${value} FROM head
RETURNING place, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int, host(inet_server_addr());`.replaceAll(
    '\n',
    ' ',
  )
const read = (list: number) =>
  `SELECT length, host(inet_server_addr()),
(SELECT string_agg(place || ':' || value, ',') FROM (SELECT place, value FROM items WHERE items.list = heads.list
AND place <= heads.length ORDER BY place DESC LIMIT ${TAIL}) AS tail) FROM heads WHERE list = ${list};`.replaceAll(
    '\n',
    ' ',
  )

type Work = (dialog: PsqlDialog, random: Random) => Promise<boolean>

export class ListClients {
  readonly history = new ListHistory()
  readonly #lab: MemberLab
  readonly #seed: number
  #value = 0
  #isEnding = false
  #running: Promise<unknown> = Promise.resolve()

  constructor(lab: MemberLab, seed: number) {
    this.#lab = lab
    this.#seed = seed
  }

  async start(): Promise<void> {
    await this.#lab.sql(`CREATE TABLE heads (list int PRIMARY KEY, length int NOT NULL);
      CREATE TABLE items (list int, place int, value int NOT NULL, PRIMARY KEY (list, place));
      INSERT INTO heads SELECT generate_series(1, ${LISTS}), 0`)
    const addresses = await this.#lab.addresses()
    const byName = () => this.#primary(addresses)
    const clients = [
      ...Array.from({ length: WRITERS }, () => ({ find: byName, work: this.#append, pauseMs: PAUSE_MS })),
      ...Array.from({ length: READERS }, () => ({ find: byName, work: this.#read, pauseMs: PAUSE_MS })),
      ...this.#lab.members.postgres.map((name) => ({
        ...{ find: async () => addresses.get(name), work: this.#append, pauseMs: PROBE_PAUSE_MS },
      })),
    ]
    this.#running = Promise.all(
      clients.map(({ find, work, pauseMs }, index) => this.#run(find, work, pauseMs, new Random(this.#seed, index))),
    )
  }

  async stop(): Promise<void> {
    this.#isEnding = true
    await this.#running
  }

  async stored(): Promise<Stored[]> {
    const text = await this.#lab.sql('SELECT list, place, value FROM items')
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [list, place, value] = line.split('|').map(Number)
        return { list, place, value }
      })
  }

  /** One text for all that a member has; undefined when it does not answer. */
  async digest(address: string): Promise<string | undefined> {
    const dialog = await PsqlDialog.open(this.#login(address), STATEMENT_TIMEOUT_MS)
    const answer = await dialog?.ask(
      "SELECT md5(string_agg(list || ':' || place || ':' || value, ',' ORDER BY list, place)) FROM items;",
    )
    dialog?.end()
    return answer?.kind === 'rows' ? answer.rows[0] : undefined
  }

  async #run(find: () => Promise<string | undefined>, work: Work, pauseMs: number, random: Random): Promise<void> {
    let dialog: PsqlDialog | undefined
    while (!this.#isEnding) {
      const address = dialog === undefined ? await find() : undefined
      if (address !== undefined) dialog = await PsqlDialog.open(this.#login(address), STATEMENT_TIMEOUT_MS)
      if (dialog !== undefined && (await work(dialog, random))) {
        await sleep(pauseMs)
        continue
      }
      dialog?.end()
      dialog = undefined
      await sleep(RETRY_MS)
    }
    dialog?.end()
  }

  /** Whether to keep the connection. */
  readonly #append: Work = async (dialog, random) => {
    const [list, value] = [random.between(1, LISTS), ++this.#value]
    this.history.sent(value)
    const beganAt = performance.now()
    const answer = await dialog.ask(append(list, value))
    const endedAt = performance.now()
    if (answer.kind === 'error' && answer.sqlState === READ_ONLY) this.history.refused(value)
    if (answer.kind !== 'rows' || answer.rows.length === 0) return false
    const [place, timeline, node] = answer.rows[0].split(' ')
    this.history.acknowledged({
      ...{ beganAt, endedAt, list, value, node, place: Number(place), timeline: Number(timeline) },
    })
    return true
  }

  readonly #read: Work = async (dialog, random) => {
    const list = random.between(1, LISTS)
    const beganAt = performance.now()
    const answer = await dialog.ask(read(list))
    const endedAt = performance.now()
    if (answer.kind !== 'rows' || answer.rows.length === 0) return false
    const [length, node, tail = ''] = answer.rows[0].split(' ')
    const items = tail.split(',').filter((item) => item !== '')
    this.history.read({
      ...{ beganAt, endedAt, list, node, length: Number(length) },
      tail: items.map((item) => {
        const [place, value] = item.split(':').map(Number)
        return [place, value] as const
      }),
    })
    return true
  }

  async #primary(addresses: ReadonlyMap<string, string>): Promise<string | undefined> {
    for (const server of this.#lab.members.dns) {
      const found = await resolve(addresses.get(server) ?? '', DNS_PORT, PRIMARY).catch(() => [])
      if (found.length > 0) return found[0]
    }
    return undefined
  }

  #login(address: string): Record<string, string> {
    const client = (name: string) => this.#lab.path('client', name)
    return {
      ...{ PGHOST: PRIMARY, PGHOSTADDR: address, PGPORT: '5432', PGUSER: 'postgres', PGDATABASE: 'postgres' },
      ...{ PGPASSFILE: client('pgpass'), PGSSLMODE: 'verify-full', PGSSLROOTCERT: client('ca.pem') },
      ...{ PGCONNECT_TIMEOUT: '3' },
    }
  }
}
