// ISDN: the telephone number of a host, perhaps with a subaddress (RFC 1183 3.2).

import type { RdataType } from './field.ts'
import { characterString, optionalString } from './fields/string.ts'

export const isdn: RdataType = { fields: [characterString('an ISDN address'), optionalString('a subaddress')] }
