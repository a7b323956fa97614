// SRV: where a service is found (RFC 2782). Its target must not be compressed.

import type { RdataType } from './field.ts'
import { uncompressedName } from './fields/name.ts'
import { u16 } from './fields/number.ts'

export const srv: RdataType = {
  fields: [u16('a priority'), u16('a weight'), u16('a port'), uncompressedName('a target name')],
}
