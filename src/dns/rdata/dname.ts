// DNAME: another place for the whole tree below this name (RFC 6672).

import type { RdataType } from './field.ts'
import { uncompressedName } from './fields/name.ts'

export const dname: RdataType = { fields: [uncompressedName('a target name')] }
