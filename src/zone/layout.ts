// How zones lie in shared memory. Everything is a 32-bit word or bytes at a 4-aligned byte offset into one arena;
// a pointer is such an offset, 0 = none. Objects are immutable once a pointer to them has been stored, except the
// pointer fields themselves and the words that say so. Readers in any thread need only this file and the arena's buffer.
//
//   header ──▶ directory ──▶ zone ──▶ table ──▶ node ──▶ sets ──▶ rrset
//              (space, origin)        (name)            (type)    wire form, ready to copy
//
// Offsets below are in words, relative to the object's start.

/** Words at the very start of the arena. */
export const HEADER = {
  magic: 0,
  directory: 1,
  /** Odd while several pointers are being changed as one (patch.ts); a reader that saw it move answers again. */
  version: 2,
  bytes: 4 * 16,
} as const
export const MAGIC = 0x486f6c64

/** Open-addressing table: mask, entries, then `mask + 1` slots of (hash, pointer). The directory and each zone have one. */
export const TABLE = { mask: 0, used: 1, slots: 2 } as const

/** The directory: which label counts occur among origins (128 bits), then a pointer to a TABLE of zones. */
export const DIRECTORY = { table: 0, depths: 1, words: 5 } as const

export const ZONE = {
  space: 0, // which server block it belongs to
  state: 1, // ZONE_STATE
  slot: 2, // index of the zone's row of counters
  flags: 3, // ZONE_FLAG
  apex: 4, // node
  table: 5, // TABLE of nodes
  negative: 6, // SOA rrset with the negative TTL (RFC 2308 section 5)
  order: 7, // count, then pointers to the nodes that own an NSEC, in canonical order
  nsec3: 8, // NSEC3_LIST
  serial: 9,
  leastTtl: 10, // TTLs of records that expire do not count down any further
  source: 11, // number of the one source it is made of, 0 = of several
  fallthrough: 12, // offset in bytes from the zone to names in wire form, ended by a 0xff: only those fall through; 0 = all do
  labels: 13,
  nameLength: 14,
  name: 15, // lower-case wire form
} as const
export const ZONE_STATE = { loaded: 1, failed: 2 } as const
export const ZONE_FLAG = {
  /** Some node owns a delegation or a DNAME, so ancestors must be looked at. */
  cuts: 1,
  /** Signed, with NSEC or NSEC3: DO queries get proofs. */
  nsec: 2,
  nsec3: 8,
  /** Names that do not exist are asked elsewhere, where `fallthrough` of the zone allows it. */
  fallthrough: 4,
  /** Labels `*` and `any` of a question search (SkyDNS). */
  searches: 16,
  /** Has links of a chain of proofs, signed or not: it only fits as a whole. */
  chained: 32,
} as const

/** Behind the last name of a list: no label is that long. */
export const END_OF_NAMES = 0xff

/** Hashes of an NSEC3 chain in order: its parameters, then entries of five words of hash and the owning node. */
export const NSEC3_LIST = { count: 0, iterations: 1, saltLength: 2, salt: 3, entries: 67, stride: 6, node: 5 } as const

export const NODE = {
  parent: 0,
  sets: 1, // 0 for an empty non-terminal
  wildcard: 2, // the node `*` below this one
  children: 3, // how many nodes have this one as parent; for the writer
  nameLength: 4,
  name: 5, // lower-case wire form, padded with zeros so that whole words can be compared
} as const

/** Sets of a node: count | flags << 16, then pairs (type | covered << 16, rrset). */
export const SETS = { count: 0, pairs: 1 } as const
export const SETS_FLAG = {
  cut: 1,
  dname: 2,
  cname: 4,
  /** SkyDNS: the asked type comes before the alias, and an alias that leads to nothing is as if it were not there. */
  services: 8,
} as const
/** A slot of a TABLE whose object is gone: probing goes on past it. It points at nothing a reader follows. */
export const REMOVED = -1

export const RRSET = {
  typeCount: 0, // type | records << 16
  ttl: 1,
  lengthFixups: 2, // bytes of the blob | number of fixups << 16; 0xffff bytes and no blob for a set that no message can hold
  signatures: 3, // the RRSIG rrset that covers this one
  targetsStride: 4, // number of targets | stride << 16; stride = size of every record when the order may rotate
  expires: 5, // Unix seconds (unsigned) that the TTL must not outlive, 0 = never
  blob: 6,
} as const
// After the blob (padded): fixups, one word each: position | target in blob << 16 | kind << 30,
// then targets: hash, position in blob | name length << 16, lower-case name (padded).
export const FIXUP = { owner: 0, origin: 1, blob: 2 } as const

export const align4 = (n: number): number => (n + 3) & ~3

export const HEADER_BYTES = 12
/** Where the question's name starts in every message: right after the header. Owners in a blob point there. */
export const QUESTION_NAME = 12
