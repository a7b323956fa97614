// L32: a locator of 32 bits for ILNP, written as an IPv4 address (RFC 6742 2.2).

import type { RdataType } from './field.ts'
import { ipv4 } from './fields/address.ts'
import { u16 } from './fields/number.ts'

export const l32: RdataType = { fields: [u16('a preference'), ipv4('a locator, written as an IPv4 address')] }
