// OPENPGPKEY: a transferable public key (RFC 7929).

import type { RdataType } from './field.ts'
import { base64ToEnd } from './fields/encoded.ts'

export const openpgpkey: RdataType = { fields: [base64ToEnd('a public key')] }
