// AAAA: an IPv6 address (RFC 3596).

import type { RdataType } from './field.ts'
import { ipv6 } from './fields/address.ts'

export const aaaa: RdataType = { fields: [ipv6('an IPv6 address, such as 2001:db8::1')] }
