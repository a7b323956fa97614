// KX: a key exchanger and its preference (RFC 2230).

import type { RdataType } from './field.ts'
import { uncompressedName } from './fields/name.ts'
import { u16 } from './fields/number.ts'

export const kx: RdataType = { fields: [u16('a preference'), uncompressedName('the name of a key exchanger')] }
