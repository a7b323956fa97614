// The text of a zone with an NSEC3 chain over given names, all with opt-out. The signatures are noise: a server does
// not look into them. Unit tests only; conformance tests sign for real.

import { parseName } from '../../src/dns/name.ts'
import { keyOf } from '../fuzz/names.ts'
import { base32hex, nsec3Hash } from '../fuzz/nsec3-hash.ts'

const SIGNATURE = '13 1 60 20361231235959 20260101000000 1 example. AAAA'

export interface HashedZone {
  readonly text: string
  /** How each NSEC3 owner is called in tests, by the name that it is the hash of. */
  readonly names: ReadonlyMap<string, string>
}

export interface ChainOptions {
  readonly parameters?: readonly string[]
  readonly isSigned?: boolean
}

/** `names`: those that have an NSEC3. */
export function hashedZone(records: string, names: readonly string[], options: ChainOptions = {}): HashedZone {
  const chain = names
    .map((name) => ({ name, hash: base32hex(nsec3Hash(keyOf(parseName(name)), new Uint8Array(0), 0)) }))
    .sort((a, b) => (a.hash < b.hash ? -1 : 1))
  const signature = (type: string) => (options.isSigned === false ? '' : `RRSIG ${type} ${SIGNATURE}`)
  const lines = [
    '$TTL 60',
    '@ SOA ns hostmaster 1 2 3 4 5',
    ` ${signature('SOA')}`,
    '@ NS ns',
    ...(options.parameters ?? ['1 0 0 -']).map((parameters) => `@ NSEC3PARAM ${parameters}`),
    'ns A 192.0.2.1',
    records,
    ...chain.flatMap(({ hash }, i) => [
      `${hash} NSEC3 1 1 0 - ${chain[(i + 1) % chain.length].hash} A`,
      ` ${signature('NSEC3')}`,
    ]),
  ]
  return {
    text: lines.map((line) => `${line}\n`).join(''),
    names: new Map(chain.map(({ name, hash }) => [`${hash}.example.`, name])),
  }
}
