// EUI64: a 64-bit hardware address (RFC 7043 4).

import type { RdataType } from './field.ts'
import { dashedHex } from './fields/encoded.ts'

export const eui64: RdataType = { fields: [dashedHex(8, 'an EUI-64 address, such as 00-00-5e-ef-10-00-00-2a')] }
