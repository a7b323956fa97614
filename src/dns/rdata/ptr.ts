// PTR: a pointer to another name (RFC 1035 3.3.12).

import type { RdataType } from './field.ts'
import { name } from './fields/name.ts'

export const ptr: RdataType = { fields: [name('a target name')] }
