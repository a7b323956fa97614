// SOA: the start of a zone of authority (RFC 1035 3.3.13). The times may be written with units.

import type { RdataType } from './field.ts'
import { name } from './fields/name.ts'
import { period, u32 } from './fields/number.ts'

const BLAME = 'bad SOA zone parameter: '

export const soa: RdataType = {
  fields: [
    name('the name of the primary server'),
    name('the mailbox of the person responsible'),
    u32('a 32-bit serial number', BLAME),
    period('a refresh interval', BLAME),
    period('a retry interval', BLAME),
    period('an expiry time', BLAME),
    period('a minimum TTL', BLAME),
  ],
}
