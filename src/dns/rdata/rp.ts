// RP: the person responsible, as a mailbox, and where to find text about them (RFC 1183 2.2).

import type { RdataType } from './field.ts'
import { uncompressedName } from './fields/name.ts'

export const rp: RdataType = {
  fields: [uncompressedName('a mailbox name'), uncompressedName('the name of a TXT record')],
}
