// EID and NIMLOC: endpoint identifier and locator of the Nimrod routing architecture, opaque bytes (never an RFC).

import type { RdataType } from './field.ts'
import { hexToEnd } from './fields/encoded.ts'

export const eid: RdataType = { fields: [hexToEnd('an identifier')] }
