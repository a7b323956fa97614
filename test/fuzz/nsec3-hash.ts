// The hash of a name as NSEC3 owners carry it (RFC 5155 section 5): base32hex in lower case.

import { createHash } from 'node:crypto'
import type { NameKey } from './names.ts'

const DIGITS = '0123456789abcdefghijklmnopqrstuv'

export function nsec3Hash(name: NameKey, salt: Uint8Array, iterations: number): Uint8Array {
  let digest = Buffer.from(name, 'latin1')
  for (let round = 0; round <= iterations; round++) digest = createHash('sha1').update(digest).update(salt).digest()
  return Uint8Array.from(digest)
}

export function base32hex(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => DIGITS[Number.parseInt(five, 2)]).join('')
}
