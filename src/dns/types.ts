// The numbers of the protocol and their mnemonics: types, classes, response codes, opcodes (IANA DNS parameters).

export const TYPE = {
  A: 1,
  NS: 2,
  MD: 3,
  MF: 4,
  CNAME: 5,
  SOA: 6,
  MB: 7,
  MG: 8,
  MR: 9,
  NULL: 10,
  WKS: 11,
  PTR: 12,
  HINFO: 13,
  MINFO: 14,
  MX: 15,
  TXT: 16,
  RP: 17,
  AFSDB: 18,
  X25: 19,
  ISDN: 20,
  RT: 21,
  NSAP: 22,
  'NSAP-PTR': 23,
  SIG: 24,
  KEY: 25,
  PX: 26,
  GPOS: 27,
  AAAA: 28,
  LOC: 29,
  NXT: 30,
  EID: 31,
  NIMLOC: 32,
  SRV: 33,
  ATMA: 34,
  NAPTR: 35,
  KX: 36,
  CERT: 37,
  A6: 38,
  DNAME: 39,
  SINK: 40,
  OPT: 41,
  APL: 42,
  DS: 43,
  SSHFP: 44,
  IPSECKEY: 45,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  DHCID: 49,
  NSEC3: 50,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  HIP: 55,
  NINFO: 56,
  RKEY: 57,
  TALINK: 58,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  DSYNC: 66,
  HHIT: 67,
  BRID: 68,
  SPF: 99,
  UINFO: 100,
  UID: 101,
  GID: 102,
  UNSPEC: 103,
  NID: 104,
  L32: 105,
  L64: 106,
  LP: 107,
  EUI48: 108,
  EUI64: 109,
  NXNAME: 128,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
  URI: 256,
  CAA: 257,
  AVC: 258,
  DOA: 259,
  AMTRELAY: 260,
  RESINFO: 261,
  WALLET: 262,
  CLA: 263,
  IPN: 264,
  TA: 32768,
  DLV: 32769,
} as const

export const CLASS = { IN: 1, CH: 3, HS: 4, NONE: 254, ANY: 255 } as const

export const OPCODE = { QUERY: 0, IQUERY: 1, STATUS: 2, NOTIFY: 4, UPDATE: 5, DSO: 6 } as const

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
  DSOTYPENI: 11,
  BADVERS: 16,
  BADKEY: 17,
  BADTIME: 18,
  BADMODE: 19,
  BADNAME: 20,
  BADALG: 21,
  BADTRUNC: 22,
  BADCOOKIE: 23,
} as const

/** One family of numbers, readable both ways; `prefix` makes the generic form (RFC 3597): TYPE123. */
class Mnemonics {
  readonly #names = new Map<number, string>()
  readonly #numbers = new Map<string, number>()
  readonly #prefix: string

  constructor(table: Readonly<Record<string, number>>, prefix: string) {
    this.#prefix = prefix
    for (const [name, number] of Object.entries(table)) {
      this.#names.set(number, name)
      this.#numbers.set(name, number)
    }
  }

  name(number: number): string {
    return this.#names.get(number) ?? `${this.#prefix}${number}`
  }

  number(text: string): number | undefined {
    const upper = text.toUpperCase()
    const known = this.#numbers.get(upper)
    if (known !== undefined || !upper.startsWith(this.#prefix)) return known
    const digits = upper.slice(this.#prefix.length)
    if (!/^[0-9]{1,5}$/.test(digits)) return undefined
    return Number(digits) <= 0xffff ? Number(digits) : undefined
  }
}

const TYPES = new Mnemonics(TYPE, 'TYPE')
const CLASSES = new Mnemonics(CLASS, 'CLASS')
const RCODES = new Mnemonics(RCODE, 'RCODE')
const OPCODES = new Mnemonics(OPCODE, 'OPCODE')

export function typeName(type: number): string {
  return TYPES.name(type)
}

/** Number of a type mnemonic in any letter case, or of TYPE123. */
export function typeNumber(text: string): number | undefined {
  return TYPES.number(text)
}

export function className(klass: number): string {
  return CLASSES.name(klass)
}

export function classNumber(text: string): number | undefined {
  return CLASSES.number(text)
}

export function rcodeName(rcode: number): string {
  return RCODES.name(rcode)
}

export function opcodeName(opcode: number): string {
  return OPCODES.name(opcode)
}

/** A hash of the mnemonic in `bytes`, ignoring letter case: exact enough to look up, then verified. */
function mnemonicHash(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0
  for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (bytes[i] & 0xdf)) | 0
  return hash
}

const TYPES_BY_HASH: ReadonlyMap<number, { type: number; mnemonic: Uint8Array }> = new Map(
  Object.entries(TYPE).map(([name, type]) => {
    const mnemonic = new TextEncoder().encode(name)
    return [mnemonicHash(mnemonic, 0, mnemonic.length), { type, mnemonic }]
  }),
)

/** `typeNumber` for bytes of a zone file, without a string for the known mnemonics; -1 when it is no type. */
export function typeFromBytes(bytes: Uint8Array, start: number, end: number): number {
  const found = TYPES_BY_HASH.get(mnemonicHash(bytes, start, end))
  if (found !== undefined && sameMnemonic(found.mnemonic, bytes, start, end)) return found.type
  if (end - start > 9 || (bytes[start] & 0xdf) !== 0x54) return -1
  return typeNumber(String.fromCharCode(...bytes.subarray(start, end))) ?? -1
}

function sameMnemonic(mnemonic: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (mnemonic.length !== end - start) return false
  for (let i = 0; i < mnemonic.length; i++) {
    const byte = bytes[start + i]
    if ((byte >= 0x61 && byte <= 0x7a ? byte & 0xdf : byte) !== mnemonic[i]) return false
  }
  return true
}
