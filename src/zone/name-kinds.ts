// What the checks ask again and again about names that others point at, worked out once for each of them: a name may have
// thousands of records, and thousands may point at it.

import { TYPE } from '../dns/types.ts'
import type { ZoneBuilder } from './build.ts'

export const NAME_KIND = { alias: 1, address: 2, cut: 4 } as const
const IS_KNOWN = 8

export class NameKinds {
  readonly #zone: ZoneBuilder
  readonly #kinds: Uint8Array

  /** The zone must not change meanwhile. */
  constructor(zone: ZoneBuilder) {
    this.#zone = zone
    this.#kinds = new Uint8Array(zone.nameCount)
  }

  /** Whether the name, which may be -1, has a CNAME, an address or NS. */
  is(name: number, kind: number): boolean {
    if (name < 0) return false
    if (this.#kinds[name] === 0) this.#kinds[name] = IS_KNOWN | this.#look(name)
    return (this.#kinds[name] & kind) !== 0
  }

  #look(name: number): number {
    const { firstRecord, nextRecord, recordType } = this.#zone
    let kinds = 0
    for (let r = firstRecord[name]; r >= 0; r = nextRecord[r]) {
      const type = recordType[r]
      if (type === TYPE.CNAME) kinds |= NAME_KIND.alias
      else if (type === TYPE.A || type === TYPE.AAAA) kinds |= NAME_KIND.address
      else if (type === TYPE.NS) kinds |= NAME_KIND.cut
    }
    return kinds
  }
}
