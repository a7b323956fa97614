// DNSKEY, and CDNSKEY by which a child asks for a DS: a public key of the zone (RFC 4034 2, RFC 7344 3.2).

import type { RdataType } from './field.ts'
import { base64ToEnd } from './fields/encoded.ts'
import { mnemonic } from './fields/number.ts'
import { keyFlags, keyProtocol } from './key-flags.ts'
import { SECURITY_ALGORITHMS } from './security-algorithm.ts'

export const dnskey: RdataType = {
  fields: [
    keyFlags,
    keyProtocol,
    mnemonic(1, 'an algorithm', SECURITY_ALGORITHMS, 'as-number'),
    base64ToEnd('a public key'),
  ],
}
