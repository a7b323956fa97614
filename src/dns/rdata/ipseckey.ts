// IPSECKEY: a public key for IPsec, and the gateway to use it with (RFC 4025).

import type { RdataType } from './field.ts'
import { gateway } from './fields/gateway.ts'
import { u8 } from './fields/number.ts'
import { optionalKey } from './key.ts'

export const ipseckey: RdataType = {
  fields: [
    u8('a precedence'),
    u8('a gateway type'),
    u8('an algorithm'),
    gateway(1, 'a gateway', ['. for no gateway', 'an IPv4 address', 'an IPv6 address', 'a name']),
    optionalKey,
  ],
}
