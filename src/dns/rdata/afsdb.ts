// AFSDB: a server of an AFS or DCE cell (RFC 1183 1).

import type { RdataType } from './field.ts'
import { uncompressedName } from './fields/name.ts'
import { u16 } from './fields/number.ts'

export const afsdb: RdataType = { fields: [u16('a subtype'), uncompressedName('the name of a server')] }
