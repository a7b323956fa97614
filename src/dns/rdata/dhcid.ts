// DHCID: which DHCP client holds the name (RFC 4701).

import type { RdataType } from './field.ts'
import { base64ToEnd } from './fields/encoded.ts'

export const dhcid: RdataType = { fields: [base64ToEnd('an identifier')] }
