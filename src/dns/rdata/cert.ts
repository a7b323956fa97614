// CERT: a certificate or a pointer to one (RFC 4398 2).

import type { RdataType } from './field.ts'
import { base64ToEnd } from './fields/encoded.ts'
import { mnemonic, u16 } from './fields/number.ts'
import { SECURITY_ALGORITHMS } from './security-algorithm.ts'

const CERTIFICATE_TYPES = {
  PKIX: 1,
  SPKI: 2,
  PGP: 3,
  IPKIX: 4,
  ISPKI: 5,
  IPGP: 6,
  ACPKIX: 7,
  IACPKIX: 8,
  URI: 253,
  OID: 254,
} as const

export const cert: RdataType = {
  fields: [
    mnemonic(2, 'a certificate type', CERTIFICATE_TYPES, 'as-mnemonic'),
    u16('a key tag'),
    mnemonic(1, 'an algorithm', SECURITY_ALGORITHMS, 'as-mnemonic'),
    base64ToEnd('a certificate'),
  ],
}
