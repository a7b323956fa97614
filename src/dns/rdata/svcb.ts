// SVCB, and HTTPS which has the same fields: how to reach a service (RFC 9460). The parameters are in
// svcb-params.ts; priority 0 is alias mode, in which parameters are allowed and ignored (2.4.2).

import type { RdataType } from './field.ts'
import { opaqueName } from './fields/name.ts'
import { u16 } from './fields/number.ts'
import { svcParams } from './svcb-params.ts'

export const svcb: RdataType = { fields: [u16('a priority'), opaqueName('a target name'), svcParams] }
