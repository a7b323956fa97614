// What is to change in a zone: for each name all its records as they shall be, none to take it away. Kept in the
// columns of a builder, so that the same code writes whole zones and single names.

import { APEX, ZoneBuilder } from './build.ts'
import { SETS_FLAG } from './layout.ts'

/** How a source wants a name to be understood. */
export interface NameStyle {
  /** SETS_FLAG.services */
  readonly services: boolean
}

export const PLAIN_STYLE: NameStyle = { services: false }

export class ZoneEdits {
  readonly builder: ZoneBuilder
  readonly unique: boolean
  /** When records expire (Unix seconds), by number. */
  readonly expires: Map<number, number> = new Map()
  readonly #styles = new Map<number, NameStyle>()

  /** `unique`: no record is added twice, so that none has to be looked for. */
  constructor(origin: Uint8Array, unique = false) {
    this.unique = unique
    this.builder = new ZoneBuilder(origin)
  }

  /** The name will have the records added from now on, and no others. */
  name(owner: Uint8Array, style: NameStyle = PLAIN_STYLE): void {
    const name = this.builder.internName(owner, 0, owner.length)
    if (style !== PLAIN_STYLE) this.#styles.set(name, style)
  }

  add(owner: Uint8Array, type: number, ttl: number, rdata: Uint8Array, expiresAt = 0): void {
    if (expiresAt > 0) this.expires.set(this.builder.recordCount, Math.min(expiresAt, LATEST))
    this.builder.record(owner, owner.length, type, CLASS_IN, ttl, rdata, rdata.length, 0)
  }

  get changesApex(): boolean {
    return this.builder.firstRecord[APEX] >= 0
  }

  flags(name: number): number {
    return this.#styles.get(name)?.services === true ? SETS_FLAG.services : 0
  }
}

const CLASS_IN = 1
/** What 32 bits without a sign hold. */
const LATEST = 0xffff_ffff
