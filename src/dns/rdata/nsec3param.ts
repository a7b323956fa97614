// NSEC3PARAM: how the NSEC3 names of the zone are hashed (RFC 5155 4).

import type { RdataType } from './field.ts'
import { hexOrDash } from './fields/encoded.ts'
import { u16, u8 } from './fields/number.ts'

export const nsec3param: RdataType = {
  fields: [
    u8('a hash algorithm'),
    u8('flags'),
    u16('a number of iterations'),
    hexOrDash('a salt: - or hexadecimal digits'),
  ],
}
