// How soon the name of the primary follows an election: a watch of Patroni's leader key notes when etcd tells of a new
// leader, and questions to every name server, asked all the time, note when its answer changes.

import { createSocket, type Socket } from 'node:dgram'
import { setTimeout as sleep } from 'node:timers/promises'
import { TYPE } from '../../src/dns/types.ts'
import { EtcdClient } from '../../src/etcd/client.ts'
import { decoded, question } from './fault-server.ts'
import { briefly } from './lookup.ts'
import { type MemberLab, PRIMARY } from './member-lab.ts'
import { DNS_PORT } from './stack-lab.ts'

interface Seen {
  /** On the clock of performance.now(). */
  readonly at: number
  /** A member or an answer; undefined for none. */
  readonly value: string | undefined
}

export interface Election {
  readonly at: number
  readonly member: string
  /** Milliseconds from there to the answer of each name server; of one that was silent, from its first word. */
  readonly delays: ReadonlyMap<string, number>
}

const LEADER_KEY = Buffer.from('/patroni/pg/leader')
/** Between two questions; what is measured is no finer. */
const PAUSE_MS = 5
/** Without an answer for this long, a server is silent. */
const SILENCE_MS = 300
const RETRY_MS = 20

export class PrimaryNames {
  readonly #lab: MemberLab
  readonly #leaders: Seen[] = []
  readonly #answers = new Map<string, Seen[]>()
  /** Of machines that are gone, too. */
  readonly #addresses = new Map<string, string>()
  readonly #end = new AbortController()
  #running: Promise<unknown> = Promise.resolve()

  constructor(lab: MemberLab) {
    this.#lab = lab
  }

  async start(): Promise<void> {
    await this.learnAddresses()
    const servers = this.#lab.members.dns.map((server) => this.#ask(server, this.#addresses.get(server) ?? ''))
    this.#running = Promise.all([this.#watch(), ...servers])
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  /** To be called while the stack has the machines that may be elected. */
  async learnAddresses(): Promise<void> {
    for (const [machine, address] of await this.#lab.addresses()) this.#addresses.set(machine, address)
  }

  /** Since then. */
  electionsSince(from: number): Election[] {
    return this.#leaders.flatMap(({ at, value: member }, index) => {
      const before = this.#leaders[index - 1]?.value
      if (at <= from || index === 0 || member === undefined || member === before) return []
      const until = this.#leaders[index + 1]?.at ?? Infinity
      const delays = [...this.#answers].map(([server, answers]) => {
        const wanted = this.#addresses.get(member)
        return [server, delayOf(answers, { wanted, from: at, until })] as const
      })
      return [{ at, member, delays: new Map(delays.filter((each): each is [string, number] => each[1] !== undefined)) }]
    })
  }

  /** From the last revision it was told of, with whoever of the members is there. */
  async #watch(): Promise<void> {
    const { signal } = this.#end
    let revision = 0n
    while (!signal.aborted) {
      const client = new EtcdClient(await this.#lab.etcdOptions())
      try {
        if (revision === 0n) {
          const now = await client.range({ key: LEADER_KEY }, signal)
          revision = now.revision
          this.#note(this.#leaders, now.kvs.at(0) && Buffer.from(now.kvs[0].value).toString())
        }
        for await (const news of client.watch({ key: LEADER_KEY, startRevision: revision + 1n }, signal)) {
          if (news.kind !== 'events') continue
          for (const { isDeletion, kv } of news.events) {
            this.#note(this.#leaders, isDeletion ? undefined : Buffer.from(kv.value).toString())
            revision = kv.modRevision
          }
        }
      } catch {
        if (!signal.aborted) await sleep(RETRY_MS)
      } finally {
        client.close()
      }
    }
  }

  async #ask(server: string, address: string): Promise<void> {
    const answers: Seen[] = []
    this.#answers.set(server, answers)
    while (!this.#end.signal.aborted) {
      const socket = createSocket('udp4')
      socket.connect(DNS_PORT, address)
      const value = await answerOf(socket)
      socket.close()
      this.#note(answers, value)
      await sleep(PAUSE_MS)
    }
  }

  #note(seen: Seen[], value: string | undefined): void {
    if (seen.length === 0 || seen.at(-1)?.value !== value) seen.push({ at: performance.now(), value })
  }
}

/** Undefined when there is none. */
function answerOf(socket: Socket): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  socket.once('connect', () => socket.send(question(`${PRIMARY}.`, TYPE.A)))
  socket.once('message', (bytes) => resolve(briefly(decoded(bytes))))
  // Nobody listens there.
  socket.on('error', () => resolve(undefined))
  const timer = setTimeout(resolve, SILENCE_MS, undefined)
  return promise.finally(() => clearTimeout(timer))
}

interface Following {
  readonly wanted: string | undefined
  readonly from: number
  /** Then another one was elected, or nobody leads. */
  readonly until: number
}

/** As long as it lasted when the answer did not come; undefined for a server that said nothing at the end. */
function delayOf(answers: readonly Seen[], { wanted, from, until }: Following): number | undefined {
  const before = answers.filter(({ at }) => at < until)
  const found = before.findIndex(({ value }, index) => value === wanted && (before[index + 1]?.at ?? Infinity) > from)
  const spoken = found < 0 ? before : before.slice(0, found + 1)
  const first = spoken[spoken.findLastIndex(({ value }) => value === undefined) + 1]
  if (first === undefined) return undefined
  const end = found < 0 ? Math.min(until, performance.now()) : before[found].at
  return Math.max(0, end - Math.max(from, first.at))
}
