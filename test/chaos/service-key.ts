// A SkyDNS key: put, changed, deleted, broken, or hanging on a lease. Its address and its text both carry the number of
// the write.

import { TYPE } from '../../src/dns/types.ts'
import type { Random } from '../fuzz/random.ts'
import { History, Track } from './history.ts'
import type { Write, WriteOptions } from './history.ts'
import { addressOf, denialOf, type Proposal, type Question, seqsOf, type StoredKey } from './stored-key.ts'

export const SKYDNS_ORIGIN = 'sky.test.'
const PATH = '/skydns/test/sky'

/** `steady` keys are never deleted, but get broken values. */
export type ServiceKind = 'plain' | 'steady' | 'leased'

export class ServiceKey implements StoredKey {
  readonly key: string
  readonly source = 'skydns'
  readonly name: string
  readonly history: History
  readonly track = new Track('nx')
  modRevision = 0n
  isLeased = false
  readonly #kind: ServiceKind
  #stored: 'good' | 'broken' | 'none' = 'none'

  /** `labels` as in the name: the first is the innermost. */
  constructor(labels: readonly string[], kind: ServiceKind, onFalse: (key: StoredKey, write: Write) => void) {
    this.key = [PATH, ...labels.toReversed()].join('/')
    this.name = `${labels.join('.')}.${SKYDNS_ORIGIN}`
    this.history = new History((write) => onFalse(this, write))
    this.#kind = kind
  }

  get exists(): boolean {
    return this.#stored !== 'none'
  }

  propose(random: Random, seq: number): Proposal {
    if (this.#kind === 'steady' && this.exists && random.chance(0.1)) return this.#broken(seq)
    if (this.#kind !== 'steady' && this.exists && random.chance(0.3)) return this.#deletion()
    return { ...this.#good(seq), leased: this.#kind === 'leased' && random.chance(0.8) }
  }

  proposeLast(seq: number): Proposal | undefined {
    return !this.isLeased && this.#stored !== 'broken' ? undefined : this.#good(seq)
  }

  lapse(): WriteOptions {
    return { ...this.#deletion(), seq: undefined }
  }

  /** The name of this key alone. */
  question(type: number): Question {
    const read: Question['read'] = (answer) => {
      const found = seqsOf(answer)
      const value = denialOf(answer) ?? (found.length === 1 ? `s${found[0].seq}` : found.map(({ text }) => text).join())
      return [{ key: this, track: this.track, value }]
    }
    return { name: this.name, type, keys: [this], read }
  }

  #good(seq: number): Proposal {
    const value = JSON.stringify({ host: addressOf(seq), text: `s${seq}` })
    return { kind: 'put', value, steps: [[this.track, `s${seq}`]], onDone: () => this.#become('good') }
  }

  #broken(seq: number): Proposal {
    const value = `{"host":"${addressOf(seq)}","text":"s${seq}"`
    return { kind: 'refused', value, steps: [], onDone: () => this.#become('broken') }
  }

  #deletion(): Proposal {
    return { kind: 'gone', value: undefined, steps: [[this.track, 'nx']], onDone: () => this.#become('none') }
  }

  #become(stored: 'good' | 'broken' | 'none'): void {
    this.#stored = stored
  }
}

/** In compatible mode a name has the addresses of all keys below it: one answer shows every member of a group. */
export function groupQuestion(name: string, members: readonly ServiceKey[]): Question {
  return {
    name,
    type: TYPE.A,
    keys: members,
    read(answer) {
      const denial = denialOf(answer)
      const found = seqsOf(answer).map(({ seq }) => `s${seq}`)
      const shown = members.map(
        (key) =>
          found.find((value) => key.track.has(value)) ?? (denial === undefined || denial === 'nx' ? 'nx' : denial),
      )
      const strangers = found.filter((value) => !shown.includes(value))
      return members.map((key, i) => ({
        key,
        track: key.track,
        value: strangers.length === 0 ? shown[i] : `${shown[i]} beside ${strangers.join()}`,
      }))
    },
  }
}
