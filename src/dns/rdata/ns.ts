// NS: a name server of the zone that starts here (RFC 1035 3.3.11).

import type { RdataType } from './field.ts'
import { name } from './fields/name.ts'

export const ns: RdataType = { fields: [name('the name of a server')] }
