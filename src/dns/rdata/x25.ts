// X25: the address of a host on an X.25 network (RFC 1183 3.1).

import type { RdataType } from './field.ts'
import { digitsProblem } from './digits.ts'
import { characterString } from './fields/string.ts'

export const x25: RdataType = {
  fields: [characterString('a PSDN address')],
  check: (rdata, end) => digitsProblem(rdata, 1, end, 4, 'a PSDN address'),
}
