// SSHFP: the fingerprint of an SSH host key (RFC 4255, RFC 6594).

import { digestLength } from './digest-length.ts'
import type { RdataType } from './field.ts'
import { hexToEnd } from './fields/encoded.ts'
import { u8 } from './fields/number.ts'

export const sshfp: RdataType = {
  fields: [u8('a key algorithm'), u8('a fingerprint type'), hexToEnd('a fingerprint')],
  check: digestLength(1, 2, { 1: 20, 2: 32 }),
}
