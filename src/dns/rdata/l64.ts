// L64 and NID: a locator or node identifier of 64 bits for ILNP, written as half an IPv6 address (RFC 6742 2.1, 2.3).

import type { RdataType } from './field.ts'
import { halfIpv6 } from './fields/address.ts'
import { u16 } from './fields/number.ts'

export const l64: RdataType = { fields: [u16('a preference'), halfIpv6('64 bits, such as 2001:db8:0:1')] }
