// A zone file in etcd. Each name has the number of the write that last changed it, in all of its records; the apex has
// that of the write that made the text.

import { TYPE } from '../../src/dns/types.ts'
import type { Random } from '../fuzz/random.ts'
import { History, Track } from './history.ts'
import type { Value, Write, WriteOptions } from './history.ts'
import { addressOf, denialOf, type Proposal, type Question, seqsOf, type StoredKey } from './stored-key.ts'

export const ZONE_PREFIX = '/zones/'

export interface ZoneOptions {
  readonly origin: string
  /** Names that there can be. */
  readonly names: number
  /** The zone may be deleted; otherwise texts that are refused are put, too. */
  readonly volatile: boolean
  /** Whether the author counts the serial up. */
  readonly counting: boolean
}

/** Which names there are, and the write each comes from. */
type Content = ReadonlyMap<number, number>

/** Texts that must be refused as a whole. */
const FAULTS = ['n1 A 300.1.2.3', 'n1 CNAME n2\nn1 A 10.0.0.1', '@ SOA ns other 2 1 1 1 1', 'n1 NOSUCHTYPE x', 'n1 A (']

export class ZoneKey implements StoredKey {
  readonly key: string
  readonly source = 'zones'
  readonly origin: string
  readonly history: History
  modRevision = 0n
  isLeased = false
  readonly #options: ZoneOptions
  readonly #apex = new Track('no zone')
  readonly #tracks: readonly Track[]
  #content: Content | undefined
  #isRefused = false

  constructor(options: ZoneOptions, onFalse: (key: StoredKey, write: Write) => void) {
    this.#options = options
    this.origin = options.origin
    this.key = ZONE_PREFIX + options.origin.slice(0, -1)
    this.history = new History((write) => onFalse(this, write))
    this.#tracks = Array.from({ length: options.names }, () => new Track('no zone'))
  }

  propose(random: Random, seq: number): Proposal {
    const { volatile, names } = this.#options
    const content = this.#content
    if (content === undefined) return this.#put(new Map(this.#tracks.keys().map((i) => [i, seq])), seq)
    if (volatile && random.chance(0.1)) return this.#deletion()
    if (!volatile && random.chance(0.05)) return this.#refused(random, content, seq)
    const next = new Map(content)
    const many = random.chance(0.1) ? Math.ceil(names / 10) : 1
    for (let i = 0; i < many; i++) {
      const name = random.below(names)
      if (random.chance(0.2)) next.delete(name)
      else next.set(name, seq)
    }
    return this.#put(next, seq)
  }

  proposeLast(seq: number): Proposal | undefined {
    return this.#isRefused && this.#content !== undefined ? this.#put(this.#content, seq) : undefined
  }

  lapse(): WriteOptions {
    throw new Error('zones have no lease')
  }

  /** One of the names, or the apex. */
  question(random: Random): Question {
    const i = random.below(this.#tracks.length + 1) - 1
    if (i < 0) return { ...this.#about(this.origin, TYPE.TXT), read: (answer) => this.#sight(this.#apex, answer, 1) }
    const type = hasText(i) && random.chance(0.5) ? TYPE.TXT : TYPE.A
    const count = type === TYPE.A ? networksOf(i).length : 1
    const read: Question['read'] = (answer) => this.#sight(this.#tracks[i], answer, count)
    return { ...this.#about(`n${i}.${this.origin}`, type), read }
  }

  /** Says nothing about the version, unless there is no zone. */
  serialQuestion(): Question {
    return {
      ...this.#about(this.origin, TYPE.SOA),
      read: (answer) => (denialOf(answer) === undefined ? [] : this.#sight(this.#apex, answer, 1)),
      serialOf: { origin: this.origin, key: this.#options.volatile ? this : undefined },
    }
  }

  /** Every name that there ever was. */
  owners(): string[] {
    return [this.origin, ...this.#tracks.keys().map((i) => `n${i}.${this.origin}`)]
  }

  #about(name: string, type: number) {
    return { name, type, keys: [this] }
  }

  #sight(track: Track, answer: Parameters<Question['read']>[0], count: number) {
    const found = seqsOf(answer)
    const isWhole = found.length === count && found.every(({ seq }) => seq === found[0].seq)
    const value: Value = denialOf(answer) ?? (isWhole ? `s${found[0].seq}` : found.map(({ text }) => text).join())
    return [{ key: this, track, value }]
  }

  #put(content: Content, seq: number): Proposal {
    const before = this.#content
    const steps: [Track, Value][] = [[this.#apex, `s${seq}`]]
    for (const [i, track] of this.#tracks.entries())
      if (before === undefined || before.get(i) !== content.get(i))
        steps.push([track, content.has(i) ? `s${content.get(i)}` : 'nx'])
    const onDone = () => this.#become(content, false)
    return { kind: 'put', value: this.#text(content, seq), steps, onDone }
  }

  #refused(random: Random, content: Content, seq: number): Proposal {
    const lines = this.#text(content, seq).split('\n')
    lines.splice(random.between(4, lines.length), 0, random.pick(FAULTS))
    return { kind: 'refused', value: lines.join('\n'), steps: [], onDone: () => this.#become(content, true) }
  }

  #deletion(): Proposal {
    const steps = [this.#apex, ...this.#tracks].map((track) => [track, 'no zone'] as const)
    return { kind: 'gone', value: undefined, steps, onDone: () => this.#become(undefined, false) }
  }

  #become(content: Content | undefined, isRefused: boolean): void {
    this.#content = content
    this.#isRefused = isRefused
  }

  /** In the order of the names, so that a change of one name is a change of few lines. */
  #text(content: Content, seq: number): string {
    const serial = this.#options.counting ? seq : 1
    const lines = [
      '$TTL 60',
      `@ SOA ns hostmaster ${serial} 3600 600 86400 60`,
      '@ NS ns',
      `@ TXT "s${seq}"`,
      'ns A 192.0.2.53',
    ]
    for (const i of this.#tracks.keys()) {
      const written = content.get(i)
      if (written === undefined) continue
      for (const network of networksOf(i)) lines.push(`n${i} A ${addressOf(written, network)}`)
      if (hasText(i)) lines.push(`n${i} TXT "s${written}"`)
    }
    return `${lines.join('\n')}\n`
  }
}

/** Some names have two addresses, which change together or not at all. */
function networksOf(i: number): readonly (10 | 11)[] {
  return i % 4 === 1 ? [10, 11] : [10]
}

function hasText(i: number): boolean {
  return i % 4 === 2
}
