// GPOS: longitude, latitude and altitude in decimal (RFC 1712; LOC took its place).

import type { RdataType } from './field.ts'
import { characterString } from './fields/string.ts'

export const gpos: RdataType = {
  fields: [characterString('a longitude'), characterString('a latitude'), characterString('an altitude')],
}
