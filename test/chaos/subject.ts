// A name server under test: its process, its way to etcd, and what it has shown of each key, from which follows what it
// may answer next.

import type { Message } from '../../src/dns/message.ts'
import { TYPE, typeName } from '../../src/dns/types.ts'
import type { Random } from '../fuzz/random.ts'
import type { EtcdProxy } from '../support/etcd-proxy.ts'
import { HoldfastProcess } from '../support/holdfast-process.ts'
import { until } from '../support/until.ts'
import type { Journal } from './journal.ts'
import { Progress } from './progress.ts'
import type { Question, ServedOrigin, StoredKey } from './stored-key.ts'

export interface SubjectOptions {
  readonly name: string
  readonly port: number
  readonly directory: string
  /** Of `holdfast dns`. */
  readonly args: readonly string[]
  readonly stateDirectory: string
  /** Between it and etcd; none when it talks to the members directly. */
  readonly proxies: readonly EtcdProxy[]
  readonly journal: Journal
  /** How it is asked for SkyDNS names, and whether for zones. */
  readonly mode: 'compatible' | 'exact'
  readonly hasZones: boolean
  readonly pick: (random: Random) => Question
}

/** Where in the history of each key the server is, at least. */
export type Shown = ReadonlyMap<StoredKey, number>

/** A question, and what had been shown before it was asked. */
export interface Asked {
  readonly question: Question
  readonly since: readonly (readonly [StoredKey, number])[]
  readonly serial: SeenSerial | undefined
  readonly passed: Readonly<Record<StoredKey['source'], bigint>>
  readonly at: number
}

interface SeenSerial {
  readonly serial: number
  /** How many writes its key had when the question was asked. */
  readonly writes: number
}

const START_MS = 150_000
/** Worth a line. */
const NOTED_LAG_MS = 2000
/** A server that can reach etcd and still lags behind by this much is stuck. */
const STUCK_MS = 120_000

export class Subject {
  readonly name: string
  readonly port: number
  readonly proxies: readonly EtcdProxy[]
  readonly stateDirectory: string
  readonly mode: 'compatible' | 'exact'
  readonly hasZones: boolean
  /** Answers that were checked. */
  checked = 0
  /** Changes whenever it is killed: answers from before count no more. */
  generation = 0
  isUp = false
  readonly #options: SubjectOptions
  #process: HoldfastProcess | undefined
  #output = ''
  #shown = new Map<StoredKey, number>()
  #progress = noProgress()
  readonly #serials = new Map<string, SeenSerial>()
  #disturbances = 0
  #reachableSince = performance.now()
  #lagNotedAt = 0

  constructor(options: SubjectOptions) {
    this.#options = options
    this.name = options.name
    this.port = options.port
    this.proxies = options.proxies
    this.stateDirectory = options.stateDirectory
    this.mode = options.mode
    this.hasZones = options.hasZones
  }

  get output(): string {
    return this.#output + (this.#process?.output ?? '')
  }

  /** `shown`: what it has to show at least from the beginning. */
  async start(shown: Shown): Promise<void> {
    this.#shown = new Map(shown)
    this.#progress = noProgress()
    const { directory, args } = this.#options
    const child = new HoldfastProcess(['dns', '--workers', '1', ...args], directory, ['ignore', 'pipe', 'pipe'])
    this.#process = child
    await Promise.race([until('server that listens', () => isListening(child), START_MS), child.failure()])
    void this.#guard(child)
    this.isUp = true
  }

