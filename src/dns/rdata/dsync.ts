// DSYNC: where a parent wants to be notified of changed delegations (RFC 9859 2).

import type { RdataType } from './field.ts'
import { opaqueName } from './fields/name.ts'
import { mnemonic, recordType, u16 } from './fields/number.ts'

const SCHEMES = { NOTIFY: 1 } as const

export const dsync: RdataType = {
  fields: [
    recordType('the type it is about'),
    mnemonic(1, 'a scheme', SCHEMES, 'as-mnemonic'),
    u16('a port'),
    opaqueName('a target name'),
  ],
}
