// EUI48: a 48-bit hardware address (RFC 7043 3).

import type { RdataType } from './field.ts'
import { dashedHex } from './fields/encoded.ts'

export const eui48: RdataType = { fields: [dashedHex(6, 'an EUI-48 address, such as 00-00-5e-00-53-2a')] }
