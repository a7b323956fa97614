// NSEC: the next name of the zone and the types at this one (RFC 4034 4). Never without types, as NSEC is one.

import type { RdataType } from './field.ts'
import { opaqueName } from './fields/name.ts'
import { typeBitmap } from './fields/type-bitmap.ts'

export const nsec: RdataType = { fields: [opaqueName('the next name'), typeBitmap(1)] }
