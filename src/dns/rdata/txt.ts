// TXT, and SPF which is the same under another number (RFC 1035 3.3.14, RFC 7208 3.1).

import type { RdataType } from './field.ts'
import { characterStrings } from './fields/string.ts'

export const txt: RdataType = { fields: [characterStrings('a character string')] }
