// RT: a host that routes for this one (RFC 1183 3.3).

import type { RdataType } from './field.ts'
import { uncompressedName } from './fields/name.ts'
import { u16 } from './fields/number.ts'

export const rt: RdataType = { fields: [u16('a preference'), uncompressedName('the name of a host')] }
