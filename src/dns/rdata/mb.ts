// MB, MG, MR, MD and MF: mailboxes, groups and agents of the first mail system (RFC 1035 3.3; obsolete).

import type { RdataType } from './field.ts'
import { name } from './fields/name.ts'

export const mb: RdataType = { fields: [name('a host or mailbox name')] }
