// ZONEMD: a digest over the whole zone (RFC 8976 2). No digest is shorter than 12 bytes.

import { digestLength } from './digest-length.ts'
import type { RdataType } from './field.ts'
import { hexToEnd } from './fields/encoded.ts'
import { u8, u32 } from './fields/number.ts'

const knownLength = digestLength(5, 6, { 1: 48, 2: 64 })

export const zonemd: RdataType = {
  fields: [u32('a serial'), u8('a scheme'), u8('a hash algorithm'), hexToEnd('a digest')],
  check: (rdata, end) =>
    end < 6 + 12 ? `expected a digest of at least 12 bytes, found ${end - 6}` : knownLength(rdata, end),
}
