// Which NSEC3PARAM of a zone counts, and the NSEC3 records of its chain in the order of their hashes. A zone may have
// several (RFC 5155 section 7.3), such as while it moves from one set of parameters to the next.

import { STEP_SIZE, type Steps } from '../dns/steps.ts'
import { TYPE } from '../dns/types.ts'
import { APEX } from './build.ts'
import type { ZoneBuilder } from './build.ts'
import { LOWER } from './hash.ts'
import { Sha1 } from './sha1.ts'
import { sortSteps } from './sort-steps.ts'

/** In the rdata of both NSEC3 and NSEC3PARAM: algorithm, flags, iterations (2), salt length, salt. */
const FLAGS_AT = 1
const SALT_LENGTH_AT = 4
const SHA1 = 1
/** Validators treat more as unsigned, or worse (RFC 9276 section 3.2). */
export const MOST_ITERATIONS = 150
/** Parameters that are looked at: a zone that moves from one set to the next has two. */
const MOST_CHAINS = 8
/** Base32hex of 20 bytes. */
const HASH_CHARACTERS = 32

export interface Nsec3Entry {
  readonly name: number
  /** Five words, to be compared as unsigned. */
  readonly hash: Int32Array
}

export interface Nsec3Chain {
  /** The rdata of NSEC3PARAM. */
  readonly parameters: Uint8Array
  readonly entries: readonly Nsec3Entry[]
}

/** The NSEC3PARAM records at the apex that count: those with flags are not meant for servers (RFC 5155 section 4.1.2). */
export function nsec3Parameters(builder: ZoneBuilder): number[] {
  const records: number[] = []
  for (let r = builder.firstRecord[APEX]; r >= 0; r = builder.nextRecord[r])
    if (builder.recordType[r] === TYPE.NSEC3PARAM && builder.rdata(r)[FLAGS_AT] === 0) records.push(r)
  return records
}

export function hasKnownHash(parameters: Uint8Array): boolean {
  return parameters[0] === SHA1
}

export function iterationsOf(parameters: Uint8Array): number {
  return (parameters[2] << 8) | parameters[3]
}

/** Whether a server can prove with these parameters. */
export function isUsable(parameters: Uint8Array): boolean {
  return hasKnownHash(parameters) && iterationsOf(parameters) <= MOST_ITERATIONS
}

/** The first chain that can be used and begins at the apex, or else the first that has any link; `owners` own an NSEC3. */
export function* chooseNsec3Chain(builder: ZoneBuilder, owners: readonly number[]): Steps<Nsec3Chain | undefined> {
  let fallback: Nsec3Chain | undefined
  const usable = nsec3Parameters(builder).filter((record) => isUsable(builder.rdata(record)))
  for (const record of usable.slice(0, MOST_CHAINS)) {
    const parameters = builder.rdata(record)
    const entries = yield* nsec3Chain(builder, owners, parameters)
    if (entries.length === 0) continue
    if (hasHash(entries, hashOfOrigin(builder, parameters))) return { parameters, entries }
    fallback ??= { parameters, entries }
  }
  return fallback
}

function* nsec3Chain(builder: ZoneBuilder, owners: readonly number[], parameters: Uint8Array): Steps<Nsec3Entry[]> {
  const entries: Nsec3Entry[] = []
  for (const [i, name] of owners.entries()) {
    if (i % STEP_SIZE === 0) yield
    const owner = builder.name(name)
    if (owner[0] !== HASH_CHARACTERS) continue
    if (!isOfChain(builder.rdata(builder.findRecord(name, TYPE.NSEC3)), parameters)) continue
    entries.push({ name, hash: decodeHash(owner) })
  }
  yield* sortSteps(entries, (a, b) => compareHashes(a.hash, b.hash))
  return entries
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

function hasHash(entries: readonly Nsec3Entry[], hash: Int32Array): boolean {
  return entries.some((entry) => compareHashes(entry.hash, hash) === 0)
}

/** RFC 5155 section 5: IH(salt, x, k) = H(IH(salt, x, k - 1) || salt). */
function hashOfOrigin(builder: ZoneBuilder, parameters: Uint8Array): Int32Array {
  const salt = parameters.subarray(SALT_LENGTH_AT + 1, SALT_LENGTH_AT + 1 + parameters[SALT_LENGTH_AT])
  const sha1 = new Sha1()
  let input = Uint8Array.of(...builder.origin.map((byte) => LOWER[byte]), ...salt)
  for (let round = iterationsOf(parameters); ; round--) {
    sha1.hash(input, input.length)
    if (round === 0) return sha1.state
    input = Uint8Array.of(...Array.from({ length: 20 }, (_, i) => sha1.state[i >> 2] >>> (24 - (i & 3) * 8)), ...salt)
  }
}
