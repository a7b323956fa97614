// CSYNC: what a parent should copy from its child (RFC 7477).

import type { RdataType } from './field.ts'
import { u16, u32 } from './fields/number.ts'
import { typeBitmap } from './fields/type-bitmap.ts'

export const csync: RdataType = { fields: [u32('a serial'), u16('flags'), typeBitmap(0)] }
