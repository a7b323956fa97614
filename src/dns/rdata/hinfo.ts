// HINFO: processor and operating system (RFC 1035 3.3.2); today the answer to ANY (RFC 8482).

import type { RdataType } from './field.ts'
import { characterString } from './fields/string.ts'

export const hinfo: RdataType = {
  fields: [characterString('a processor name'), characterString('an operating system name')],
}
