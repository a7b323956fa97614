// TALINK: links between lists of trust anchors (never an RFC).

import type { RdataType } from './field.ts'
import { opaqueName } from './fields/name.ts'

export const talink: RdataType = { fields: [opaqueName('the previous name'), opaqueName('the next name')] }
