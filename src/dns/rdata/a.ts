// A: an IPv4 address (RFC 1035 3.4.1).

import type { RdataType } from './field.ts'
import { ipv4 } from './fields/address.ts'

export const a: RdataType = { fields: [ipv4('an IPv4 address, such as 192.0.2.1')] }
