// SINK: anything, with a hint at its coding (never an RFC).

import type { RdataType } from './field.ts'
import { base64ToEnd } from './fields/encoded.ts'
import { u8 } from './fields/number.ts'

export const sink: RdataType = {
  fields: [u8('a meaning'), u8('a coding'), u8('a subcoding'), base64ToEnd('data')],
}
