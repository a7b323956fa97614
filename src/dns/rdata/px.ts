// PX: which X.400 domain belongs to a mail domain (RFC 2163 4).

import type { RdataType } from './field.ts'
import { uncompressedName } from './fields/name.ts'
import { u16 } from './fields/number.ts'

export const px: RdataType = {
  fields: [u16('a preference'), uncompressedName('the RFC 822 domain'), uncompressedName('the X.400 domain')],
}
