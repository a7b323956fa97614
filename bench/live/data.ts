// What is stored: a zone of many records of which one changes, and SkyDNS keys of which one changes. Change n makes
// `live` the address of the number n.

import { writeFile } from 'node:fs/promises'
import { addressOf } from './prober.ts'
import { type Kind, ORIGIN } from './subjects.ts'

export const LIVE_NAME = `live.${ORIGIN}`
/** A path of SkyDNS keys: /example/bench */
const KEY_PATH = `/${ORIGIN.split('.').filter(Boolean).toReversed().join('/')}`

export type Entry = readonly [key: string, value: string]

export class Data {
  readonly #kind: Kind
  readonly #prefix: string
  readonly #records: number
  /** Records before and after the one that changes. */
  readonly #around: readonly [string, string]

  constructor(kind: Kind, prefix: string, records: number) {
    this.#kind = kind
    this.#prefix = prefix
    this.#records = records
    const lines = Array.from({ length: records }, (_, i) => `h${i} A ${hostAddress(i)}\n`)
    this.#around = [lines.slice(0, records >> 1).join(''), lines.slice(records >> 1).join('')]
  }

  /** What stays as it is, and change 0. */
  *entries(): Generator<Entry> {
    yield this.change(0)
    if (this.#kind === 'skydns')
      for (let i = 0; i < this.#records; i++)
        yield [`${this.#prefix}${KEY_PATH}/h${i}/x`, `{"host":"${hostAddress(i)}"}`]
  }

  change(number: number): Entry {
    if (this.#kind === 'skydns')
      return [`${this.#prefix}${KEY_PATH}/live/x`, `{"host":"${addressOf(number)}","ttl":60}`]
    const [before, after] = this.#around
    const apex = `$TTL 3600\n@ SOA ns hostmaster ${number + 1} 7200 3600 1209600 300\n@ NS ns\nns A 192.0.2.53\n`
    return [`${this.#prefix}${ORIGIN.slice(0, -1)}`, `${apex}${before}live 60 A ${addressOf(number)}\n${after}`]
  }

  /** Questions that find something, in dnsperf's format. */
  async writeQuestions(path: string): Promise<void> {
    await writeFile(path, Array.from({ length: this.#records }, (_, i) => `h${i}.${ORIGIN} A\n`).join(''))
  }
}

function hostAddress(i: number): string {
  return `172.${16 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`
}
