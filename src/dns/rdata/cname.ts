// CNAME: the name this one is an alias of (RFC 1035 3.3.1).

import type { RdataType } from './field.ts'
import { name } from './fields/name.ts'

export const cname: RdataType = { fields: [name('the canonical name')] }
