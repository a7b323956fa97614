// KEY, and RKEY which has the same fields: a public key of anything but a zone (RFC 2535 3, RFC 2930). Flags may say
// that there is no key; then nothing follows.

import type { Tokens } from '../tokens.ts'
import { type Field, type RdataBuffer, type RdataType, readU16 } from './field.ts'
import { appendBase64, formatBase64 } from './fields/encoded.ts'
import { mnemonic } from './fields/number.ts'
import { keyFlags, keyProtocol } from './key-flags.ts'
import { SECURITY_ALGORITHMS } from './security-algorithm.ts'

const NO_KEY = 0xc000

/** Base64 to the end, which may be missing. */
export const optionalKey: Field = {
  size: -1,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    if (tokens.next === tokens.count) return
    appendBase64(tokens, tokens.next, tokens.count - 1, out, 'a public key')
    tokens.next = tokens.count
  },
  measure: (_rdata, at, end) => (at <= end ? end : -1),
  format: formatBase64,
}

export const key: RdataType = {
  fields: [keyFlags, keyProtocol, mnemonic(1, 'an algorithm', SECURITY_ALGORITHMS, 'as-number'), optionalKey],
  check(rdata, end) {
    const hasNone = (readU16(rdata, 0) & NO_KEY) === NO_KEY
    if (hasNone) return end === 4 ? undefined : 'expected no key, as the flags say that there is none'
    return end > 4 ? undefined : 'expected a public key in base64'
  },
}
