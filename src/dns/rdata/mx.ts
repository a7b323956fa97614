// MX: a mail exchanger and its preference (RFC 1035 3.3.9).

import type { RdataType } from './field.ts'
import { name } from './fields/name.ts'
import { u16 } from './fields/number.ts'

export const mx: RdataType = { fields: [u16('a preference'), name('the name of a mail exchanger')] }
