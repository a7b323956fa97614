// DS, and CDS by which a child asks for one: the digest of a key of the child zone (RFC 4034 5, RFC 7344 3.1).

import { digestLength } from './digest-length.ts'
import type { RdataType } from './field.ts'
import { hexToEnd } from './fields/encoded.ts'
import { mnemonic, u16 } from './fields/number.ts'
import { SECURITY_ALGORITHMS } from './security-algorithm.ts'

const DIGEST_TYPES = { 'SHA-1': 1, SHA1: 1, 'SHA-256': 2, SHA256: 2, GOST: 3, 'SHA-384': 4, SHA384: 4 } as const

export const ds: RdataType = {
  fields: [
    u16('a key tag'),
    mnemonic(1, 'an algorithm', SECURITY_ALGORITHMS, 'as-number'),
    mnemonic(1, 'a digest type', DIGEST_TYPES, 'as-number'),
    hexToEnd('a digest'),
  ],
  check: digestLength(3, 4, { 1: 20, 2: 32, 3: 32, 4: 48 }),
}
