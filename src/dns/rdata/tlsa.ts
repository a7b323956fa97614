// TLSA, and SMIMEA which has the same fields: a certificate association (RFC 6698 2, RFC 8162 2).

import type { RdataType } from './field.ts'
import { hexToEnd } from './fields/encoded.ts'
import { u8 } from './fields/number.ts'

export const tlsa: RdataType = {
  fields: [
    u8('a certificate usage'),
    u8('a selector'),
    u8('a matching type'),
    hexToEnd('certificate association data'),
  ],
}
