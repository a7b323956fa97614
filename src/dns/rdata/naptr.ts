// NAPTR: a rewrite rule (RFC 3403 4.1). A regular expression is `!pattern!replacement!flags` with a delimiter of its
// own choosing (RFC 3402 3.2).

import type { RdataType } from './field.ts'
import { uncompressedName } from './fields/name.ts'
import { u16 } from './fields/number.ts'
import { characterString } from './fields/string.ts'

export const naptr: RdataType = {
  fields: [
    u16('an order'),
    u16('a preference'),
    characterString('flags'),
    characterString('services'),
    characterString('a regular expression'),
    uncompressedName('a replacement name'),
  ],
  check(rdata) {
    const servicesAt = 5 + rdata[4]
    const regexpAt = servicesAt + 1 + rdata[servicesAt]
    const regexp = rdata.subarray(regexpAt + 1, regexpAt + 1 + rdata[regexpAt])
    return regexp.length === 0 || isRule(regexp)
      ? undefined
      : 'expected a regular expression such as "!pattern!replacement!", or none: ""'
  },
}

/** Three delimiters that are no digit, no backslash and no flag; `i` is the only flag. */
function isRule(regexp: Uint8Array): boolean {
  const delimiter = regexp[0]
  if (delimiter === 0 || delimiter === 0x5c || delimiter === 0x69 || (delimiter >= 0x30 && delimiter <= 0x39))
    return false
  let found = 1
  for (let i = 1; i < regexp.length; i++) {
    if (found === 3 && regexp[i] !== 0x69) return false
    if (regexp[i] === 0x5c) i++
    else if (regexp[i] === delimiter) found++
  }
  return found === 3
}
