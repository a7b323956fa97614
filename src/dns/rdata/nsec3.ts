// NSEC3: the next hashed name and the types at this one (RFC 5155 3).

import type { RdataType } from './field.ts'
import { base32hex, hexOrDash } from './fields/encoded.ts'
import { u16, u8 } from './fields/number.ts'
import { typeBitmap } from './fields/type-bitmap.ts'

export const nsec3: RdataType = {
  fields: [
    u8('a hash algorithm'),
    u8('flags'),
    u16('a number of iterations'),
    hexOrDash('a salt: - or hexadecimal digits'),
    base32hex('the next hashed owner in base32hex'),
    typeBitmap(0),
  ],
}
