// Names are hashed from the root end towards the first label, so one pass over a query gives the hash of every
// ancestor as well. Letter case does not matter: length bytes (0-63) and letters do not overlap, so bytes can be
// folded without looking at label borders.

/** ASCII lower case, RFC 4343. */
export const LOWER: Uint8Array = Uint8Array.from({ length: 256 }, (_, b) => (b >= 0x41 && b <= 0x5a ? b + 0x20 : b))

export const HASH_SEED = 0x811c9dc5 | 0
export const HASH_PRIME = 0x01000193

/** Hash of the uncompressed wire name in bytes[start, end), the final zero byte included. */
export function hashName(bytes: Uint8Array, start: number, end: number): number {
  let h = HASH_SEED
  for (let i = end - 2; i >= start; i--) h = Math.imul(h ^ LOWER[bytes[i]], HASH_PRIME)
  return h
}

/** Spreads a hash over a table; the low bits of the running product alone are weak. */
export function spread(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask
}

/** Zones of different server blocks share the directory; the block's number goes into the hash. */
export function mixSpace(hash: number, space: number): number {
  return hash ^ Math.imul(space, 0x9e3779b1)
}
