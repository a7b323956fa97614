// HHIT and BRID: identities of drones, in CBOR (RFC 9886 5).

import type { RdataType } from './field.ts'
import { base64ToEnd } from './fields/encoded.ts'

export const hhit: RdataType = { fields: [base64ToEnd('data')] }
