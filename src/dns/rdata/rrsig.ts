// RRSIG: the signature of an RRset (RFC 4034 3).

import type { RdataType } from './field.ts'
import { base64ToEnd } from './fields/encoded.ts'
import { uncompressedName } from './fields/name.ts'
import { mnemonic, recordType, time, u8, u16, u32 } from './fields/number.ts'
import { SECURITY_ALGORITHMS } from './security-algorithm.ts'

export const rrsig: RdataType = {
  fields: [
    recordType('the type covered'),
    mnemonic(1, 'an algorithm', SECURITY_ALGORITHMS, 'as-number'),
    u8('a number of labels'),
    u32('the original TTL'),
    time('an expiration time'),
    time('an inception time'),
    u16('a key tag'),
    uncompressedName("the signer's name"),
    base64ToEnd('a signature'),
  ],
}