  /** Nobody but us ends it. */
  async #guard(child: HoldfastProcess): Promise<void> {
    const { generation } = this
    const reason = await child.ended()
    if (this.generation === generation) this.#options.journal.violation(`${this.name} ended with ${reason}`)
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.generation++
    this.isUp = false
    const child = this.#process
    this.#process = undefined
    await child?.end()
    this.#output += child?.output ?? ''
  }

  shown(): Shown {
    return new Map(this.#shown)
  }

  /** It cannot reach etcd until the returned function is called. */
  cutOff(): () => void {
    this.#disturbances++
    return () => {
      this.#disturbances--
      this.#reachableSince = performance.now()
    }
  }

  ask(random: Random): Asked {
    const question = this.#options.pick(random)
    const since = question.keys.map((key) => [key, this.#shown.get(key) ?? 0] as const)
    const serial = question.serialOf && this.#serials.get(question.serialOf.origin)
    const passed = { zones: this.#progress.zones.passed(), skydns: this.#progress.skydns.passed() }
    return { question, since, serial, passed, at: performance.now() }
  }

  noAnswer({ question }: Asked, transport: string): void {
    this.#violation(question, `no answer over ${transport}`)
  }

  check(asked: Asked, answer: Message): void {
    this.checked++
    const { question, since } = asked
    const byKey = new Map(since)
    for (const { key, track, value } of question.read(answer)) {
      const from = byKey.get(key) ?? 0
      const place = track.find(value, from)
      if (place === undefined) {
        const why = track.has(value) ? 'which was over before' : 'which was never written'
        this.#violation(
          question,
          `answered ${value}, ${why}; ${track.at(from)} had been shown (write ${from} of ${key.key})`,
        )
        continue
      }
      const { write, next } = place
      if (write.outcome === 'open' && write.index > from) write.seenBy.add(this.name)
      this.#shown.set(key, Math.max(this.#shown.get(key) ?? 0, write.index))
      if (write.revision !== undefined) this.#progress[key.source].show(write.revision)
      if (next?.outcome !== 'done' || key.history.isRefusedSince(write.index)) continue
      this.#lag(asked, next.doneAt)
      const passed = asked.passed[key.source]
      if (next.revision !== undefined && next.revision <= passed)
        this.#violation(question, `answered ${value}, replaced at revision ${next.revision}; it had passed ${passed}`)
    }
    if (question.serialOf !== undefined) this.#checkSerial(asked, question.serialOf, answer)
  }

  #lag({ question, at }: Asked, replacedAt: number): void {
    if (this.#disturbances > 0) return
    const lagMs = at - Math.max(replacedAt, this.#reachableSince)
    if (lagMs <= 0) return
    const { journal } = this.#options
    journal.lag(this.name, lagMs)
    if (lagMs > NOTED_LAG_MS && replacedAt > this.#lagNotedAt) {
      this.#lagNotedAt = at
      journal.note(`${this.name} lags behind by ${Math.round(lagMs)} ms (${question.name})`)
    }
    if (lagMs > STUCK_MS) this.#violation(question, `still answers what was replaced ${Math.round(lagMs)} ms ago`)
  }

  #checkSerial({ question, serial: seen, since }: Asked, { origin, key }: ServedOrigin, { answers }: Message): void {
    const soa = answers.find(({ type }) => type === TYPE.SOA)
    if (soa === undefined) return
    const { rdata } = soa
    const serial = new DataView(rdata.buffer, rdata.byteOffset).getUint32(rdata.length - 20)
    const beganAnew = key !== undefined && key.history.isGoneSince(seen?.writes ?? 0)
    if (seen !== undefined && !beganAnew && isOlder(serial, seen.serial))
      this.#violation(question, `serial ${serial} after ${seen.serial}`)
    const latest = this.#serials.get(origin)
    if (latest === undefined || beganAnew || isOlder(latest.serial, serial))
      this.#serials.set(origin, { serial, writes: since[0]?.[1] ?? 0 })
  }

  #violation({ name, type }: Question, what: string): void {
    this.#options.journal.violation(`${this.name}: ${name} ${typeName(type)}: ${what}`)
  }
}

function noProgress(): Readonly<Record<StoredKey['source'], Progress>> {
  return { zones: new Progress(), skydns: new Progress() }
}

function isListening({ output }: HoldfastProcess): boolean {
  return output.includes('Listening on')
}

/** RFC 1982. */
function isOlder(serial: number, than: number): boolean {
  const behind = (than - serial) >>> 0
  return behind > 0 && behind < 2 ** 31
}
