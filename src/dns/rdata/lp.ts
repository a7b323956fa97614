// LP: the name that has the locators of a host (RFC 6742 2.4).

import type { RdataType } from './field.ts'
import { opaqueName } from './fields/name.ts'
import { u16 } from './fields/number.ts'

export const lp: RdataType = { fields: [u16('a preference'), opaqueName('a name')] }
