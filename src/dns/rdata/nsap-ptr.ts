// NSAP-PTR: the name of an OSI network address (RFC 1348; obsolete).

import type { RdataType } from './field.ts'
import { opaqueName } from './fields/name.ts'

export const nsapPtr: RdataType = { fields: [opaqueName('a name')] }
