// The NSEC3 records of a zone that belong to one chain, in the order of their hashes.

import { TYPE } from '../dns/types.ts'
import type { ZoneBuilder } from './build.ts'
import { LOWER } from './hash.ts'

/** In the rdata of both NSEC3 and NSEC3PARAM: algorithm, flags, iterations (2), salt length, salt. */
const FLAGS_AT = 1
const SALT_LENGTH_AT = 4
/** Base32hex of 20 bytes. */
const HASH_CHARACTERS = 32

export interface Nsec3Entry {
  readonly name: number
  /** Five words, to be compared as unsigned. */
  readonly hash: Int32Array
}

export function nsec3Chain(builder: ZoneBuilder, owners: readonly number[], parameters: Uint8Array): Nsec3Entry[] {
  return owners
    .filter((name) => builder.name(name)[0] === HASH_CHARACTERS)
    .filter((name) => isOfChain(builder.rdata(builder.findRecord(name, TYPE.NSEC3)), parameters))
    .map((name) => ({ name, hash: decodeHash(builder.name(name)) }))
    .sort((a, b) => compareHashes(a.hash, b.hash))
}

/** Same algorithm, iterations and salt. */
function isOfChain(nsec3: Uint8Array, parameters: Uint8Array): boolean {
  const salted = SALT_LENGTH_AT + 1 + parameters[SALT_LENGTH_AT]
  for (let i = 0; i < salted; i++) if (i !== FLAGS_AT && nsec3[i] !== parameters[i]) return false
  return true
}

/** The first label of an NSEC3 owner: 32 characters of base32hex (RFC 4648 section 7), 20 bytes, as five words. */
function decodeHash(owner: Uint8Array): Int32Array {
  const words = new Int32Array(5)
  for (let i = 0; i < HASH_CHARACTERS; i++) {
    const c = LOWER[owner[1 + i]]
    const value = c >= 0x61 ? c - 0x61 + 10 : c - 0x30
    for (let bit = 0; bit < 5; bit++) {
      const at = i * 5 + bit
      if ((value >> (4 - bit)) & 1) words[at >> 5] |= 1 << (31 - (at & 31))
    }
  }
  return words
}

function compareHashes(a: Int32Array, b: Int32Array): number {
  for (let i = 0; i < 5; i++) if (a[i] !== b[i]) return (a[i] >>> 0) - (b[i] >>> 0)
  return 0
}
