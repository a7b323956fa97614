// ZONEMD: a digest over the whole zone (RFC 8976 2). No digest is shorter than 12 bytes.

import { digestLength } from './digest-length.ts'
import type { RdataType } from './field.ts'
import { hexToEnd } from './fields/encoded.ts'
import { u8, u32 } from './fields/number.ts'

/** Of the scheme that RFC 8976 defines; others, private ones among them, have digests of their own. */
const SIMPLE = 1
const knownLength = digestLength(5, 6, { 1: 48, 2: 64 })

export const zonemd: RdataType = {
  fields: [u32('a serial'), u8('a scheme'), u8('a hash algorithm'), hexToEnd('a digest')],
  check(rdata, end) {
    if (end < 6 + 12) return `expected a digest of at least 12 bytes, found ${end - 6}`
    return rdata[4] === SIMPLE ? knownLength(rdata, end) : undefined
  },
}
