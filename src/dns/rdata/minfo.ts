// MINFO: who is responsible for a mailing list, and who gets its errors (RFC 1035 3.3.7).

import type { RdataType } from './field.ts'
import { name } from './fields/name.ts'

export const minfo: RdataType = { fields: [name('the responsible mailbox'), name('the mailbox for errors')] }
