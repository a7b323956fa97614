// One key in etcd as the writer sees it: what can be written to it next, and which names show it.

import type { Message } from '../../src/dns/message.ts'
import { formatRdata } from '../../src/dns/rdata/rdata.ts'
import { RCODE, rcodeName, TYPE } from '../../src/dns/types.ts'
import type { Random } from '../fuzz/random.ts'
import type { History, Track, Value, WriteOptions } from './history.ts'

/** What to write; without a value the key is deleted. */
export interface Proposal extends Omit<WriteOptions, 'seq'> {
  readonly value: string | undefined
  /** Wants the value to hang on a lease. */
  readonly leased?: boolean
}

export interface StoredKey {
  readonly key: string
  /** A source follows its keys in the order of etcd. */
  readonly source: 'zones' | 'skydns'
  readonly history: History
  /** Of what is stored now; 0 when there is nothing. */
  modRevision: bigint
  isLeased: boolean
  propose(random: Random, seq: number): Proposal
  /** A value that every server can follow to the end; undefined when it is there already. */
  proposeLast(seq: number): Proposal | undefined
  /** The end of the lease it hangs on. */
  lapse(): WriteOptions
}

/** What an answer says about one key. */
export interface Sight {
  readonly key: StoredKey
  readonly track: Track
  readonly value: Value
}

export interface Question {
  readonly name: string
  readonly type: number
  /** What the answer depends on. */
  readonly keys: readonly StoredKey[]
  read(answer: Message): readonly Sight[]
  /** The zone whose serial the answer carries. */
  readonly serialOf?: ServedOrigin
}

export interface ServedOrigin {
  readonly origin: string
  /** When the zone can go: its key. It begins anew after that. */
  readonly key: StoredKey | undefined
}

/** The number of the write that a stored value comes from: all carry it as "s<number>". */
export function seqOf(value: string): number {
  return Number(/"s(\d+)"/u.exec(value)?.[1])
}

/** The write's number in an address of one of two networks. */
export function addressOf(seq: number, network: 10 | 11 = 10): string {
  return [network, (seq >> 16) & 255, (seq >> 8) & 255, seq & 255].join('.')
}

/** What an answer without records says; undefined when there are some. */
export function denialOf({ rcode, answers }: Message): Value | undefined {
  if (rcode === RCODE.NXDOMAIN) return 'nx'
  if (rcode === RCODE.REFUSED) return 'no zone'
  if (rcode !== RCODE.NOERROR) return rcodeName(rcode)
  return answers.length === 0 ? 'no data' : undefined
}

/** The numbers of the writes in the records of an answer. */
export function seqsOf({ answers }: Message): { readonly text: string; readonly seq: number }[] {
  return answers.map(({ type, rdata }) => {
    const text = formatRdata(type, rdata)
    if (type === TYPE.TXT) return { text, seq: seqOf(text) }
    const [, a, b, c] = text.split('.').map(Number)
    return { text, seq: (a << 16) | (b << 8) | c }
  })
}
