// DNSKEY, and CDNSKEY by which a child asks for a DS: a public key of the zone (RFC 4034 2, RFC 7344 3.2).

import type { RdataType } from './field.ts'
import { base64ToEnd } from './fields/encoded.ts'
import { mnemonic, u8, u16 } from './fields/number.ts'
import { SECURITY_ALGORITHMS } from './security-algorithm.ts'

export const dnskey: RdataType = {
  fields: [
    u16('flags'),
    u8('a protocol'),
    mnemonic(1, 'an algorithm', SECURITY_ALGORITHMS, 'as-number'),
    base64ToEnd('a public key'),
  ],
}
